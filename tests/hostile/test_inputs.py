"""Inputs that overflow are rejected by name, or solved correctly."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

from cssvm import BiasedPenaltySVC, CostSensitiveSVC, CostSensitiveSVCCV
from cssvm._core.classifier import two_classes
from cssvm._meta import CostThresholdClassifier

SOURCE = Path(__file__).parents[2] / "src"


def sample(n=20, d=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize(
    ("settings", "scale", "message"),
    [
        ({"kernel": "linear"}, 1e160, 'kernel="linear" overflows on this X, whose entries are as large as 2'),
        (
            {"kernel": "poly", "gamma": 1.0},
            1e120,
            "Scale the features, for example with StandardScaler, or lower gamma or",
        ),
        ({"kernel": "sigmoid", "gamma": 1.0}, 1e160, 'kernel="sigmoid" overflows'),
        ({"kernel": "poly", "degree": 10**9}, 10.0, 'kernel="poly" overflows'),
        ({"kernel": "poly", "degree": 10**20}, 1.0, "degree of CostSensitiveSVC must be a non-negative integer"),
        ({"C": 10**400}, 1.0, "C of CostSensitiveSVC must be a positive finite number"),
        ({"C": 1e307}, 1.0, "must be below 1e\\+150"),
        ({"gamma": "scale"}, 1e200, 'gamma="scale" is 1 / '),
        ({"gamma": "scale"}, 1e-170, 'gamma="scale" is 1 / '),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, 1.0, "kernel returned nan"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.inf)}, 1.0, "kernel returned inf"),
    ],
)
def test_overflowing_arguments_are_rejected_by_name(settings, scale, message):
    X, y = sample()
    model = CostSensitiveSVC(**settings)
    with pytest.raises(ValueError, match=message):
        model.fit(X * scale, y)
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_search_rejects_what_overflows(kernel):
    X, y = sample()
    with pytest.raises(ValueError, match="overflows on this X"):
        CostSensitiveSVCCV(Cs=2, gammas=[1.0], kernel=kernel, cv=2).fit(X * 1e160, y)


@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e100, 1e150])
def test_scale_gives_the_same_fit_in_any_unit(scale):
    X, y = sample()
    scores = CostSensitiveSVC(gamma=1 / (3 * X.var())).fit(X, y).decision_function(X)
    if scale == 1e-300:
        with pytest.raises(ValueError, match='gamma="scale"'):
            CostSensitiveSVC().fit(X * scale, y)
        return
    np.testing.assert_allclose(CostSensitiveSVC().fit(X * scale, y).decision_function(X * scale), scores, atol=1e-9)


def test_far_rows_are_their_own_neighbours_only():
    X, y = sample()
    model = CostSensitiveSVC(gamma=1.0).fit(X * 1e150, y)
    reference = CostSensitiveSVC(kernel="precomputed").fit(np.eye(len(y)), y)
    np.testing.assert_allclose(model.dual_coef_, reference.dual_coef_)


@pytest.mark.parametrize("seed", range(4))
def test_scores_of_rows_far_from_zero_are_the_sums_that_the_model_shows(seed):
    # With a cache this small a few rows at a time are solved, and steps leave something of the sum of coefficients,
    # which the kernel multiplies by 3e10.
    rng = np.random.default_rng(seed)
    X = rng.uniform(167_000, 187_000, size=(48, 1)).astype(np.float32)
    y, amounts = rng.integers(0, 2, 48), rng.lognormal(sigma=1.5, size=48)
    model = CostSensitiveSVC(kernel="linear", C=0.045, cache_size=0.01).fit(X, y, fn_cost=amounts)
    wide = X.astype(np.longdouble)
    sums = wide @ (wide[model.support_].T @ model.dual_coef_[0].astype(np.longdouble)) + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), sums.astype(float), atol=3e-5)


def test_scores_keep_their_digits_under_large_coefficients():
    # Two groups far from each other, in which the classes cannot be separated: coefficients that cancel.
    rng = np.random.default_rng(1)
    X = 1e4 * rng.normal(size=(60, 3)) + 4e6 * rng.choice([-1, 1], size=(60, 1))
    model = CostSensitiveSVC(C=1e10, gamma=3e-11).fit(X, rng.integers(0, 2, 60))
    wide = X.astype(np.longdouble)
    squares = ((wide[:, np.newaxis] - wide[model.support_]) ** 2).sum(axis=2)
    sums = np.exp(-3e-11 * squares) @ model.dual_coef_[0].astype(np.longdouble) + model.intercept_[0]
    rounding = 2.0**-52 * np.abs(model.dual_coef_).sum()
    np.testing.assert_allclose(model.decision_function(X), sums.astype(float), atol=8 * rounding)


def test_new_rows_whose_scores_overflow_are_rejected():
    X, y = sample()
    model = CostSensitiveSVC(kernel="poly").fit(X, y)
    with pytest.raises(ValueError, match=r"decision values of X must be finite; got .* in sample 1"):
        model.predict(np.array([[1.0, 1.0, 1.0], [1e200, 0.0, 0.0]]))


def test_masked_entries_are_rejected():
    X, y = sample()
    with pytest.raises(ValueError, match="X must not be masked; got 1 masked"):
        CostSensitiveSVC().fit(np.ma.masked_greater(X, np.sort(X.ravel())[-2]), y)
    with pytest.raises(ValueError, match="y must not be masked"):
        CostSensitiveSVC().fit(X, np.ma.masked_array(y, np.arange(20) < 3))
    CostSensitiveSVC().fit(np.ma.masked_array(X, False), y)


@pytest.mark.parametrize("name", ["fn_cost", "fp_cost", "sample_weight"])
@pytest.mark.parametrize(
    "values",
    [
        ["2"] * 20,
        [1j] * 20,
        np.array(["2"] * 20),
        np.array([1.0, "2"] * 10, object),
        np.ma.masked_less(np.arange(20.0), 3),
    ],
)
def test_numbers_that_are_strings_or_masked_are_rejected(name, values):
    X, y = sample()
    with pytest.raises(ValueError, match=f"{name} must be a number or an array of numbers; got {name}="):
        CostSensitiveSVC().fit(X, y, **{name: values})


def test_repeated_entries_of_a_sparse_matrix_are_summed():
    X, y = sample()
    columns = np.arange(60) % 3
    twice = sp.csr_array((np.repeat(X.ravel() / 2, 2), np.repeat(columns, 2), np.arange(0, 121, 6)), shape=X.shape)
    assert not twice.has_canonical_format
    model = CostSensitiveSVC().fit(twice, y)
    assert model.gamma_ == pytest.approx(1 / (3 * X.var()))
    np.testing.assert_allclose(model.decision_function(twice), CostSensitiveSVC().fit(X, y).decision_function(X))
    assert twice.nnz == 120  # the caller's matrix stays as it was


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT], ids=str)
def test_missing_labels_among_strings_are_reported(missing):
    labels = np.array(["a", missing, "b", missing], dtype=object)
    with pytest.raises(ValueError, match=r"2 labels of .* are missing"):
        two_classes(labels, owner="the model")


def test_labels_of_two_types_are_rejected():
    X, y = sample()
    with pytest.raises(ValueError, match="labels of one type; got strings and other labels"):
        CostSensitiveSVC().fit(X, np.array([1, "no"], dtype=object)[y])


def test_probabilities_that_are_not_numbers_are_rejected():
    class Broken(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X) * np.nan

    X, y = sample()
    model = CostThresholdClassifier(Broken(), method="bayes", calibration=None).fit(X, y)
    with pytest.raises(ValueError, match="predict_proba of Broken must return finite numbers"):
        model.predict(X)


@pytest.mark.parametrize("estimator", [CostSensitiveSVC, BiasedPenaltySVC])
def test_strict_floating_point_errors_do_not_show(estimator):
    X, y = sample(200)
    with np.errstate(all="raise"):
        estimator(gamma=100.0).fit(X, y).predict(X)
        estimator(gamma=100.0).fit(X * 1e3, y).predict(X)
        CostSensitiveSVCCV(Cs=2, gammas=[1e-3, 1e3], cv=2, n_jobs=1).fit(X, y).predict(X)


FIT = """
import warnings; warnings.simplefilter("error")
import numpy as np
from cssvm import CostSensitiveSVC
X = np.random.default_rng(0).normal(size=(30, 2)); y = (X[:, 0] > 0).astype(int)
print(CostSensitiveSVC().fit(X, y).fit_status_)
"""
NO_LOCATORS = "import numba.core.caching as caching; caching.CacheImpl._locator_classes = []"


def said_by(code, source, home):
    """Standard error of a process that runs the code."""
    environment = {**os.environ, "PYTHONPATH": str(source), "HOME": str(home), "XDG_CACHE_HOME": str(home)}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-B", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1000, check=True).stderr


@pytest.mark.system
def test_a_process_without_a_cache_folder_compiles_in_memory_and_logs_it_once(tmp_path):
    assert said_by(NO_LOCATORS + FIT, SOURCE, tmp_path).count("NUMBA_CACHE_DIR") == 1


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="the superuser may write anywhere")
def test_a_package_and_a_home_that_cannot_be_written_are_enough(tmp_path):
    package = shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [tmp_path, package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert said_by(FIT, package, tmp_path).count("NUMBA_CACHE_DIR") == 1
    finally:
        for folder in folders:
            folder.chmod(0o755)


OUT_OF_MEMORY = """
import resource
import numpy as np
from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 5)); y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int)
CostSensitiveSVC().fit(X[:200], y[:200])
CostSensitiveSVCCV(Cs=2, gammas=2, cv=2).fit(X[:200], y[:200])
with open("/proc/self/statm") as sizes:
    used = int(sizes.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (20 << 20), used + (20 << 20)))
for model in (CostSensitiveSVC(), CostSensitiveSVC(kernel="linear"), CostSensitiveSVCCV(Cs=2, gammas=2, cv=2)):
    try:
        model.fit(X, y)
    except MemoryError:
        assert not hasattr(model, "classes_")
        print("MemoryError")
"""


@pytest.mark.system
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the size of the process")
def test_a_process_out_of_memory_is_reported():
    command = [sys.executable, "-c", OUT_OF_MEMORY]
    found = subprocess.run(command, capture_output=True, text=True, timeout=1000, check=True)
    assert found.stdout.split() == ["MemoryError"] * 3
