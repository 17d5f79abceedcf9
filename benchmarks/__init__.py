"""Time cssvm against other exact kernel SVM solvers: `python -m benchmarks --help`.

An experiment consists of a case (the problem, `cases.py`, with samples from `generated.py` or `real.py`), a peer (a
solver, `peers.py`) and the dual objective, which is computed in the same way for all peers (`objectives.py`).
`timing.py` schedules the runs, `worker.py` executes them, `report.py` collects a JSON record, and `tables.py` prints
it.
"""
