"""What compiled and threaded code stands on: compiler options, threads, the memory budget, sums and copies of rows."""
