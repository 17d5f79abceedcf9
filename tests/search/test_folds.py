"""Splits: invalid indices and repeated samples."""

import numpy as np
import pytest

from cssvm import CostSensitiveLinearSVC, CostSensitiveLinearSVCCV, CostSensitiveSVC, CostSensitiveSVCCV, evaluate
from cssvm.metrics import cost_risk


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return X, (X[:, 0] + rng.normal(size=60) > 0.3).astype(int)


KERNEL = CostSensitiveSVCCV(Cs=[10.0], gammas=[0.3], tol=1e-6), CostSensitiveSVC(C=10.0, gamma=0.3, tol=1e-6)
LINEAR = CostSensitiveLinearSVCCV(Cs=[10.0]), CostSensitiveLinearSVC(C=10.0)


@pytest.mark.parametrize(
    ("search", "model", "megabytes"),
    [(*KERNEL, 100.0), (*KERNEL, 0.001), (*LINEAR, 100.0)],
    ids=["matrix", "streaming", "linear"],
)
def test_a_sample_drawn_twice_is_trained_on_twice_also_next_to_samples_that_cost_nothing(
    data, search, model, megabytes, limit_memory
):
    limit_memory(megabytes)
    X, y = data
    rng = np.random.default_rng(1)
    fn, fp = (rng.uniform(1.0, 5.0, 60) * (rng.random(60) > 0.2) for _ in range(2))
    train = rng.choice(60, 40, replace=True)
    valid = np.setdiff1d(np.arange(60), train)
    found = search.set_params(cv=[(train, valid)]).fit(X, y, fn_cost=fn, fp_cost=fp)
    by_hand = model.fit(X[train], y[train], fn_cost=fn[train], fp_cost=fp[train])
    decided = by_hand.predict(X[valid])
    assert found.best_score_ == pytest.approx(-cost_risk(y[valid], decided, fn_cost=fn[valid], fp_cost=fp[valid]))


@pytest.mark.filterwarnings("ignore:The best point lies at the edge")
def test_negative_sample_numbers_count_from_the_end(data):
    X, y = data
    plain = [(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))]
    negative = [(train - 60, valid - 60) for train, valid in plain]
    scores = [CostSensitiveSVCCV(Cs=2, gammas=2, cv=cv).fit(X, y).held_out_scores_ for cv in (plain, negative)]
    np.testing.assert_array_equal(*scores)
    costs = [
        evaluate(CostSensitiveSVC(), X, y, cv=cv, blind=False, n_resamples=10).model.cost for cv in (plain, negative)
    ]
    assert costs[0] == costs[1]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        (np.arange(40) + 0.5, "0.5"),
        (np.arange(40.0), "0.0"),
        (np.arange(30, 70), "60"),
        (np.arange(40) - 61, "-61"),
        (np.ones(59, dtype=bool), r"shape \(59,\)"),
        (np.arange(40).reshape(2, 20), r"shape \(2, 20\)"),
        (["a", "b"], "'a'"),
    ],
)
def test_splits_that_name_no_samples_are_rejected_before_any_work(data, part, found):
    X, y = data

    class Untouched(CostSensitiveSVC):
        def fit(self, *args, **kwargs):
            raise AssertionError("this is work")

    cv = [(np.arange(20), np.arange(20, 60)), (part, np.arange(40, 60))]
    for call in (
        CostSensitiveSVCCV(cv=cv, scoring=lambda *_: 1 / 0).fit,
        lambda X, y: evaluate(Untouched(), X, y, cv=cv),
    ):
        with pytest.raises(ValueError, match=rf"cv must yield sample numbers.* got {found} in split 1"):
            call(X, y)


@pytest.mark.parametrize("cv", [np.nan, np.inf, 2.5])
def test_an_invalid_number_of_folds_is_rejected(data, cv):
    for call in (CostSensitiveSVCCV(cv=cv).fit, lambda X, y: evaluate(CostSensitiveSVC(), X, y, cv=cv)):
        with pytest.raises(ValueError, match="cv must be an integer of at least 2"):
            call(*data)


def test_held_out_samples_that_all_have_weight_zero_are_rejected(data):
    X, y = data
    weight = (np.arange(60) < 40).astype(float)
    cv = [(np.arange(40), np.arange(40, 60))]
    with pytest.raises(ValueError, match="validation samples of fold 0 have no weight"):
        CostSensitiveSVCCV(cv=cv).fit(X, y, sample_weight=weight)
