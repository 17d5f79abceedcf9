"""Bad input gets a ValueError with argument, value and fix, and leaves the estimator as it was."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from cssvm import (
    BiasedPenaltySVC,
    BoundaryMovementSVC,
    CostSensitiveLinearSVC,
    CostSensitiveSVC,
)

KERNEL_SVMS = [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC]
ESTIMATORS = [*KERNEL_SVMS, CostSensitiveLinearSVC]
X, Y = make_classification(30, 4, random_state=0)
NAN, INF = np.nan, np.inf


def with_entry(value, container=np.asarray):
    changed = X.copy()
    changed[3, 2] = value
    return container(changed)


PARAMETERS = [
    ({"C": 0}, r'C of \w+ must be a positive finite number or "scale"; got C=0\. Pass for example C=1\.0'),
    ({"C": -1.0}, r"got C=-1\.0"),
    ({"C": NAN}, "got C=nan"),
    ({"C": INF}, "got C=inf"),
    ({"C": "1"}, "got C='1'"),
    ({"C": True}, "got C=True"),
    (
        {"kernel": "gaussian"},
        r"kernel of \w+ must be a callable or one of \['linear', .* got kernel='gaussian'",
    ),
    ({"kernel": None}, "got kernel=None"),
    ({"gamma": 0.0}, r'gamma of \w+ must be a positive finite number, "scale" or "auto"; got gamma=0\.0'),
    ({"gamma": -1}, "got gamma=-1"),
    ({"gamma": "wide"}, "got gamma='wide'"),
    ({"degree": -1}, r"degree of \w+ must be a non-negative integer; got degree=-1"),
    ({"degree": 2.5}, r"got degree=2\.5"),
    ({"coef0": NAN}, r"coef0 of \w+ must be a finite number; got coef0=nan"),
    ({"tol": 0.0}, r"tol of \w+ must be a positive finite number; got tol=0\.0"),
    ({"tol": -1e-3}, r"got tol=-0\.001"),
    ({"max_iter": 0}, r"max_iter of \w+ must be a positive integer, or -1 for no limit; got max_iter=0"),
    ({"max_iter": -2}, "got max_iter=-2"),
    ({"max_iter": 1.5}, r"got max_iter=1\.5"),
    (
        {"cache_size": 0},
        r'cache_size of \w+ must be a positive number of megabytes or "auto"; got cache_size=0',
    ),
    ({"cache_size": "big"}, "got cache_size='big'"),
    ({"verbose": -1}, r"verbose of \w+ must be a bool or a non-negative integer; got verbose=-1"),
    (
        {"pos_label": 7},
        r"pos_label of \w+ must be one of the classes \[0, 1\] of y, or None for 1; got pos_label=7",
    ),
    ({"pos_label": "bad"}, "got pos_label='bad'"),
    ({"fn_cost": 0.0}, "fn_cost must be positive on at least one sample of the positive class; got zero"),
    ({"fn_cost": -2.0}, r"fn_cost must be finite and non-negative .* got fn_cost=-2\.0"),
    ({"fp_cost": NAN}, "got fp_cost=nan"),
    ({"fn_cost": np.ones(30)}, r"fn_cost of \w+ must be a number; got .* fit\(X, y, fn_cost=\.\.\.\)"),
    ({"fp_cost": "tied"}, r"fp_cost of \w+ must be a number; got fp_cost='tied'"),
]

ROWS = [
    ({"X": with_entry(NAN)}, "Input X contains NaN(.|\n)*impute"),
    ({"X": with_entry(INF)}, r"Input X contains infinity.*Clip these entries, scale the features or drop"),
    ({"X": with_entry(NAN, sparse.csr_array)}, "Input X contains NaN"),
    ({"X": with_entry(INF, sparse.csr_array)}, "Input X contains infinity"),
    ({"X": X[:-1]}, "inconsistent numbers of samples"),
    ({"X": X[:, 0]}, "Expected 2D array"),
    ({"X": np.empty((0, 4)), "y": []}, "0 sample"),
    (
        {"y": np.ones(30)},
        r"y must hold two classes; got one class only, \[1\.0\]\. Add samples of the other class",
    ),
    (
        {"y": np.arange(30) % 3},
        r"Only binary classification is supported\. The type of the target is multiclass: y has 3 classes, "
        r"\[0, 1, 2\]\. .* sklearn\.multiclass\.OneVsRestClassifier",
    ),
    ({"y": np.array(["a", "b", "c"] * 10)}, r"y has 3 classes, \['a', 'b', 'c'\]"),
    (
        {"y": X[:, 0]},
        r"Unknown label type: continuous\. y of \w+ must hold the labels of two classes; got numbers",
    ),
    ({"y": np.where(Y == 1, NAN, 0)}, "Input y contains NaN"),
    ({"y": None}, "requires y to be passed"),
    ({"fn_cost": np.full(30, NAN)}, "fn_cost must be finite and non-negative .* got fn_cost=nan in sample"),
    ({"fn_cost": np.full(30, INF)}, "got fn_cost=inf in sample"),
    ({"fp_cost": -np.ones(30)}, r"fp_cost must be finite and non-negative .* got fp_cost=-1\.0 in sample"),
    ({"fn_cost": np.zeros(30)}, "fn_cost must be positive on at least one sample of the positive class"),
    ({"fp_cost": np.zeros(30)}, "fp_cost must be positive on at least one sample of the negative class"),
    (
        {"fn_cost": np.ones(29)},
        r"fn_cost must be a number or hold one value for each sample of X, shape \(30,\); got shape \(29,\)",
    ),
    ({"fn_cost": "high"}, "fn_cost must be a number or an array of numbers; got fn_cost='high'"),
    ({"sample_weight": np.ones(31)}, r"sample_weight must be a number or hold one value .* got shape \(31,\)"),
    (
        {"sample_weight": -np.ones(30)},
        r"sample_weight must be finite and non-negative .* got sample_weight=-1\.0",
    ),
    ({"sample_weight": np.zeros(30)}, "sample_weight must be positive on at least one sample"),
    ({"sample_weight": Y}, "both classes must be present among .* positive sample_weight"),
]

MARGINS = [
    ({"kappa": 0.0}, {}, r"kappa must be finite and positive .* got kappa=0\.0"),
    ({"kappa": -0.5}, {}, r"got kappa=-0\.5"),
    ({"kappa": NAN}, {}, "got kappa=nan"),
    ({"kappa": "loose"}, {}, r"kappa of \w+ must be a number or \"tied\"; got kappa='loose'"),
    (
        {"kappa": np.ones(30)},
        {},
        r"kappa of \w+ must be a number or \"tied\"; got .* fit\(X, y, kappa=\.\.\.\)",
    ),
    ({}, {"kappa": np.zeros(30)}, r"kappa must be finite and positive .* got kappa=0\.0 in sample"),
    ({}, {"kappa": np.ones(7)}, r"kappa must be a number or hold one value .* got shape \(7,\)"),
    ({}, {"kappa": "loose"}, "got kappa='loose'"),
]

GRAMS = [
    (X, r'X must be a square kernel matrix with kernel="precomputed"; got shape \(30, 4\)\. Pass K\(X, X\)'),
    (
        np.triu(X @ X.T),
        r"X must be a symmetric kernel matrix .* got X\[\d+, \d+\]=.* and X\[\d+, \d+\]=.* Pass",
    ),
]


def assert_rejected_and_unchanged(model, parameters, fit_arguments, message):
    """The fit raises with the message, on a fitted and on a new estimator, and no attribute changes."""
    fitted = type(model)().fit(X, Y)
    for estimator in (fitted, type(model)()):
        estimator.set_params(**parameters)
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match=message):
            estimator.fit(**{"X": X, "y": Y, **fit_arguments})
        after = vars(estimator)
        assert before.keys() == after.keys()
        assert all(before[name] is after[name] for name in before)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("parameters", "message"), PARAMETERS, ids=lambda value: str(value)[:30])
def test_bad_parameters_are_rejected(estimator, parameters, message):
    if not parameters.keys() <= estimator().get_params().keys():
        pytest.skip("a parameter of kernels, which this estimator does not have")
    assert_rejected_and_unchanged(estimator(), parameters, {}, message)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(("arguments", "message"), ROWS, ids=[message[:40] for _, message in ROWS])
def test_bad_samples_labels_and_costs_are_rejected(estimator, arguments, message):
    assert_rejected_and_unchanged(estimator(), {}, arguments, message)


@pytest.mark.parametrize("estimator", [CostSensitiveSVC, CostSensitiveLinearSVC])
@pytest.mark.parametrize(("parameters", "arguments", "message"), MARGINS, ids=[m[:40] for _, _, m in MARGINS])
def test_bad_margins_are_rejected(estimator, parameters, arguments, message):
    assert_rejected_and_unchanged(estimator(), parameters, arguments, message)


@pytest.mark.parametrize("estimator", KERNEL_SVMS)
@pytest.mark.parametrize(("gram", "message"), GRAMS, ids=["not square", "asymmetric"])
def test_bad_kernel_matrices_are_rejected(estimator, gram, message):
    assert_rejected_and_unchanged(estimator(), {"kernel": "precomputed"}, {"X": gram}, message)


@pytest.mark.parametrize("estimator", KERNEL_SVMS)
def test_asymmetry_far_from_the_diagonal_is_found(estimator):
    n = 600
    K = np.eye(n)
    K[n - 1, 3] = 0.1
    with pytest.raises(ValueError, match=r"X\[3, 599\]=0 and X\[599, 3\]=0\.1"):
        estimator(kernel="precomputed").fit(K, np.arange(n) % 2)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("failure", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_fit_leaves_the_estimator_as_it_was(estimator, failure, monkeypatch):
    model = estimator().fit(X, Y)
    before = dict(vars(model))

    def interrupted(*arguments, **options):
        raise failure

    monkeypatch.setattr("cssvm._svm.kernel_svc.solve", interrupted)
    monkeypatch.setattr("cssvm._svm.linear_svc.solve_linear", interrupted)
    with pytest.raises(failure):
        model.fit(X[:, :2], Y == 1)
    assert vars(model) == before
    assert model.n_features_in_ == 4
    monkeypatch.undo()
    assert model.predict(X).shape == (30,)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (with_entry(NAN), "Input X contains NaN"),
        (with_entry(INF), "Input X contains infinity.*Clip"),
        (X[:, :3], "X has 3 features, but"),
    ],
    ids=["nan", "inf", "width"],
)
def test_bad_samples_are_rejected_in_prediction(estimator, rows, message):
    model = estimator().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(rows)
