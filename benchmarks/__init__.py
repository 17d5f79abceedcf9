"""Time cssvm against other exact kernel SVM solvers: `python -m benchmarks --help`.

An experiment is three nouns: a case (the problem, `cases.py`; its rows come from `generated.py` or `real.py`), a peer
(a solver, `peers.py`) and the yardstick that measures every peer's answer alike (`yardstick.py`). `timing.py` decides
who runs when, `worker.py` runs it, `report.py` makes a record of it, and `tables.py` prints what the record holds.
"""
