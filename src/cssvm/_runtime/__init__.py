"""Threads, compiler options, sums of matrix rows, and files written atomically."""
