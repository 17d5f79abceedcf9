"""Small samples with whole-number weights and costs, and the metrics by definition, in exact fractions."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Case:
    y: np.ndarray
    score: np.ndarray
    weight: np.ndarray
    fn_cost: np.ndarray
    fp_cost: np.ndarray

    @property
    def costs(self):
        return {"fn_cost": self.fn_cost, "fp_cost": self.fp_cost, "sample_weight": self.weight}

    @property
    def repeated(self):
        """The same samples, repeated by their weights."""
        return Case(
            *(np.repeat(part, self.weight) for part in (self.y, self.score, np.ones_like(self.weight), *self.cost))
        )

    @property
    def cost(self):
        return self.fn_cost, self.fp_cost


@st.composite
def cases(draw, *, max_rows=9, max_weight=3):
    """Both classes have a row of positive weight and a row of positive cost; few distinct scores make ties."""
    n = draw(st.integers(2, max_rows))

    def whole(low, high):
        return np.array(draw(st.lists(st.integers(low, high), min_size=n, max_size=n)))

    y, score, weight = whole(0, 1), whole(-3, 3) / 2, whole(0, max_weight)
    fn_cost, fp_cost = whole(0, 5), whole(0, 5)
    y[:2], weight[:2] = [0, 1], np.maximum(weight[:2], 1)
    fp_cost[0], fn_cost[1] = max(fp_cost[0], 1), max(fn_cost[1], 1)
    return Case(y, score, weight, fn_cost, fp_cost)


def fraction(values):
    return Fraction(int(np.sum(values)))


def risk_by_definition(case, accepted, normalize=False):
    """Cost of the wrong rows, one by one, over the weight (or the cost) of all."""
    lost = everything = rows = Fraction(0)
    for y, accept, w, fn, fp in zip(case.y, accepted, case.weight, case.fn_cost, case.fp_cost, strict=True):
        cost = Fraction(int(w)) * int(fn if y else fp)
        lost += cost if accept != bool(y) else 0
        everything += cost
        rows += int(w)
    return lost / (everything if normalize else rows)


def thresholds(case):
    """One threshold for each possible set of predicted positives, decreasing."""
    return [np.inf, *np.unique(case.score[case.weight > 0])[::-1]]


def rates_by_definition(case, threshold):
    accepted = case.score >= threshold
    positive, negative = case.y == 1, case.y == 0
    fpr = fraction(case.weight[negative & accepted]) / fraction(case.weight[negative])
    fnr = fraction(case.weight[positive & ~accepted]) / fraction(case.weight[positive])
    return fpr, fnr
