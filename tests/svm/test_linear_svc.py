"""`CostSensitiveLinearSVC`: the same problem as with the linear kernel, for samples of any number and form."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from cssvm import CostSensitiveLinearSVC, CostSensitiveSVC, paper_costs


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(400, 8, n_informative=5, flip_y=0.15, weights=[0.8], random_state=4)
    return StandardScaler().fit_transform(X), y


def row_costs(y):
    """Costs, margins and weights of each sample; those of the other class are NaN, as in a table of donations."""
    fn, fp, kappa, weight = np.random.default_rng(2).uniform(0.3, 4.0, (4, len(y)))
    return {
        "fn_cost": np.where(y == 1, fn, np.nan),
        "fp_cost": np.where(y == 0, fp, np.nan),
        "kappa": np.where(y == 0, kappa, np.nan),
        "sample_weight": np.where(np.arange(len(y)) % 9 == 0, 0.0, weight),
    }


SETTINGS = {
    "standard": ({}, {}),
    "class costs": ({"C": 3.0, "fn_cost": 5.0, "fp_cost": 2.0, "kappa": 0.3}, {}),
    "the paper's": ({"C": 0.1, **paper_costs(4, 2)}, {}),
    "scaled by costs": ({"fn_cost": 500.0, "fp_cost": 20.0}, {}),
    "costs of samples": ({"C": 2.0}, ("fn_cost", "fp_cost")),
    "tied margins": ({"C": 2.0, "kappa": "tied"}, ("fn_cost", "fp_cost")),
    "margins of samples": ({"C": 2.0}, ("kappa", "sample_weight")),
    "everything": ({"C": 0.5}, ("fn_cost", "fp_cost", "kappa", "sample_weight")),
    "the other class": ({"pos_label": 0, "fn_cost": 4.0, "kappa": 0.5}, ("sample_weight",)),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_the_svm_with_the_linear_kernel(data, name):
    (X, y), (parameters, names) = data, SETTINGS[name]
    given = {key: row_costs(y)[key] for key in names}
    linear = CostSensitiveLinearSVC(tol=1e-8, **parameters).fit(X, y, **given)
    kernel = CostSensitiveSVC(kernel="linear", tol=1e-6, **parameters).fit(X, y, **given)
    assert linear.C_ == kernel.C_
    assert linear.primal_objective_ == pytest.approx(kernel.primal_objective_, rel=1e-6)
    assert linear.dual_objective_ <= kernel.primal_objective_
    np.testing.assert_allclose(linear.decision_function(X), kernel.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(linear.coef_, kernel.coef_, atol=1e-4)


def test_the_objective_is_the_formula_of_the_docstring(data):
    X, y = data
    given = row_costs(y)
    model = CostSensitiveLinearSVC(C=0.7).fit(X, y, **given)
    f, weight = model.decision_function(X), given["sample_weight"]
    missed = (weight * given["fn_cost"] * np.maximum(0, 1 - f))[y == 1].sum()
    alarms = (weight * given["fp_cost"] * np.maximum(0, given["kappa"] + f))[y == 0].sum()
    assert model.primal_objective_ == pytest.approx(0.5 * np.sum(model.coef_**2) + 0.7 * (missed + alarms))
    gap = (model.primal_objective_ - model.dual_objective_) / model.primal_objective_
    assert 0 <= gap <= model.dual_gap_ + 1e-15 <= 1e-6


def test_integer_weights_are_repeated_rows_and_zero_weights_absent_ones(data):
    X, y = data
    weight = np.arange(len(y)) % 4
    weighted = CostSensitiveLinearSVC(fn_cost=3.0).fit(X, y, sample_weight=weight)
    rows = np.repeat(np.arange(len(y)), weight)
    repeated = CostSensitiveLinearSVC(fn_cost=3.0).fit(X[rows], y[rows])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-7)


def test_the_unit_of_costs_does_not_matter_with_the_default_C(data):
    X, y = data
    amount = row_costs(y)["fn_cost"]
    euros, cents = (CostSensitiveLinearSVC(fp_cost=unit).fit(X, y, fn_cost=unit * amount) for unit in (1.0, 100.0))
    np.testing.assert_allclose(euros.coef_, cents.coef_, rtol=1e-6)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_containers_and_precisions_agree(data, container, dtype):
    X, y = data
    X = np.where(np.abs(X) > 0.9, X, 0.0).astype(np.float32)
    plain = CostSensitiveLinearSVC().fit(X.astype(float), y)
    other = CostSensitiveLinearSVC().fit(container(X.astype(dtype)), y)
    np.testing.assert_allclose(other.coef_, plain.coef_, rtol=1e-5, atol=1e-7)
    scores = other.decision_function(container(X.astype(dtype)))
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, plain.decision_function(X), atol=1e-5)


def test_a_series_of_costs_is_matched_by_its_index(data):
    X, y = data
    index = np.random.default_rng(1).permutation(len(y))
    amount = pd.Series(row_costs(y)["fn_cost"], index=index)
    kappa = pd.Series(row_costs(y)["kappa"], index=index)
    frame, labels = pd.DataFrame(X, index=index).rename(columns=str), pd.Series(y, index=index)
    shuffled = {"fn_cost": amount.sample(frac=1.0, random_state=0), "kappa": kappa.sample(frac=1.0, random_state=1)}
    matched = CostSensitiveLinearSVC().fit(frame, labels, **shuffled)
    plain = CostSensitiveLinearSVC().fit(X, y, fn_cost=amount.to_numpy(), kappa=kappa.to_numpy())
    np.testing.assert_array_equal(matched.coef_, plain.coef_)
    assert matched.feature_names_in_.tolist() == [str(k) for k in range(8)]


def test_strings_with_unequal_costs_require_pos_label(data):
    X, y = data
    labels = np.where(y == 1, "fraud", "fine")
    with pytest.raises(ValueError, match="pos_label"):
        CostSensitiveLinearSVC(fn_cost=5.0).fit(X, labels)
    named = CostSensitiveLinearSVC(fn_cost=5.0, pos_label="fraud").fit(X, labels)
    numbers = CostSensitiveLinearSVC(fn_cost=5.0).fit(X, y)
    np.testing.assert_array_equal(named.coef_, numbers.coef_)
    np.testing.assert_array_equal(named.predict(X) == "fraud", numbers.predict(X) == 1)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_fits_are_equal_bit_for_bit_for_any_number_of_threads(container):
    X, y = make_classification(60_000, 30, flip_y=0.05, weights=[0.97], random_state=9)
    X, found = container(np.where(np.abs(X) > 1.5, X, 0.0)), []
    for n_threads in (2, 2, 1):
        with threadpool_limits(n_threads):
            model = CostSensitiveLinearSVC(fn_cost=5.0).fit(X, y)
        found.append(np.append(model.coef_, model.intercept_))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert model.dual_gap_ <= 1e-6


@pytest.mark.parametrize(
    ("shape", "solver"),
    [((300, 20), "interior-point"), ((40, 90), "rotated interior-point"), ((3200, 3100), "coordinate descent")],
)
def test_the_attribute_solver_names_the_method(shape, solver):
    rng = np.random.default_rng(0)
    X = sparse.random_array(shape, density=min(0.3, 30 / shape[1]), rng=rng, format="csr")
    y = rng.integers(0, 2, shape[0])
    model = CostSensitiveLinearSVC(C=0.1, tol=1e-4).fit(X, y)
    assert model.solver_ == solver
    assert model.dual_gap_ <= 1e-4


def test_a_fit_that_stops_early_warns_with_the_gap(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match=r"iteration limit after 2 iterations .* relative gap .*Raise max_iter"):
        model = CostSensitiveLinearSVC(max_iter=2).fit(X, y)
    assert model.fit_status_ == 1
    assert model.n_iter_ == 2
    optimum = CostSensitiveLinearSVC().fit(X, y).primal_objective_
    assert model.dual_objective_ <= optimum <= model.primal_objective_
    assert model.primal_objective_ - optimum <= model.dual_gap_ * model.primal_objective_


@pytest.mark.parametrize(("n", "d", "offset", "C"), [(40, 120, 1e6, 1e8), (200, 3, 1e3, 1.0)])
def test_the_certificate_is_that_of_the_model_also_far_from_zero(n, d, offset, C):
    """A large offset of the features costs digits of the scores, which no solver can restore."""
    X = np.random.default_rng(0).normal(size=(n, d)) + offset
    y = X[:, 0] > np.median(X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = CostSensitiveLinearSVC(C=C).fit(X, y)
    w, short = model.coef_[0], np.maximum(0.0, 1.0 - np.where(y, 1, -1) * model.decision_function(X))
    primal = 0.5 * w @ w + C * short.sum()
    assert model.primal_objective_ == pytest.approx(primal, rel=1e-9)
    assert (model.fit_status_ == 0) == (primal - model.dual_objective_ <= model.tol * primal)
    assert (model.fit_status_ == 0) == (offset == 1e3)


@pytest.mark.parametrize("X", [np.zeros((4, 6)), np.full((4, 6), 3.7), sparse.csr_matrix((4, 9000))], ids=str)
def test_wide_rows_that_are_all_the_same_have_the_trivial_optimum(X):
    model = CostSensitiveLinearSVC().fit(X, [0, 1, 0, 1])
    assert model.primal_objective_ == pytest.approx(4.0)
    assert not model.coef_.any()
    assert model.dual_gap_ <= model.tol


def test_a_summary_is_printed_on_request(data, capsys):
    CostSensitiveLinearSVC(verbose=1).fit(*data)
    assert "CostSensitiveLinearSVC: converged after" in capsys.readouterr().out


def test_samples_too_large_for_the_weights_are_rejected(data):
    X, y = data
    model = CostSensitiveLinearSVC().fit(X, y)
    with pytest.raises(ValueError, match="decision values of X must be finite"):
        model.decision_function(np.full((1, 8), 1e308) * np.sign(model.coef_) * 1.7)


def test_no_other_weights_are_better_by_more_than_the_gap(data):
    """Those of LinearSVC, whose bias is regularised, with any bias."""
    X, y = data
    ours = CostSensitiveLinearSVC(C=0.1).fit(X, y)
    w = LinearSVC(C=0.1, loss="hinge", max_iter=100_000).fit(X, y).coef_[0]
    signs = np.where(y == 1, 1, -1)
    theirs = [0.5 * w @ w + 0.1 * np.maximum(0, 1 - signs * (X @ w + b)).sum() for b in np.linspace(-3, 3, 200)]
    assert ours.dual_objective_ <= min(theirs)


def test_a_feature_map_in_front_makes_a_kernel_svm(data):
    X, y = data
    mapped = make_pipeline(Nystroem(gamma=0.1, n_components=400, random_state=0), CostSensitiveLinearSVC(fn_cost=3.0))
    kernel = CostSensitiveSVC(gamma=0.1, fn_cost=3.0, tol=1e-6).fit(X, y)
    mapped.fit(X, y)
    assert mapped[-1].primal_objective_ == pytest.approx(kernel.primal_objective_, rel=1e-4)
    np.testing.assert_allclose(mapped.decision_function(X), kernel.decision_function(X), atol=1e-2)
