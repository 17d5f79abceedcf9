"""Time cssvm against other exact kernel SVM solvers: `python -m benchmarks --help`.

An experiment is three nouns: a case (the problem, `cases.py`), a peer (a solver, `peers.py`) and the
yardstick that measures every peer's answer alike (`yardstick.py`). `timing.py` decides who runs when.
"""
