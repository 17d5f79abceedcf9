"""The inner estimators of meta-estimators get unchanged samples, weights, requested costs, seeds and workers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_classification
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from cssvm import (
    CostProportionateClassifier,
    CostSensitiveSVC,
    CostThresholdClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
    evaluate,
)
from cssvm.metrics import cost_risk

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are in all:UserWarning")


def direct(learner, **parameters):
    return DirectCostClassifier(learner, Ridge(), cv=3, **parameters)


def meta(learner, **parameters):
    return MetaCostClassifier(learner, n_estimators=6, random_state=0, **parameters)


def meta_estimating(learner, **parameters):
    return meta(learner, amount_estimator=Ridge(), **parameters)


def costing(learner, **parameters):
    return CostProportionateClassifier(learner, n_estimators=3, random_state=0, **parameters)


def resampling(learner, **parameters):
    return costing(learner, sampling="with_replacement", **parameters)


MAKE = [direct, meta, meta_estimating, costing, resampling]
every = pytest.mark.parametrize("make", MAKE, ids=lambda make: make.__name__)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(160, 4, flip_y=0.2, class_sep=0.6, weights=[0.6], random_state=7)
    return X, y, np.random.default_rng(7).lognormal(1.0, 0.5, len(y))


@every
def test_reproducible_and_the_same_for_any_number_of_workers(data, make):
    X, y, amounts = data
    learner = DecisionTreeClassifier(max_features=2, random_state=0 if make is direct else None)
    alone = make(learner, n_jobs=1).fit(X, y, fn_cost=amounts)
    many = make(learner, n_jobs=2).fit(X, y, fn_cost=amounts)
    again = make(learner).fit(X, y, fn_cost=amounts)
    np.testing.assert_array_equal(alone.decision_function(X), many.decision_function(X))
    np.testing.assert_array_equal(alone.decision_function(X), again.decision_function(X))


@pytest.mark.parametrize("make", [meta, costing, resampling], ids=lambda make: make.__name__)
def test_another_seed_makes_other_draws(data, make):
    X, y, amounts = data
    model = make(GaussianNB()).fit(X, y, fn_cost=amounts)
    other = clone(model).set_params(random_state=1).fit(X, y, fn_cost=amounts)
    assert np.any(model.decision_function(X) != other.decision_function(X))


@every
def test_names_of_the_classes_do_not_matter(data, make):
    X, y, amounts = data
    for pos_label, names in ((1, ["good", "loss"]), (0, ["loss", "win"])):
        numbers = make(GaussianNB(), pos_label=pos_label).fit(X, y, fn_cost=amounts)
        words = make(GaussianNB(), pos_label="loss").fit(X, np.array(names)[y], fn_cost=amounts)
        np.testing.assert_array_equal(words.decision_function(X), numbers.decision_function(X))
        np.testing.assert_array_equal(words.predict(X), np.array(names)[numbers.predict(X)])
    with pytest.raises(ValueError, match="pos_label is required if labels are strings and costs differ"):
        make(GaussianNB()).fit(X, np.array(["good", "loss"])[y], fn_cost=amounts)


@every
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_samples(data, make, container):
    X, y, amounts = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense = make(LogisticRegression(tol=1e-8)).fit(X, y, fn_cost=amounts)
    sparse = make(LogisticRegression(tol=1e-8)).fit(container(X), y, fn_cost=amounts)
    # The solvers of a sparse and of a dense ridge regression differ.
    np.testing.assert_allclose(sparse.decision_function(container(X)), dense.decision_function(X), atol=1e-2)


class TakesRawRows(BaseEstimator):
    """Requires an unchanged frame: its type, missing values and strings."""

    kind = None

    def _seen(self, X):
        assert isinstance(X, self.kind)
        assert {"age", "job"} <= set(X.columns)
        assert {"clerk", "smith"} < set(X["job"].to_list())  # and something that is missing
        return np.nan_to_num(np.asarray(X["age"], dtype=float))


class RawClassifier(ClassifierMixin, TakesRawRows):
    def fit(self, X, y):
        self._seen(X)
        self.classes_, index = np.unique(y, return_inverse=True)
        self.mean_ = index.mean()
        return self

    def predict_proba(self, X):
        p = np.clip(self.mean_ + 0.3 * self._seen(X), 0.01, 0.99)
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return self.classes_[(self.predict_proba(X)[:, 1] > 0.5).astype(int)]


class RawRegressor(RegressorMixin, TakesRawRows):
    def fit(self, X, y):
        assert list(X.columns) == ["age", "job", "positive_probability"]
        self._seen(X)
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return self.mean_ + self._seen(X)


@every
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_raw_frames_reach_the_estimators_unchecked(data, make, kind, monkeypatch):
    X, y, amounts = data
    monkeypatch.setattr(TakesRawRows, "kind", kind)
    age, job = X[:, 0].copy(), np.where(X[:, 1] > 0, "clerk", "smith").astype(object)
    age[::7], job[::3] = np.nan, None
    frame = kind({"age": age, "job": job})
    model = make(RawClassifier(), fp_cost=3.0)
    if getattr(model, "amount_estimator", None) is not None:
        model.set_params(amount_estimator=RawRegressor())
    decided = model.fit(frame, y, fn_cost=amounts).predict(frame)
    assert decided.shape == y.shape
    if make in (meta, meta_estimating):
        assert isinstance(model.estimator_, RawClassifier)  # no constant decision, which needs no rows


@every
@pytest.mark.parametrize("routing", [False, True])
def test_evaluate_with_costs_of_samples_and_a_table_with_strings_and_missing_values(data, make, routing):
    X, y, amounts = data
    index = np.random.default_rng(0).permutation(len(y)) + 5
    frame = pd.DataFrame(X[:, :3], columns=["a", "b", "c"], index=index)
    frame["job"] = np.where(X[:, 3] > 0, "clerk", "smith")
    frame.iloc[::9, 3] = None
    prepare = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    model = make(make_pipeline(prepare, LogisticRegression()), pos_label="bad")
    if getattr(model, "amount_estimator", None) is not None:
        model.set_params(amount_estimator=make_pipeline(prepare, LinearRegression()))
    labels = pd.Series(np.where(y == 1, "bad", "good"), index=index)
    costs = {"fn_cost": pd.Series(amounts, index=index)[::-1], "fp_cost": pd.Series(amounts / 2, index=index)}
    with config_context(enable_metadata_routing=routing):
        if routing:
            requested = {"fn_cost": True} if make is direct else {"fn_cost": True, "fp_cost": True}
            model.set_fit_request(**requested)
            if make is direct:
                model.set_predict_request(fp_cost=True)
        found = evaluate(model, frame, labels, **costs, cv=3, n_resamples=20)
    assert found.n_rows == len(y)
    assert 0 < found.model.actions < len(y)
    assert found.model.total < found["act on nobody"].total


@every
def test_weights_of_samples_are_those_of_repeated_samples(data, make):
    """In expectation, as draws differ: those of many draws agree in nearly all rows.

    Out of bag they would not, as a copy of a row may be in the bag; and a estimator that is trained on labels may make
    more of the few that differ.
    """
    X, y, amounts = data
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    many = {"n_estimators": 60} if make is not direct else {"calibration": None, "selection_correction": False}
    many |= {"out_of_bag": False} if make in (meta, meta_estimating) else {}
    weighted = make(GaussianNB()).set_params(**many).fit(X, y, fn_cost=amounts, sample_weight=weights)
    repeated = make(GaussianNB()).set_params(**many).fit(X[rows], y[rows], fn_cost=amounts[rows])
    if make in (meta, meta_estimating):
        same = weighted.relabelled_[rows] == repeated.relabelled_
    else:
        same = weighted.predict(X) == repeated.predict(X)
    assert np.mean(same) >= (1.0 if make is direct else 0.9)
    with pytest.raises(ValueError, match="sample_weight must be finite and non-negative"):
        make(GaussianNB()).fit(X, y, sample_weight=-weights)


class NotesWhatItGets(GaussianNB):
    """Keeps the arguments of each fit, of clones too."""

    seen = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None, fn_cost=None, fp_cost=None):
        self.seen.append({"X": X, "sample_weight": sample_weight, "fn_cost": fn_cost, "fp_cost": fp_cost})
        return super().fit(X, y, sample_weight=sample_weight)


@every
def test_an_estimator_gets_the_costs_and_weights_it_requests_for_its_samples(data, make):
    X, y, amounts = data
    numbers = np.arange(len(y), dtype=float)
    weights = numbers / 100 + 1
    NotesWhatItGets.seen.clear()
    with config_context(enable_metadata_routing=True):
        learner = NotesWhatItGets().set_fit_request(fn_cost=True, fp_cost=False, sample_weight=True)
        model = make(learner, calibration=None) if make is direct else make(learner)
        if getattr(model, "amount_estimator", None) is not None:
            model.set_params(amount_estimator=Ridge().set_fit_request(sample_weight=True))
        model.fit(np.column_stack([numbers, X]), y, fn_cost=amounts, sample_weight=weights)
        assert len(NotesWhatItGets.seen) >= 3
        for seen in NotesWhatItGets.seen:
            rows = seen["X"][:, 0].astype(int)
            np.testing.assert_array_equal(seen["fn_cost"], amounts[rows])
            np.testing.assert_array_equal(seen["sample_weight"], weights[rows])
            assert seen["fp_cost"] is None
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            make(GaussianNB()).fit(X, y, sample_weight=weights)
        if getattr(model, "amount_estimator", None) is not None:
            with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
                make(learner).fit(X, y, sample_weight=weights)
    NotesWhatItGets.seen.clear()
    make(learner).fit(X, y, fn_cost=amounts, sample_weight=weights)
    assert all(seen["fn_cost"] is None for seen in NotesWhatItGets.seen)  # without routing costs are not passed on
    assert all(seen["sample_weight"] is not None for seen in NotesWhatItGets.seen)


@every
def test_weights_reach_the_last_step_of_a_pipeline(data, make):
    X, y, amounts = data
    weights = np.linspace(0.1, 3.0, len(y))
    model = make(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y, fn_cost=amounts, sample_weight=weights)
    plain = make(make_pipeline(StandardScaler(), GaussianNB())).fit(X, y, fn_cost=amounts)
    assert np.any(model.decision_function(X) != plain.decision_function(X))


def test_groups_are_held_out_together_where_there_are_folds(data):
    X, y, amounts = data
    numbers = np.arange(len(y), dtype=float)
    groups = np.arange(len(y)) // 8
    NotesWhatItGets.seen.clear()
    model = direct(NotesWhatItGets()).fit(np.column_stack([numbers, X]), y, fn_cost=amounts, groups=groups)
    assert len(NotesWhatItGets.seen) == 3
    for seen in NotesWhatItGets.seen:
        parts = set(groups[seen["X"][:, 0].astype(int)])
        assert len(seen["X"]) == 8 * len(parts) < len(y)
    assert set(model.predict(np.column_stack([numbers, X]))) == {0, 1}


@every
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda y, amounts: {"fn_cost": np.where(y == 1, np.nan, amounts)}, "fn_cost must be finite and non-negative"),
        (lambda y, amounts: {"fn_cost": -amounts}, "fn_cost must be finite and non-negative"),
        (
            lambda y, amounts: {"fn_cost": amounts[:-1]},
            r"fn_cost must be a number or hold one value for each sample of X, shape \(160,\)",
        ),
        (lambda y, amounts: {"fn_cost": np.column_stack([amounts, amounts])}, r"got shape \(160, 2\)"),
        (lambda y, amounts: {"fn_cost": np.zeros(len(y))}, "fn_cost must be positive on at least one sample"),
        (lambda y, amounts: {"y": np.zeros(len(y), int)}, "y must hold two classes; got one class only"),
        (lambda y, amounts: {"y": np.arange(len(y)) % 3}, "Only binary classification is supported"),
    ],
    ids=["missing", "negative", "short", "wide", "zero", "no positive row", "three classes"],
)
def test_bad_input_is_one_clear_error_and_leaves_the_model_as_it_was(data, make, spoil, reason):
    X, y, amounts = data
    model = make(GaussianNB()).fit(X, y, fn_cost=amounts)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=reason):
        model.fit(X, **({"y": y, "fn_cost": amounts} | spoil(y, amounts)))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)


@every
@pytest.mark.parametrize("learner", [SelectKBest(), "svm", None, GaussianNB])
def test_what_is_not_a_classifier_is_rejected(data, make, learner):
    X, y, _ = data
    with pytest.raises(ValueError, match="must have fit, and predict_proba or decision_function; got"):
        make(learner).fit(X, y)


@every
def test_an_svm_of_this_library_can_be_inside(data, make):
    X, y, amounts = data
    learner = (
        CostSensitiveSVC() if make in (direct, costing, resampling) else CostThresholdClassifier(CostSensitiveSVC())
    )
    model = make(learner).fit(X, y, fn_cost=amounts)
    assert cost_risk(y, model.predict(X), fn_cost=amounts) < cost_risk(y, np.zeros(len(y), int), fn_cost=amounts) / 2
    assert model.n_features_in_ == 4


@every
def test_every_fitted_attribute_is_documented(data, make):
    X, y, amounts = data
    model = make(GaussianNB()).fit(X, y, fn_cost=amounts)
    attributes = type(model).__doc__.split("Attributes\n")[1]
    for name in vars(model):
        if name.endswith("_"):
            assert f"    {name} : " in attributes
