"""The linear SVM on generated hostile problems, checked against the definition of the problem in long double.

The objectives of a solution must be those of its coefficients, and consistent with Clarabel, whose weights give an
upper bound of the optimum and whose feasible dual variables a lower one. The solution must be within `tol` of the
optimum, or the model has warned.
"""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from cssvm import CostSensitiveLinearSVC

Long = np.longdouble
TOL = 1e-6
ROUNDING = 1e-9  # relative, of objectives that are sums of float64 numbers
MOST_ROUNDING = 1e-7  # where features are far from zero, or of very different units


def pose(seed):
    """A problem: the model, X as it is given, labels, and what `fit` gets for each row."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 90)), int(rng.integers(1, 12))
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.choice([0.0, 0.5, 3.0]) * rng.normal(size=n) > rng.normal()).astype(int)
    y[:2] = 0, 1
    for twist in rng.permutation(8)[: rng.integers(0, 4)]:
        if twist == 0:
            X = X * 10.0 ** rng.integers(-4, 5, X.shape[1])  # units
        elif twist == 1:
            X = X + 10.0 ** rng.integers(0, 5, X.shape[1])  # far from zero
        elif twist == 2:
            X = np.where(rng.random(X.shape) < 0.8, 0.0, X)
        elif twist == 3:
            X = X[rng.integers(0, max(2, n // 3), n)]  # equal rows, of both labels
        elif twist == 4:
            X[:, rng.integers(0, d)] = rng.choice([0.0, 1.0, 1e6])
        elif twist == 5:
            X = np.column_stack([X] * int(rng.integers(2, 12)))  # equal features, more of them than rows
        elif twist == 6:
            X[rng.integers(0, n)] *= 1e4
        else:
            X = np.round(X)
    weight = rng.choice([1.0, 1.0, 2.0, 0.0], n)
    weight[:2] = 1.0
    given = {
        "fn_cost": rng.lognormal(0, rng.choice([0.0, 1.0, 4.0]), n),
        "fp_cost": rng.lognormal(0, rng.choice([0.0, 1.0, 4.0]), n),
        "kappa": rng.lognormal(0, rng.choice([0.0, 1.0]), n),
        "sample_weight": weight,
    }
    given = {name: values for name, values in given.items() if rng.random() < 0.6}
    pos_label = int(rng.integers(0, 2))
    model = CostSensitiveLinearSVC(10.0 ** rng.integers(-5, 6), pos_label=pos_label, tol=TOL)
    container = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csc_matrix][rng.integers(0, 4)]
    return model, container(X), y, given


def terms(model, y, given):
    """Labels -1 and +1, margins and upper bounds by the docstring."""
    target, ones = y == model.pos_label, np.ones(len(y))
    cost = np.where(target, given.get("fn_cost", ones), given.get("fp_cost", ones))
    margins = np.where(target, 1.0, given.get("kappa", ones))
    return np.where(y == 1, 1.0, -1.0), margins, model.C * cost * given.get("sample_weight", ones)


def primal(X, y, margins, upper_bounds, w, b):
    w = np.asarray(w, Long)
    f = X.astype(Long) @ w + Long(b)
    return w @ w / 2 + upper_bounds.astype(Long) @ np.maximum(0, margins - y * f)


def dual(X, y, margins, alpha):
    beta = np.asarray(alpha, Long) * y
    pull = X.T.astype(Long) @ beta
    return margins @ np.asarray(alpha, Long) - pull @ pull / 2


def clarabel_bounds(X, y, margins, upper_bounds):
    """A lower and an upper bound of the optimum, true whatever Clarabel's precision; it is asked in kind units."""
    counted = upper_bounds > 0
    X, y, margins, upper_bounds = X[counted], y[counted], margins[counted], upper_bounds[counted]
    centre = X.mean(axis=0)
    spread = np.abs(X - centre).max(axis=0)
    scale = np.where(spread > 1e-12 * np.abs(centre), spread, 1.0)
    w, b, slack = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable(len(y), nonneg=True)
    unit = upper_bounds.max()
    margin = slack >= margins - cp.multiply(y, ((X - centre) / scale) @ w + b)
    penalty = cp.sum_squares(cp.multiply(1 / (scale * np.sqrt(2 * unit)), w))
    problem = cp.Problem(cp.Minimize(penalty + (upper_bounds / unit) @ slack), [margin])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of inaccurate solutions, which are bounds as well
            problem.solve(solver=cp.CLARABEL)
    except cp.SolverError:
        return Long(0), Long(np.inf)
    if w.value is None or margin.dual_value is None:
        return Long(0), Long(np.inf)
    own = w.value / scale
    alpha = np.clip(unit * margin.dual_value, 0, upper_bounds)
    sums = np.array([alpha[y > 0].sum(), alpha[y < 0].sum()], Long)
    alpha = np.asarray(alpha, Long) * np.where(y > 0, *(sums.min() / np.maximum(sums, 1e-300)))
    lower = max(Long(0), dual(X.astype(Long) - centre, y, margins, alpha))
    return lower, primal(X, y, margins, upper_bounds, own, float(b.value) - own @ centre)


def judge(seed):
    model, X, y, given = pose(seed)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y, **given)
    warned = any(issubclass(each.category, ConvergenceWarning) for each in said)
    dense = np.asarray(X.toarray() if sparse.issparse(X) else X)
    signs, margins, upper_bounds = terms(model, y, given)
    own = primal(dense, signs, margins, upper_bounds, model.coef_[0], model.intercept_[0])
    rounding = ROUNDING if np.abs(dense).max() < 100 else MOST_ROUNDING
    assert float(own) == pytest.approx(model.primal_objective_, rel=rounding)
    lower, upper = clarabel_bounds(dense, signs, margins, upper_bounds)
    assert model.dual_objective_ <= upper * (1 + rounding)
    assert own >= lower * (1 - rounding)
    assert warned == (model.fit_status_ != 0)
    if not warned:
        assert model.dual_gap_ <= TOL
        assert own <= upper * (1 + TOL + rounding)
    np.testing.assert_allclose(
        model.decision_function(X), dense @ model.coef_[0] + model.intercept_[0], rtol=1e-6, atol=1e-6 * margins.max()
    )
    return warned


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_answers_are_true_and_good(first):
    for seed in range(first, first + 20):
        judge(seed)


@pytest.mark.system
def test_hardly_any_problem_is_left_unsolved():
    """Where upper bounds and units of features span many orders, rounding errors may be in the way."""
    assert sum(judge(seed) for seed in range(1000, 1300)) <= 9
