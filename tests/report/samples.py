"""Scored rows to report on, and how printed numbers are read back."""

import math
from typing import NamedTuple

import numpy as np

from cssvm import Report


class Case(NamedTuple):
    """Labels, scores and decisions, with what the metrics take besides."""

    y: np.ndarray
    score: np.ndarray
    decided: np.ndarray
    of_rows: dict

    def report(self, **options):
        return Report.from_predictions(self.y, self.decided, self.score, **self.of_rows, n_resamples=50, **options)


def case(kind, n_rows=400, seed=0):
    """`class`: class costs and tied scores; `rows`: sample costs; `mixed`: sample costs fn_cost, and weights."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.15).astype(int)
    score = rng.normal(size=n_rows) + 1.5 * y
    of_rows = {"fn_cost": 130.0, "fp_cost": 12.5}
    if kind == "class":
        score = score.round(1)
    if kind == "rows":
        of_rows = {"fn_cost": rng.lognormal(4.0, 1.0, n_rows), "fp_cost": rng.lognormal(1.0, 0.5, n_rows)}
    if kind == "mixed":
        of_rows = {
            "fn_cost": rng.lognormal(4.0, 1.0, n_rows),
            "fp_cost": 3.0,
            "sample_weight": rng.uniform(0, 2, n_rows),
        }
        of_rows["sample_weight"][::7] = 0.0
    return Case(y, score, (score > 0.9).astype(int), of_rows)


def read(text):
    """A printed number."""
    return float(text.replace(",", "").replace("\N{MINUS SIGN}", "-").split("\N{NO-BREAK SPACE}")[0])


def half_unit(value, digits=4):
    """How far a number printed with so many digits, all whole ones, may be from the value."""
    return 0.5 * 10.0 ** -(max(0, digits - 1 - math.floor(math.log10(abs(value)))) if value else 0) * (1 + 1e-9)
