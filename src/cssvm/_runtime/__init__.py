"""Threads, compiler options, the memory budget, sums of matrix rows, and files written atomically."""
