"""`MetaCostClassifier` is the algorithm of Domingos, with class and sample costs."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cssvm import MetaCostClassifier

SEEDS = 2**31 - 1

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are in all:UserWarning")


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(150, 4, flip_y=0.2, class_sep=0.6, weights=[0.7], random_state=3)
    rng = np.random.default_rng(3)
    return X, y, rng.lognormal(1.0, 1.0, len(y)), rng.uniform(0.5, 2.0, len(y))


def obvious_labels(learner, X, y, fn_cost, fp_cost, *, m, n, p, q, pos_label, random_state):
    """MetaCost row by row, with its four options; probabilities and new labels."""
    seeds = np.random.RandomState(random_state).randint(SEEDS, size=m + 1)
    resamples, models = [], []
    for seed in seeds[:m]:
        rng = np.random.default_rng(seed)
        rows = rng.choice(len(y), n, p=np.full(len(y), 1 / len(y)))
        while len(set(y[rows])) < 2:
            rows = rng.choice(len(y), n, p=np.full(len(y), 1 / len(y)))
        model = clone(learner)
        if "random_state" in model.get_params():
            model.set_params(random_state=np.random.RandomState(seed).randint(SEEDS))
        resamples.append(set(rows.tolist()))
        models.append(model.fit(X[np.sort(rows)], y[np.sort(rows)]))
    probabilities, labels = [], []
    for i, x in enumerate(X):
        asked = [model for model, rows in zip(models, resamples, strict=True) if q or i not in rows] or models
        said = [
            model.predict_proba([x])[0, pos_label] if p else float(model.predict([x])[0] == pos_label)
            for model in asked
        ]
        probability = sum(said) / len(said)
        probabilities.append(probability)
        cost_of_target, cost_of_other = (1 - probability) * fp_cost[i], probability * fn_cost[i]
        labels.append(pos_label if cost_of_target <= cost_of_other else 1 - pos_label)
    return np.array(probabilities), np.array(labels), seeds[m]


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("q", [False, True])
@pytest.mark.parametrize(
    ("p", "learner"), [(True, GaussianNB()), (False, LinearSVC()), (True, DecisionTreeClassifier(max_depth=3))]
)
def test_it_agrees_with_the_obvious_algorithm(data, learner, p, q, pos_label):
    X, y, fn_cost, fp_cost = data
    model = MetaCostClassifier(
        learner,
        n_estimators=7,
        max_samples=100,
        voting="soft" if p else "hard",
        out_of_bag=not q,
        pos_label=pos_label,
        random_state=5,
    ).fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost)
    probability, labels, seed = obvious_labels(
        learner, X, y, fn_cost, fp_cost, m=7, n=100, p=p, q=q, pos_label=pos_label, random_state=5
    )
    np.testing.assert_allclose(model.positive_probability_, probability, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(model.relabelled_, labels)
    last = clone(learner)
    if "random_state" in last.get_params():
        last.set_params(random_state=np.random.RandomState(seed).randint(SEEDS))
    np.testing.assert_array_equal(model.predict(X), last.fit(X, labels).predict(X))


def test_class_costs_are_those_of_every_sample(data):
    X, y, _, _ = data
    classes = MetaCostClassifier(GaussianNB(), fn_cost=4.0, fp_cost=2.0, random_state=0).fit(X, y)
    rows = MetaCostClassifier(GaussianNB(), random_state=0).fit(
        X, y, fn_cost=np.full(len(y), 4.0), fp_cost=np.full(len(y), 2.0)
    )
    np.testing.assert_array_equal(classes.relabelled_, rows.relabelled_)
    np.testing.assert_array_equal(classes.relabelled_ == 1, classes.positive_probability_ >= 2 / 6)


def test_an_estimator_that_remembers_its_samples_keeps_their_labels_unless_they_are_out_of_bag(data):
    X, y, _, _ = data
    settings = {"fn_cost": 2.0, "n_estimators": 30, "random_state": 0}
    seen = MetaCostClassifier(DecisionTreeClassifier(), out_of_bag=False, **settings).fit(X, y)
    unseen = MetaCostClassifier(DecisionTreeClassifier(), **settings).fit(X, y)
    assert np.mean(seen.relabelled_ != y) < 0.1 < np.mean(unseen.relabelled_ != y)


def test_amounts_of_positive_samples_only_are_estimated_for_all_samples(data):
    X, y, fn_cost, _ = data
    amounts = np.where(y == 1, fn_cost, np.nan)
    model = MetaCostClassifier(GaussianNB(), amount_estimator=LinearRegression(), random_state=0).fit(
        X, y, fn_cost=amounts
    )
    p = model.positive_probability_
    features = np.column_stack([X, p])
    estimated = LinearRegression().fit(features[y == 1], fn_cost[y == 1]).predict(features).clip(0.0)
    np.testing.assert_array_equal(model.relabelled_ == 1, p * estimated >= 1 - p)


def test_samples_on_which_nothing_is_at_weighted_cost_are_left_out_of_the_last_training(data):
    X, y, fn_cost, fp_cost = data
    free = np.arange(len(y)) % 3 == 0
    model = MetaCostClassifier(GaussianNB(), n_estimators=5, random_state=0).fit(
        X, y, fn_cost=np.where(free, 0.0, fn_cost), fp_cost=np.where(free, 0.0, fp_cost)
    )
    last = GaussianNB().fit(X[~free], model.relabelled_[~free])
    np.testing.assert_array_equal(model.decision_function(X), last.predict_proba(X)[:, 1] - 0.5)


@pytest.mark.parametrize("fn_cost", [1e6, 1e-6])
def test_one_decision_for_all_samples_is_made_with_a_warning(data, fn_cost):
    X, y, _, _ = data
    label = int(fn_cost > 1)
    learner = GaussianNB(var_smoothing=0.1)
    with pytest.warns(UserWarning, match=f"MetaCostClassifier predicts {label} for every sample"):
        model = MetaCostClassifier(learner, fn_cost=fn_cost, n_estimators=5, random_state=0).fit(X, y)
    assert isinstance(model.estimator_, DummyClassifier)
    assert np.all(model.predict(X) == label)
    assert model.n_features_in_ == X.shape[1]


def test_samples_that_all_resamples_hold_are_predicted_by_all_models(data):
    X, y, _, _ = data
    with pytest.warns(UserWarning, match=r"\d+ samples are in all 2 resamples .* larger n_estimators"):
        model = MetaCostClassifier(GaussianNB(), n_estimators=2, random_state=0).fit(X, y)
    costs = np.ones(len(y))
    expected, _, _ = obvious_labels(
        GaussianNB(), X, y, costs, costs, m=2, n=len(y), p=True, q=False, pos_label=1, random_state=0
    )
    np.testing.assert_allclose(model.positive_probability_, expected, rtol=1e-12)


def test_weights_enter_the_draws_where_the_estimator_takes_none(data):
    X, y, _, _ = data
    weights = np.where(np.arange(len(y)) < 100, 1.0, 0.0)
    with pytest.warns(UserWarning, match="KNeighborsClassifier takes no sample_weight"):
        model = MetaCostClassifier(KNeighborsClassifier(), n_estimators=5, random_state=0).fit(
            X, y, sample_weight=weights
        )
    part = MetaCostClassifier(KNeighborsClassifier(), n_estimators=5, random_state=0).fit(X[:100], y[:100])
    np.testing.assert_array_equal(model.positive_probability_[:100], part.positive_probability_)
    np.testing.assert_array_equal(model.predict(X), part.predict(X))


@pytest.mark.parametrize(
    ("parameters", "costs", "reason"),
    [
        (
            {"estimator": LinearSVC()},
            {},
            'must have predict_proba with voting="soft"; got LinearSVC. Pass voting="hard"',
        ),
        ({"n_estimators": 0}, {}, "n_estimators of MetaCostClassifier must be an integer of at least 1"),
        ({"voting": "loud"}, {}, "voting of MetaCostClassifier must be one of \\['soft', 'hard'\\]"),
        ({"max_samples": 0}, {}, "max_samples of MetaCostClassifier must be"),
        ({"amount_estimator": GaussianNB()}, {}, "amount_estimator of MetaCostClassifier must be a regressor"),
        ({}, {"fn_cost": "amounts of targets"}, r"each may get either label; got fn_cost=nan .* amount_estimator="),
        (
            {},
            {"fn_cost": "amounts of others"},
            "fn_cost must be finite and non-negative on every sample of the positive",
        ),
        ({}, {"fn_cost": "zero for others"}, r"fn_cost must be the cost of each sample .* reveals the labels"),
        ({}, {"fp_cost": "zero for targets"}, r"fp_cost must be the cost of each sample .* reveals the labels"),
        ({"fn_cost": 0.0}, {}, "fn_cost must be positive on at least one sample of the positive class"),
    ],
)
def test_invalid_input_is_rejected(data, parameters, costs, reason):
    X, y, fn_cost, _ = data
    partly = {
        "amounts of targets": np.where(y == 1, fn_cost, np.nan),
        "amounts of others": np.where(y == 1, np.nan, fn_cost),
        "zero for others": np.where(y == 1, fn_cost, 0.0),
        "zero for targets": np.where(y == 1, 0.0, fn_cost),
    }
    model = MetaCostClassifier(GaussianNB(), n_estimators=3, random_state=0).fit(X, y)
    before = dict(vars(model.set_params(**parameters)))
    with pytest.raises(ValueError, match=reason):
        model.fit(X, y, **{name: partly[value] for name, value in costs.items()})
    assert all(vars(model)[name] is before[name] for name in before)
