"""`feature_map_gap`: the optimum of the kernel SVM lies between its bounds."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveLinearSVC, CostSensitiveLinearSVCCV, CostSensitiveSVC, feature_map_gap
from cssvm._solvers.linear import LinearFunction, linear_solver, recover_dual, solve_linear
from tests.solvers.linear.problems import dual_objective, random_problem, rare_problem

GAMMA = 0.1


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(500, 5, n_informative=4, n_redundant=0, flip_y=0.1, weights=[0.7], random_state=3)
    return StandardScaler().fit_transform(X), y


def mapped(n_components, gamma=GAMMA, **settings):
    return make_pipeline(
        Nystroem(gamma=gamma, n_components=n_components, random_state=0), CostSensitiveLinearSVC(**settings)
    )


def assert_between(found, exact):
    """The optimum lies between the bounds, as far as it is known itself."""
    slack = 1e-9 * exact.primal_objective_
    assert found.dual_objective <= exact.primal_objective_ + slack
    assert found.primal_objective >= exact.dual_objective_ - slack
    expected = (found.primal_objective - found.dual_objective) / found.primal_objective
    assert found.gap == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_the_optimum_lies_between_and_more_components_bring_the_bounds_together(data, C):
    X, y = data
    exact = CostSensitiveSVC(C, gamma=GAMMA, fn_cost=3.0, tol=1e-7).fit(X, y)
    gaps = []
    for n_components in (10, 50, 500):
        model = mapped(n_components, C=C, fn_cost=3.0).fit(X, y)
        found = feature_map_gap(model, X, y)
        assert_between(found, exact)
        assert found.map_objective == pytest.approx(model[-1].primal_objective_, rel=1e-6)
        gaps.append(found.gap)
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-4  # all samples: the map is exact


@pytest.mark.parametrize(
    ("feature_map", "exact"),
    [
        (RBFSampler(gamma=GAMMA, n_components=300, random_state=0), {"gamma": GAMMA}),
        (RBFSampler(gamma="scale", n_components=300, random_state=0), {"gamma": "scale"}),
        (Nystroem(n_components=60, random_state=0), {"gamma": "auto"}),
        (Nystroem("laplacian", gamma=0.2, n_components=100, random_state=0), {"kernel": "laplacian", "gamma": 0.2}),
        (
            Nystroem("polynomial", degree=2, gamma=0.5, n_components=30, random_state=0),
            {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        ),
        (Nystroem("linear", n_components=4, random_state=0), {"kernel": "linear"}),
        (
            PolynomialCountSketch(degree=2, gamma=0.5, coef0=1.0, n_components=200, random_state=0),
            {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
        ),
    ],
)
def test_the_kernels_of_feature_maps_are_found(data, feature_map, exact):
    X, y = data
    model = make_pipeline(feature_map, CostSensitiveLinearSVC(C=0.5)).fit(X, y)
    found = feature_map_gap(model, X, y)
    assert_between(found, CostSensitiveSVC(C=0.5, **exact, tol=1e-7).fit(X, y))
    named = feature_map_gap(model, X, y, **{"kernel": "rbf"} | exact)
    assert named.dual_objective == pytest.approx(found.dual_objective, rel=1e-9)
    assert named.primal_objective >= found.primal_objective * (1 - 1e-12)  # that of the map itself is not counted


def test_bounds_of_two_maps_of_one_kernel_are_put_together(data):
    X, y = data
    exact = CostSensitiveSVC(C=1.0, gamma=GAMMA, tol=1e-7).fit(X, y)
    sampler = RBFSampler(gamma=GAMMA, n_components=400, random_state=0)
    models = [mapped(100, C=1.0).fit(X, y), make_pipeline(sampler, CostSensitiveLinearSVC(C=1.0)).fit(X, y)]
    first, second = (feature_map_gap(model, X, y) for model in models)
    both = first.combined(second)
    assert_between(both, exact)
    assert both.gap <= min(first.gap, second.gap)
    assert both[:3] == second.combined(first)[:3]
    assert both.map_objective == first.map_objective


def test_costs_margins_and_weights_of_samples_count(data):
    X, y = data
    fn, fp, kappa, weight = np.random.default_rng(2).uniform(0.3, 4.0, (4, len(y)))
    weight[::7] = 0.0
    given = {"fn_cost": fn, "fp_cost": fp, "kappa": kappa, "sample_weight": weight}
    model = make_pipeline(StandardScaler(), *(step for _, step in mapped(200, C=0.3).steps))
    model.fit(X, y, **{f"costsensitivelinearsvc__{name}": each for name, each in given.items()})
    scaled = model[0].transform(X)
    exact = CostSensitiveSVC(0.3, gamma=GAMMA, tol=1e-7).fit(scaled, y, **given)
    found = feature_map_gap(model, X, y, **given)
    assert_between(found, exact)
    assert found.gap < 0.05
    with pytest.raises(ValueError, match=r"must be those that model was fitted on; with these its objective is"):
        feature_map_gap(model, X, y)


def test_the_positive_class_may_be_the_smaller_label_and_X_sparse(data):
    X, y = data
    X = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model = mapped(100, C=0.5, fn_cost=4.0, pos_label=0).fit(X, y)
    exact = CostSensitiveSVC(0.5, gamma=GAMMA, fn_cost=4.0, pos_label=0, tol=1e-7).fit(X, y)
    assert_between(feature_map_gap(model, X, y), exact)


def test_values_of_callable_kernels_are_used_unchanged(data):
    X, y = data
    model = mapped(50).fit(X, y)
    by_name = feature_map_gap(model, X, y, kernel="rbf", gamma=GAMMA)
    called = feature_map_gap(model, X, y, kernel=lambda A, B: rbf_kernel(A, B, gamma=GAMMA))
    np.testing.assert_allclose(called, by_name, rtol=1e-9)


@pytest.mark.parametrize("scaled", [False, True])
def test_the_final_model_of_a_search_is_scored_with_all_steps_before_the_map(data, scaled):
    X, y = data
    far = 50.0 * X + 100.0 if scaled else X
    feature_map = Nystroem(gamma=GAMMA, n_components=100, random_state=0)
    search = CostSensitiveLinearSVCCV(
        Cs=[0.1, 1.0],
        fn_cost=3.0,
        cv=3,
        transformer=make_pipeline(StandardScaler(), "passthrough", feature_map) if scaled else feature_map,
    ).fit(far, y)
    found = feature_map_gap(search, far, y)
    exact = CostSensitiveSVC(**search.best_params_, gamma=GAMMA, tol=1e-7).fit(X, y)
    assert_between(found, exact)
    assert found.gap < 0.1
    assert feature_map_gap(make_pipeline(search.transformer_, search.best_estimator_), far, y) == found


def test_models_without_bounds_are_rejected(data):
    X, y = data
    with pytest.raises(ValueError, match=r"model must be a fitted Pipeline .* got CostSensitiveLinearSVC"):
        feature_map_gap(CostSensitiveLinearSVC().fit(X, y), X, y)
    with pytest.raises(ValueError, match="model must be a fitted Pipeline"):
        feature_map_gap(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), X, y)
    unknown = make_pipeline(SkewedChi2Sampler(skewedness=9.0, random_state=0), CostSensitiveLinearSVC(tol=1e-4))
    with pytest.raises(ValueError, match="kernel must be given for the feature map SkewedChi2Sampler"):
        feature_map_gap(unknown.fit(X, y), X, y)
    with pytest.raises(ValueError, match=r'kernel must be positive definite .* got kernel="sigmoid"'):
        feature_map_gap(mapped(10).fit(X, y), X, y, kernel="sigmoid")


@pytest.mark.parametrize("few", [40, 10_000], ids=["near samples", "all samples"])
@pytest.mark.parametrize("problem", [random_problem(900, 6, seed=1), rare_problem(3000)], ids=["noisy", "rare"])
def test_dual_variables_of_a_solution_are_feasible_and_optimal(problem, few, monkeypatch):
    monkeypatch.setattr(linear_solver, "FEW_ROWS", few)
    X, linear, upper_bounds = problem
    solution, _ = solve_linear(X, linear, upper_bounds, tol=1e-6)
    beta = recover_dual(X, linear, upper_bounds, LinearFunction(solution.coef, solution.bias), tol=1e-6)
    assert abs(beta.sum()) <= 1e-12 * np.abs(beta).sum()
    assert (np.sign(linear) * beta >= 0).all()
    assert (np.abs(beta) <= upper_bounds).all()
    optimum = solution.primal_objective
    assert optimum * (1 - 4e-6) <= dual_objective(X, linear, beta) <= optimum


def test_a_search_for_bayes_decisions_is_scored_at_its_training_costs(data):
    X, y = data
    feature_map = Nystroem(gamma=GAMMA, n_components=20, random_state=0)
    search = CostSensitiveLinearSVCCV(Cs=[1.0], cv=2, decision="bayes", transformer=feature_map)
    search.fit(X, y, fn_cost=np.linspace(1.0, 5.0, len(y)))
    found = feature_map_gap(search, X, y, fn_cost=np.linspace(1.0, 5.0, len(y)))
    balanced = {"fn_cost": len(y) / (2 * np.sum(y == 1)), "fp_cost": len(y) / (2 * np.sum(y == 0))}
    exact = CostSensitiveSVC(C=1.0, gamma=GAMMA, tol=1e-7).fit(X, y, **balanced)
    assert found.dual_objective < exact.primal_objective_ < found.primal_objective
