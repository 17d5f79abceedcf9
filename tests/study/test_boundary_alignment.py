"""The study's kernel boundary alignment against a slow and simple implementation."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from study.boundary_alignment import BoundaryAlignedSVC

GAMMA, FN_COST, ROUNDS = 0.5, 6.0, 3


def slow_alignment(K, K_new, y, cost, rounds):
    """The formulas of the module on whole matrices, one support vector at a time; the SVMs are scikit-learn's.

    Returns the scores of new samples after each round, and the balanced errors.
    """
    d, d_new = np.ones(len(K)), np.ones(len(K_new))
    scores, errors = [], []
    for _ in range(rounds + 1):
        now, now_new = d[:, None] * K * d, d_new[:, None] * K_new * d
        svc = SVC(C=1.0, kernel="precomputed", tol=1e-9).fit(now, y, sample_weight=cost)
        scores.append(svc.decision_function(now_new))
        wrong = svc.predict(now) != y
        errors.append((wrong[y == 1].mean() + wrong[y == 0].mean()) / 2)
        support = svc.support_
        D, D_new = np.zeros(len(K)), np.zeros(len(K_new))
        for k in support:
            distance = [now[k, k] + now[s, s] - 2 * now[k, s] for s in support if y[s] != y[k]]
            middle = (min(distance) + max(distance)) / 2
            tau2 = np.mean([each for each in distance if each <= middle])
            width = tau2 * np.sum(y[support] != y[k]) / np.sum(y[support] == y[k])
            D += np.exp(-(now.diagonal() + now[k, k] - 2 * now[:, k]) / width)
            D_new += np.exp(-(d_new**2 + now[k, k] - 2 * now_new[:, k]) / width)
        unit = np.sqrt(np.mean(d**2 * K.diagonal()) / np.mean((d * D) ** 2 * K.diagonal()))
        d, d_new = d * D * unit, d_new * D_new * unit
    return scores, errors


def test_alignment_follows_the_formulas_until_the_balanced_error_rises():
    X, y = make_classification(150, 3, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=0)
    X, y, X_new = X[:90], y[:90], X[90:]
    K, K_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(X_new, X, gamma=GAMMA)
    scores, errors = slow_alignment(K, K_new, y, np.where(y == 1, FN_COST, 1.0), ROUNDS)
    rising = [r for r in range(2, len(errors)) if errors[r] > errors[r - 1]]
    kept = rising[0] - 1 if rising else ROUNDS
    model = BoundaryAlignedSVC(1.0, GAMMA, fn_cost=FN_COST, fp_cost=1.0, rounds=ROUNDS, tol=1e-8).fit(X, y)
    assert len(model.magnifications_) == kept >= 1
    np.testing.assert_allclose(model.balanced_errors_, errors[: kept + 1], atol=1e-12)
    # LIBSVM keeps kernel values in float32, whose errors accumulate over the rounds.
    np.testing.assert_allclose(model.decision_function(X_new), scores[kept], atol=2e-4 * np.abs(scores[kept]).max())
    assert np.abs(scores[kept] - scores[0]).max() > 0.01
