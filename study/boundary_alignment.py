"""Kernel boundary alignment (KBA): repeatedly train and magnify the feature space near the boundary.

One round, from an SVM with support vectors SV+ and SV- of the two classes in the feature space phi of its kernel:

    tau_k^2  = mean of |phi(x_k) - phi(x_s)|^2 over the support vectors x_s of the other class with
               |phi(x_k) - phi(x_s)|^2 <= M_k, the mean of the smallest and the largest of these distances
    width_k  = tau_k^2 |SV-| / |SV+|  for x_k in SV+,     tau_k^2 |SV+| / |SV-|  for x_k in SV-
    D(x)     = sum over support vectors of exp(-|phi(x) - phi(x_k)|^2 / width_k)
    K(x, z) <- D(x) K(x, z) D(z)

After G. Wu and E. Y. Chang, "KBA: kernel boundary alignment considering imbalanced data distribution", IEEE TKDE 17(6),
2005. Their description leaves some choices open. Here the factors of the widths are these ratios. D is scaled so that
the mean of K(x, x) over the training samples does not change, since otherwise every round would act like a larger C.
Support vectors are the samples with y f(x) <= 1. The rounds end with the first one that raises the balanced error on
the training samples; the error rate would be smallest where all samples of a rare positive class are missed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from cssvm import CostSensitiveSVC

SMALLEST_WIDTH = 1e-12  # relative to the largest: support vectors of both classes may coincide


@dataclass(frozen=True)
class Magnification:
    """One round: its centres among the training samples, the product of all earlier D there, widths and weights."""

    centres: np.ndarray
    scaling: np.ndarray
    widths: np.ndarray
    weights: np.ndarray

    def factors(self, scaling: np.ndarray, K: np.ndarray) -> np.ndarray:
        """D of samples with the product `scaling` of all earlier D, and the RBF values K with the training samples."""
        products = np.multiply.outer(scaling, self.scaling) * K[:, self.centres]
        squares = np.maximum(np.add.outer(scaling**2, self.scaling**2) - 2.0 * products, 0.0)
        return np.exp(-squares / self.widths) @ self.weights


class BoundaryAlignedSVC:
    """SVM with costs as penalties on an RBF kernel that is aligned in at most `rounds` rounds."""

    def __init__(self, C: float, gamma: float, *, fn_cost: float, fp_cost: float, rounds: int = 10, tol: float = 1e-3):
        self.C, self.gamma, self.rounds = C, gamma, rounds
        self.svm = CostSensitiveSVC(C, fn_cost=fn_cost, fp_cost=fp_cost, kernel="precomputed", tol=tol)

    def fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None = None) -> BoundaryAlignedSVC:
        """Train on labels 0 and 1; sets `balanced_errors_`, that of the first SVM and of each round that is kept."""
        K, positive = rbf_kernel(X, gamma=self.gamma), np.asarray(y) == 1
        weight = np.ones(len(K)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        self.X_, self.magnifications_, self.balanced_errors_ = X, [], []
        d = np.ones(len(K))
        while True:
            aligned = d[:, np.newaxis] * K * d
            self.svm.fit(aligned, y, sample_weight=weight)
            f, coef, bias = self.svm.decision_function(aligned), self._coefficients(d), self.svm.intercept_[0]
            wrong = weight * ((f > 0) != positive)
            error = float(np.mean([wrong[side].sum() / weight[side].sum() for side in (positive, ~positive)]))
            if len(self.balanced_errors_) > 1 and error > self.balanced_errors_[-1]:
                self.magnifications_.pop()
                return self
            self.balanced_errors_.append(error)
            self.coef_, self.intercept_ = coef, bias
            if len(self.magnifications_) == self.rounds:
                return self
            support = (np.where(positive, f, -f) <= 1.0 + self.svm.tol) & (weight > 0)
            support[self.svm.support_] = True
            self.magnifications_.append(magnify(K, d, support & positive, support & ~positive, weight))
            d = d * self.magnifications_[-1].factors(d, K)

    def _coefficients(self, d: np.ndarray) -> np.ndarray:
        coef = np.zeros(len(d))
        coef[self.svm.support_] = self.svm.dual_coef_[0]
        return coef * d

    def decision_function(self, X: Any) -> np.ndarray:
        """Score f of each sample, positive for class 1."""
        K = rbf_kernel(X, self.X_, gamma=self.gamma)
        scaling = np.ones(len(K))
        for each in self.magnifications_:
            scaling = scaling * each.factors(scaling, K)
        return scaling * (K @ self.coef_) + self.intercept_

    def predict(self, X: Any) -> np.ndarray:
        """Predicted labels, 0 or 1."""
        return (self.decision_function(X) > 0).astype(int)


def magnify(
    K: np.ndarray, scaling: np.ndarray, positive: np.ndarray, negative: np.ndarray, weight: np.ndarray
) -> Magnification:
    """The next round, for RBF values K, the product of all earlier D, and masks of the support vectors."""
    aligned = scaling[:, np.newaxis] * K * scaling
    own = aligned.diagonal()
    sides = np.flatnonzero(positive), np.flatnonzero(negative)
    totals = [weight[side].sum() for side in sides]
    widths = []
    for i, side in enumerate(sides):
        other = sides[1 - i]
        squares = np.add.outer(own[side], own[other]) - 2.0 * aligned[np.ix_(side, other)]
        limit = (squares.min(axis=1) + squares.max(axis=1)) / 2.0
        near = (squares <= limit[:, np.newaxis]) * weight[other]
        widths.append(totals[1 - i] / totals[i] * (near * squares).sum(axis=1) / near.sum(axis=1))
    centres, both = np.concatenate(sides), np.concatenate(widths)
    smallest = max(SMALLEST_WIDTH * both.max(), np.finfo(np.float64).tiny)
    last = Magnification(centres, scaling[centres], np.maximum(both, smallest), weight[centres] / weight[centres].sum())
    unit = np.sqrt(weight @ own / (weight @ (last.factors(scaling, K) ** 2 * own)))
    return replace(last, weights=unit * last.weights)
