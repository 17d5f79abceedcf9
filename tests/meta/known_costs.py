"""A problem with known probabilities and amounts, which all methods of the meta-estimators can solve.

    P(y = 1 | x) = 1 / (1 + exp(-u)),  u = 0.8 x_1 - 0.6 x_2 - 1,      amount = exp(0.5 + 0.6 x_2 + 0.4 z - 0.08)

with standard normal x and z, so that E[amount | x] = exp(0.5 + 0.6 x_2). A false positive costs 1. The Bayes decision
p E[amount | x] >= 1 - p is a half-plane, x_1 >= 0.625, and so is that of the distribution weighted by costs.
"""

from typing import NamedTuple

import numpy as np

FP_COST = 1.0


class Priced(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    amount: np.ndarray
    p: np.ndarray
    mean_amount: np.ndarray

    def expected_cost(self, acted):
        """Of decisions by x alone, per row."""
        return np.mean(np.where(acted, (1 - self.p) * FP_COST, self.p * self.mean_amount))

    def expected_cost_knowing_amounts(self, acted):
        return np.mean(np.where(acted, (1 - self.p) * FP_COST, self.p * self.amount))


def priced(n, seed):
    rng = np.random.default_rng(seed)
    X, z = rng.normal(size=(n, 2)), rng.normal(size=n)
    p = 1 / (1 + np.exp(-(0.8 * X[:, 0] - 0.6 * X[:, 1] - 1.0)))
    mean_amount = np.exp(0.5 + 0.6 * X[:, 1])
    return Priced(X, (rng.random(n) < p).astype(int), mean_amount * np.exp(0.4 * z - 0.08), p, mean_amount)
