"""`CostProportionateClassifier` trains on resamples drawn in proportion to the costs, and averages."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from cssvm import BiasedPenaltySVC, CostProportionateClassifier, CostSensitiveSVC

SEEDS = 2**31 - 1


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(200, 4, flip_y=0.2, class_sep=0.6, weights=[0.7], random_state=7)
    rng = np.random.default_rng(7)
    return X, y, rng.lognormal(1.0, 0.5, len(y)), rng.uniform(0.5, 2.0, len(y))


def obvious_draw(sampling, cost, y, size, rng):
    """Rows one by one, until both classes are among them."""
    while True:
        if sampling == "rejection":
            uniform = rng.random(len(y))
            rows = [i for i in range(len(y)) if uniform[i] < cost[i] / max(cost)]
        else:
            rows = sorted(rng.choice(len(y), size, replace=sampling == "with_replacement", p=cost / sum(cost)).tolist())
        if {*y[rows]} == {0, 1}:
            return rows


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize("learner", [GaussianNB(), LinearSVC(), DecisionTreeClassifier(max_features=2)])
@pytest.mark.parametrize(
    ("sampling", "max_samples", "size"),
    [
        ("rejection", None, None),
        ("with_replacement", None, 200),
        ("without_replacement", None, 100),
        ("without_replacement", 60, 60),
    ],
)
def test_it_agrees_with_the_obvious_algorithm(data, sampling, max_samples, size, learner, voting, pos_label):
    X, y, fn_cost, fp_cost = data
    model = CostProportionateClassifier(
        learner,
        sampling=sampling,
        max_samples=max_samples,
        n_estimators=4,
        voting=voting,
        pos_label=pos_label,
        random_state=5,
    ).fit(X, y, fn_cost=fn_cost, fp_cost=fp_cost)
    cost = np.where(y == pos_label, fn_cost, fp_cost)
    said = []
    for k, seed in enumerate(np.random.RandomState(5).randint(SEEDS, size=4)):
        rows = obvious_draw(sampling, cost, y, size, np.random.default_rng(seed))
        np.testing.assert_array_equal(model.estimators_samples_[k], rows)
        member = clone(learner)
        if "random_state" in member.get_params():
            member.set_params(random_state=np.random.RandomState(seed).randint(SEEDS))
        member.fit(X[rows], y[rows])
        if voting == "hard":
            said.append(member.predict(X) - 0.5)
        elif hasattr(member, "predict_proba"):
            said.append(member.predict_proba(X)[:, 1] - 0.5)
        else:
            said.append(member.decision_function(X))
    mean = sum(said) / 4
    np.testing.assert_allclose(model.decision_function(X), mean, atol=1e-12)
    clear = np.abs(mean) > 1e-9
    np.testing.assert_array_equal(model.predict(X)[clear], mean[clear] > 0)


def test_equal_costs_keep_all_samples(data):
    X, y, _, _ = data
    model = CostProportionateClassifier(GaussianNB(), n_estimators=2).fit(X, y)
    np.testing.assert_array_equal(model.estimators_samples_[1], np.arange(len(y)))
    np.testing.assert_array_equal(model.predict(X), GaussianNB().fit(X, y).predict(X))


@pytest.mark.parametrize("sampling", ["rejection", "with_replacement", "without_replacement"])
def test_samples_that_cost_nothing_are_never_drawn(data, sampling):
    X, y, fn_cost, _ = data
    free = np.arange(len(y)) % 2 == 0
    model = CostProportionateClassifier(GaussianNB(), sampling=sampling, random_state=0).fit(
        X, y, fn_cost=np.where(free, 0.0, fn_cost), fp_cost=np.where(free, 0.0, 1.0)
    )
    assert not any(free[rows].any() for rows in model.estimators_samples_)


def test_weights_go_to_an_estimator_that_takes_them_and_into_the_draws_of_another(data):
    X, y, fn_cost, _ = data
    weights = np.random.default_rng(0).uniform(0.0, 3.0, len(y)) * (np.arange(len(y)) % 5 > 0)
    settings = {"n_estimators": 2, "random_state": 0}
    taken = CostProportionateClassifier(GaussianNB(), **settings).fit(X, y, fn_cost=fn_cost, sample_weight=weights)
    for rows, member in zip(taken.estimators_samples_, taken.estimators_, strict=True):
        assert weights[rows].all()
        own = GaussianNB().fit(X[rows], y[rows], sample_weight=weights[rows])
        np.testing.assert_array_equal(member.predict_proba(X), own.predict_proba(X))
    drawn = CostProportionateClassifier(KNeighborsClassifier(), **settings).fit(
        X, y, fn_cost=fn_cost, sample_weight=weights
    )
    weighted_costs = CostProportionateClassifier(KNeighborsClassifier(), **settings).fit(
        X, y, fn_cost=fn_cost * weights, fp_cost=weights
    )
    for rows, same in zip(drawn.estimators_samples_, weighted_costs.estimators_samples_, strict=True):
        np.testing.assert_array_equal(rows, same)


def test_a_kernel_matrix_is_split_by_samples_and_columns(data):
    X, y, fn_cost, _ = data
    K = rbf_kernel(X, gamma=0.1)
    settings = {"n_estimators": 2, "random_state": 0}
    of_matrix = CostProportionateClassifier(CostSensitiveSVC(kernel="precomputed"), **settings)
    of_features = CostProportionateClassifier(CostSensitiveSVC(gamma=0.1), **settings)
    f = of_matrix.fit(K, y, fn_cost=fn_cost).decision_function(K[:50])
    # The solver's default tolerance is 1e-3 in units of the score.
    np.testing.assert_allclose(f, of_features.fit(X, y, fn_cost=fn_cost).decision_function(X[:50]), atol=1e-2)
    assert of_matrix.n_features_in_ == len(y)
    with pytest.raises(ValueError, match=r"kernel matrix between new samples and the 200 training samples"):
        of_matrix.predict(K[:50, :50])


def test_the_comparators_of_the_docstring_are_one_line_each(data):
    X, y, fn_cost, _ = data
    lines = [line.split("#")[0].strip() for line in CostProportionateClassifier.__doc__.splitlines() if "# " in line]
    assert len(lines) == 3
    names = {
        "CostProportionateClassifier": CostProportionateClassifier,
        "CostSensitiveSVC": CostSensitiveSVC,
        "DecisionTreeClassifier": DecisionTreeClassifier,
        "BiasedPenaltySVC": BiasedPenaltySVC,
    }
    for line in lines:
        model = eval(line, names)
        model.set_params(n_estimators=min(model.n_estimators, 3), random_state=0)
        assert set(model.fit(X, y, fn_cost=fn_cost).predict(X)) == {0, 1}


@pytest.mark.parametrize(
    ("parameters", "costs", "reason"),
    [
        ({"sampling": "lottery"}, {}, "sampling of CostProportionateClassifier must be one of"),
        ({"max_samples": 10}, {}, 'max_samples of CostProportionateClassifier must be None with sampling="rejection"'),
        (
            {"sampling": "with_replacement", "max_samples": 2.0},
            {},
            "must be a number of samples, at least 1, or a share",
        ),
        ({"sampling": "without_replacement", "max_samples": 1.0}, {}, "below the number of samples with a cost, 200"),
        ({"n_estimators": 1.5}, {}, "n_estimators of CostProportionateClassifier must be an integer"),
        ({"voting": None}, {}, "voting of CostProportionateClassifier must be one of \\['soft', 'hard'\\]"),
        (
            {},
            {"fn_cost": "one is huge"},
            r'got 100 draws of one class only. .* use sampling="with_replacement"',
        ),
        ({"fn_cost": 0.0}, {}, "fn_cost must be positive on at least one sample of the positive class"),
    ],
)
def test_invalid_input_is_rejected(data, parameters, costs, reason):
    X, y, fn_cost, _ = data
    huge = fn_cost.copy()
    huge[np.argmax(y)] = 1e12  # rejection keeps no other row
    model = CostProportionateClassifier(GaussianNB(), n_estimators=2, random_state=0).fit(X, y)
    before = dict(vars(model.set_params(**parameters)))
    with pytest.raises(ValueError, match=reason):
        model.fit(X, y, **dict.fromkeys(costs, huge))
    assert all(vars(model)[name] is before[name] for name in before)
