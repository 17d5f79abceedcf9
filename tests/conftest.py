"""What all tests share: fixtures, how Hypothesis draws, and which fixtures make a test one of the system."""

import os

# Before NumPy is imported. Several test processes leave no core for further threads of BLAS, which wait by spinning;
# tests of threads set their number themselves.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from functools import partial
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from cssvm.datasets import MissingDatasetError, load

ROOT = Path(__file__).resolve().parent.parent

# The same examples in every run; `pytest --hypothesis-profile=explore` draws others, and more of them.
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=40)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("repeatable")

# Real data, a browser, a cluster or a command line in processes of their own.
SYSTEM_FIXTURES = {"shared_data", "chromium", "started", "process"}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark tests that use a fixture of the system, before pytest chooses tests by their marks."""
    for item in items:
        if SYSTEM_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.system)


@pytest.fixture(scope="session")
def shared_data():
    """Folder with the real data sets that are not part of the repository."""
    folder = Path(os.environ.get("CSSVM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no data sets in {folder}; set CSSVM_DATA to a folder that holds them")
    return folder


@pytest.fixture(scope="session")
def real(shared_data):
    """`load` for the data sets in that folder; a test of one that is not there is skipped."""
    return partial(_load_or_skip, data_home=shared_data, download=False)


def _load_or_skip(name, **options):
    try:
        return load(name, **options)
    except MissingDatasetError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def data():
    """120 rows of two overlapping classes with the labels 0 and 1."""
    return make_classification(120, 4, n_informative=3, n_redundant=0, weights=[0.7], flip_y=0.1, random_state=0)


@pytest.fixture(scope="session")
def model(data):
    """A classifier with both decision_function and predict_proba."""
    return LogisticRegression().fit(*data)


@pytest.fixture(scope="session")
def amounts(data):
    """A cost for each row: whole numbers, whose sums do not round, few enough that no class outweighs the other."""
    return np.random.default_rng(0).integers(1, 20, len(data[1])).astype(float)
