"""The reported objectives are those of the fitted model, recomputed in float64."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

from cssvm import CostSensitiveSVC
from cssvm._solvers.dual import Status

# A tenth of the default tol: kernel values may be kept in single precision, the certificate must not show it.
TRUTH = 1e-4


def noisy(n_samples, n_features):
    rng = np.random.default_rng(1041)
    X = rng.normal(size=(n_samples, n_features))
    return X, (X[:, 0] + 3 * rng.normal(size=n_samples) > 0).astype(int)


def objectives(model, X, y, K, C, fn_cost):
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    f, half_norm = K @ beta + model.intercept_[0], beta @ K @ beta / 2
    losses = np.where(y == 1, fn_cost * np.maximum(0, 1 - f), np.maximum(0, 1 + f))
    return half_norm + C * losses.sum(), np.abs(beta).sum() - half_norm


# The linear kernel has entries of about 50 here, and the upper bounds reach 350: rounding of single precision,
# summed over the samples, is larger than tol.
@pytest.mark.parametrize(
    ("C", "kernel"),
    [
        (1.0, {"kernel": "rbf", "gamma": 0.02}),
        (100.0, {"kernel": "rbf", "gamma": 0.02}),
        (100.0, {"kernel": "laplacian", "gamma": 0.02}),
        (14.0, {"kernel": "linear"}),
        (1.0, {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}),
    ],
    ids=str,
)
def test_reported_objectives_are_true_for_large_upper_bounds_and_kernel_values(C, kernel):
    X, y = noisy(1600, 54)
    K = pairwise_kernels(X, metric=kernel["kernel"], **{k: v for k, v in kernel.items() if k != "kernel"})
    model = CostSensitiveSVC(C, fn_cost=25.0, max_iter=5_000_000, **kernel).fit(X, y)
    primal, dual = objectives(model, X, y, K, C, 25.0)
    assert model.fit_status_ == Status.CONVERGED
    assert model.primal_objective_ == pytest.approx(primal, rel=TRUTH)
    assert model.dual_objective_ == pytest.approx(dual, rel=TRUTH)
    assert dual <= primal * (1 + 1e-12)
