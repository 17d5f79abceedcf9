"""Solvers of the dual and of the linear problem, which know neither costs nor scikit-learn."""
