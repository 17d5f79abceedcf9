"""Kernel boundary alignment against a slow, obvious implementation, and what it does to an imbalanced checkerboard."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.svm import SVC

from cssvm import BiasedPenaltySVC, KernelBoundaryAlignmentSVC
from cssvm._kernels import Conformal, make_kernel
from cssvm._kernels.providers import MatrixRows, ScaledRows
from tests.kernels.registry import CASES, gram

TIGHT = 1e-8
FN_COST = 6.0
ROUNDS = 3


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(150, 3, n_informative=3, n_redundant=0, weights=[0.8], flip_y=0.1, random_state=0)
    return X[:90], y[:90], X[90:]


def slow_alignment(K, K_new, own_new, y, cost, rounds):
    """The formulas of the docstring, on whole matrices, one support vector at a time; the machines are SVC's.

    own_new : k(x, x) of the new rows. Returns the scores of new rows after each round, and the balanced errors.
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
            D_new += np.exp(-(d_new**2 * own_new + now[k, k] - 2 * now_new[:, k]) / width)
        unit = np.sqrt(np.mean(d**2 * K.diagonal()) / np.mean((d * D) ** 2 * K.diagonal()))
        d, d_new = d * D * unit, d_new * D_new * unit
    return scores, errors


def obvious(K, K_new, own_new, y):
    return slow_alignment(K, K_new, own_new, y, np.where(y == 1, FN_COST, 1.0), ROUNDS)


def kept_rounds(errors):
    """The first round is kept, then those that do not raise the error."""
    rising = [r for r in range(2, len(errors)) if errors[r] > errors[r - 1]]
    return rising[0] - 1 if rising else len(errors) - 1


def fitted(kernel, X, y, **parameters):
    model = KernelBoundaryAlignmentSVC(
        1.0, fn_cost=FN_COST, max_alignments=ROUNDS, tol=TIGHT, kernel=kernel, **parameters
    )
    return model.fit(X, y)


def check(model, X_new, scores, errors):
    kept = kept_rounds(errors)
    assert model.n_alignments_ == kept >= 1
    np.testing.assert_allclose(model.balanced_errors_, errors[: kept + 1], atol=1e-12)
    # LIBSVM keeps kernel values in float32, and three rounds hand its errors on.
    np.testing.assert_allclose(model.decision_function(X_new), scores[kept], atol=2e-4 * np.abs(scores[kept]).max())
    assert np.abs(scores[kept] - scores[0]).max() > 0.01


@pytest.mark.parametrize("name", [name for name in CASES if name != "sigmoid"])  # SVC's optimum is not unique there
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_kernel_is_aligned_as_the_formulas_say(name, container, data):
    X, y, X_new = data
    expected = obvious(gram(name, X), gram(name, X_new, X), gram(name, X_new).diagonal(), y)
    check(fitted(name, container(X), y, **CASES[name].parameters), container(X_new), *expected)


@pytest.mark.parametrize("name", ["rbf", "linear", "poly"])
def test_callables_and_kernel_matrices_are_aligned_as_the_kernel_itself(name, data):
    """Of new rows a kernel matrix lacks k(x, x): it is constant, or known from more training rows than features."""
    X, y, X_new = data
    expected = obvious(gram(name, X), gram(name, X_new, X), gram(name, X_new).diagonal(), y)
    check(fitted(lambda A, B: gram(name, A, B), X, y), X_new, *expected)
    check(fitted("precomputed", gram(name, X), y), gram(name, X_new, X), *expected)


def test_a_kernel_without_features_gives_finite_scores(data):
    X, y, X_new = data
    model = KernelBoundaryAlignmentSVC(kernel="sigmoid", gamma=0.5).fit(X, y)
    assert np.isfinite(model.decision_function(X_new)).all()


def test_the_target_may_be_either_class(data):
    X, y, X_new = data
    first = KernelBoundaryAlignmentSVC(1.0, fn_cost=FN_COST, tol=TIGHT).fit(X, y)
    second = KernelBoundaryAlignmentSVC(1.0, fn_cost=FN_COST, tol=TIGHT, pos_label="a").fit(X, np.where(y, "a", "b"))
    np.testing.assert_allclose(first.decision_function(X_new), -second.decision_function(X_new), atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed"])
def test_integer_weights_equal_repeated_rows_and_zero_weights_removed_ones(kernel, data):
    X, y, X_new = data
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    parts = (X, X[rows], X_new, X_new)
    if kernel == "precomputed":  # with a diagonal that is not constant
        K, K_new = gram("poly", X), gram("poly", X_new, X)
        parts = (K, K[np.ix_(rows, rows)], K_new, K_new[:, rows])
    weighted = fitted(kernel, parts[0], y, gamma=0.3).fit(parts[0], y, sample_weight=weight)
    repeated = fitted(kernel, parts[1], y[rows], gamma=0.3)
    assert weighted.n_alignments_ == repeated.n_alignments_
    np.testing.assert_allclose(weighted.balanced_errors_, repeated.balanced_errors_, atol=1e-12)
    f = weighted.decision_function(parts[2])
    np.testing.assert_allclose(f, repeated.decision_function(parts[3]), atol=1e-5 * np.abs(f).max())


def test_the_currency_of_costs_makes_no_difference(data):
    X, y, X_new = data
    amounts = np.random.default_rng(2).lognormal(0, 1, len(y))
    one = KernelBoundaryAlignmentSVC(tol=TIGHT).fit(X, y, fn_cost=amounts, fp_cost=0.3)
    other = KernelBoundaryAlignmentSVC(tol=TIGHT).fit(X, y, fn_cost=100 * amounts, fp_cost=30.0)
    np.testing.assert_allclose(one.decision_function(X_new), other.decision_function(X_new), atol=1e-5)


def test_rows_of_both_classes_on_one_place_do_no_harm():
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0]])
    y = [0, 1, 1, 0, 1, 0]
    model = KernelBoundaryAlignmentSVC(gamma=1.0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    constant = KernelBoundaryAlignmentSVC().fit(np.ones((4, 1)), [0, 0, 1, 1])
    assert np.isfinite(constant.decision_function(X)).all()


def test_a_limit_on_steps_still_gives_a_model(data):
    X, y, X_new = data
    with pytest.warns(UserWarning, match="did not converge"):
        model = KernelBoundaryAlignmentSVC(100.0, max_iter=1).fit(X, y)
    assert np.isfinite(model.decision_function(X_new)).all()


@pytest.mark.parametrize(
    ("name", "bad"), [("max_alignments", 0), ("max_alignments", 1.5), ("width", 0.0), ("width", np.nan), ("width", "x")]
)
def test_parameters_that_cannot_be_used_are_refused(name, bad):
    model = KernelBoundaryAlignmentSVC(**{name: bad})
    with pytest.raises(ValueError, match=f"{name} of KernelBoundaryAlignmentSVC must be a positive"):
        model.fit([[0.0], [1.0]], [0, 1])
    assert not hasattr(model, "classes_")


def test_a_pickled_model_scores_the_same_and_a_linear_kernel_has_no_weights(data):
    X, y, X_new = data
    model = fitted("linear", X, y)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.decision_function(X_new), loaded.decision_function(X_new))
    assert not hasattr(model, "coef_")


def test_scaled_rows_are_those_of_the_scaled_matrix():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(30, 4))
    K, d, some = A @ A.T, rng.uniform(0.1, 3.0, 30), np.array([3, 7, 20])
    rows, expected = ScaledRows(MatrixRows(K), d), d[:, None] * K * d
    block, everything = np.empty((30, 30)), np.arange(30)
    rows.update_block(block, everything, everything)
    np.testing.assert_array_equal(block, block.T)
    np.testing.assert_allclose(block, expected, rtol=1e-14)
    np.testing.assert_allclose(rows.by_definition(some, everything), expected[some], rtol=1e-14)
    np.testing.assert_allclose(rows.diagonal, expected.diagonal(), rtol=1e-14)
    for columns in (None, np.array([1, 2, 29])):
        gradient, change = np.ones(30 if columns is None else 3), np.array([1.0, -2.0, 0.5])
        rows.update_gradient(gradient, some, change, columns)
        kept = slice(None) if columns is None else columns
        np.testing.assert_allclose(gradient, 1 - (change @ expected[some])[kept], rtol=1e-12)


def test_a_round_keeps_the_mean_of_the_kernel_of_a_row_with_itself():
    X = np.random.default_rng(4).normal(size=(40, 2))
    weights = np.arange(1.0, 41.0)
    kernel = Conformal.of(make_kernel("poly", gamma=0.5, degree=2, coef0=1.0), X, np.arange(40))
    once = kernel.magnified(X, np.array([2, 5]), widths=np.array([0.5, 2.0]), weights=np.ones(2), row_weights=weights)
    twice = once.magnified(X, np.array([7]), widths=np.array([1.0]), weights=np.ones(1), row_weights=weights)
    means = [np.average(each.matrix(X, X).diagonal(), weights=weights) for each in (kernel, once, twice)]
    np.testing.assert_allclose(means, means[0], rtol=1e-12)
    np.testing.assert_allclose(twice.scaling(X), twice.training, rtol=1e-12)
    narrow = replace(once, rounds=(replace(once.rounds[0], widths=np.full(2, 1e-9)),))
    assert (narrow.scaling(X) > 0).sum() == 2  # only the centres are left of it


def board(n_targets, n_others, rng):
    """Rows on the dark and on the light fields of a 4 x 4 board."""
    X = rng.uniform(0, 4, (4 * (n_targets + n_others), 2))
    dark = np.floor(X).sum(axis=1) % 2 == 1
    rows = np.concatenate([np.flatnonzero(dark)[:n_targets], np.flatnonzero(~dark)[:n_others]])
    return X[rows], dark[rows].astype(int)


@pytest.mark.system
@pytest.mark.parametrize(("C", "gamma"), [(1.0, 4.0), (10.0, 2.0)])
def test_alignment_improves_a_checkerboard_of_one_to_a_hundred(C, gamma):
    """Balanced accuracy and AUC on fresh rows, over the SVM with the same costs: 4 boards, better on each of them."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = board(20, 2000, rng)
        X_new, y_new = board(1000, 1000, rng)
        found = []
        for estimator in (BiasedPenaltySVC, KernelBoundaryAlignmentSVC):
            model = estimator(C, fn_cost=100.0, gamma=gamma).fit(X, y)
            found.append(
                [
                    balanced_accuracy_score(y_new, model.predict(X_new)),
                    roc_auc_score(y_new, model.decision_function(X_new)),
                ]
            )
        gains.append(np.subtract(found[1], found[0]))
    assert np.min(gains) > 0.0
    assert (np.mean(gains, axis=0) > 0.02).all()
