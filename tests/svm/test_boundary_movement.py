import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold
from sklearn.svm import SVC

from cssvm import BoundaryMovementSVC, CostSensitiveSVC


@pytest.fixture(scope="module")
def data():
    return make_classification(100, 5, flip_y=0.2, class_sep=0.6, weights=[0.7], random_state=11)


def risk(decisions, y, cost):
    return cost[(decisions > 0) != (y == 1)].sum()


def test_only_the_threshold_differs_from_the_standard_svm(data):
    X, y = data
    moved = BoundaryMovementSVC(fn_cost=5.0, tol=1e-6).fit(X, y)
    standard = SVC(tol=1e-6).fit(X, y)
    np.testing.assert_allclose(moved.decision_function(X) + moved.threshold_, standard.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(moved.intercept_ + moved.threshold_, standard.intercept_, atol=1e-4)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_other_threshold_costs_less_on_the_training_rows(data, pos_label, weighted):
    X, y = data
    rng = np.random.default_rng(1)
    fn_cost, fp_cost = rng.uniform(0, 9, len(y)), rng.uniform(0, 2, len(y))
    weight = rng.integers(0, 3, len(y)) if weighted else np.ones(len(y))
    model = BoundaryMovementSVC(pos_label=pos_label)
    model.fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=weight)
    f = model.decision_function(X)
    cost = weight * np.where(y == pos_label, fn_cost, fp_cost)
    others = min(risk(f - t, y, cost) for t in np.concatenate([f - 1e-9, f + 1e-9]))
    assert risk(f, y, cost) <= others + 1e-9


def test_costs_move_the_threshold_away_from_the_costlier_class(data):
    X, y = data
    thresholds = [BoundaryMovementSVC(fn_cost=cost).fit(X, y).threshold_ for cost in (0.1, 1.0, 10.0)]
    assert thresholds[0] >= thresholds[1] >= thresholds[2]
    assert thresholds[0] > thresholds[2]
    other_target = [BoundaryMovementSVC(fn_cost=c, pos_label=0).fit(X, y).threshold_ for c in (0.1, 10.0)]
    assert other_target[0] < other_target[1]


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("cv", [4, KFold(3, shuffle=True, random_state=0)])
def test_cv_takes_the_threshold_from_pooled_held_out_scores(data, kernel, cv):
    X, y = data
    pairwise = kernel == "precomputed"
    if pairwise:
        X = rbf_kernel(X, gamma=0.1)
    parameters = {"kernel": kernel, "gamma": 0.1}
    model = BoundaryMovementSVC(fn_cost=5.0, cv=cv, **parameters).fit(X, y)
    folds = StratifiedKFold(cv, shuffle=True, random_state=0) if isinstance(cv, int) else cv
    scores = np.empty(len(y))
    for train, test in folds.split(X, y):
        fold = CostSensitiveSVC(**parameters).fit(X[np.ix_(train, train)] if pairwise else X[train], y[train])
        scores[test] = fold.decision_function(X[np.ix_(test, train)] if pairwise else X[test])
    cost = np.where(y == 1, 5.0, 1.0)
    best = min(risk(scores - t, y, cost) for t in np.concatenate([scores - 1e-9, scores + 1e-9]))
    assert risk(scores - model.threshold_, y, cost) == best
    # The model itself is trained on all samples.
    standard = CostSensitiveSVC(**parameters).fit(X, y)
    np.testing.assert_array_equal(model.dual_coef_, standard.dual_coef_)


def test_given_splits_with_zero_weight_rows_equal_splits_without_them(data):
    X, y = data
    weight = (np.arange(len(y)) % 4 > 0).astype(float)
    keep = weight > 0
    group = np.arange(len(y)) % 3
    splits = [(np.flatnonzero(group != g), np.flatnonzero(group == g)) for g in range(3)]
    splits_kept = [(np.flatnonzero(group[keep] != g), np.flatnonzero(group[keep] == g)) for g in range(3)]
    weighted = BoundaryMovementSVC(fn_cost=3.0, cv=splits).fit(X, y, sample_weight=weight)
    removed = BoundaryMovementSVC(fn_cost=3.0, cv=splits_kept).fit(X[keep], y[keep])
    assert weighted.threshold_ == removed.threshold_


def test_leave_one_out_is_a_splitter_like_any_other(data):
    X, y = data
    model = BoundaryMovementSVC(cv=LeaveOneOut()).fit(X[:30], y[:30])
    assert np.isfinite(model.threshold_)


def test_folds_without_one_class_are_rejected(data):
    X, y = data
    order = np.argsort(y, kind="stable")
    model = BoundaryMovementSVC(cv=KFold(2))
    with pytest.raises(ValueError, match=r"both classes must be present among .*cv=KFold.*stratified folds"):
        model.fit(X[order][-50:], y[order][-50:])


def test_held_out_samples_of_one_class_are_rejected(data):
    X, y = data
    rows = np.flatnonzero(y == 0)[:5]
    with pytest.raises(ValueError, match="both classes must be present among the held-out samples"):
        BoundaryMovementSVC(cv=[(np.setdiff1d(np.arange(len(y)), rows), rows)]).fit(X, y)


def test_moving_the_threshold_mirrors_when_the_positive_class_is_the_other_one(data):
    X, y = data
    first = BoundaryMovementSVC(fn_cost=5.0, pos_label=1).fit(X, y)
    second = BoundaryMovementSVC(fn_cost=5.0, pos_label=0).fit(X, 1 - y)
    assert first.threshold_ == pytest.approx(-second.threshold_, abs=1e-6)


def test_splits_may_be_masks():
    X, y = make_classification(80, 4, flip_y=0.1, random_state=0)
    even = np.arange(80) % 2 == 0
    masks, numbers = [(even, ~even), (~even, even)], [(np.flatnonzero(even), np.flatnonzero(~even))]
    numbers += [tuple(reversed(numbers[0]))]
    by_mask, by_number = (BoundaryMovementSVC(fn_cost=3.0, cv=cv).fit(X, y).threshold_ for cv in (masks, numbers))
    assert by_mask == by_number


def test_samples_of_weight_zero_are_neither_trained_on_nor_scored():
    X, y = make_classification(60, 4, flip_y=0.2, random_state=0)
    weights = np.ones(len(y))
    weights[::7] = 0.0
    far = X.copy()
    far[::7] = 1e300  # a linear decision function overflows there
    folds = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    given = {"kernel": "linear", "fn_cost": 3.0, "tol": 1e-6}
    own = [[np.searchsorted(np.flatnonzero(weights), part[weights[part] > 0]) for part in fold] for fold in folds]
    found = BoundaryMovementSVC(**given, cv=folds).fit(far, y, sample_weight=weights)
    kept = BoundaryMovementSVC(**given, cv=own).fit(X[weights > 0], y[weights > 0])
    assert found.threshold_ == pytest.approx(kept.threshold_, abs=1e-6)


def test_folds_that_hold_out_samples_of_weight_zero_only_are_left_out():
    X, y = make_classification(60, 2, n_informative=2, n_redundant=0, flip_y=0.2, random_state=0)
    weights = np.ones(len(y))
    weights[5] = 0.0
    kept = weights > 0
    given = {"fn_cost": 3.0, "gamma": 0.3, "cv": LeaveOneOut(), "tol": 1e-6}
    found = BoundaryMovementSVC(1.0, **given).fit(X, y, sample_weight=weights)
    assert found.threshold_ == pytest.approx(
        BoundaryMovementSVC(1.0, **given).fit(X[kept], y[kept]).threshold_, abs=1e-5
    )
