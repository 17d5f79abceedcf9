import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from cssvm import BoundaryMovementSVC, CostSensitiveSVC


@pytest.fixture(scope="module")
def data():
    return make_classification(2500, 30, n_informative=10, flip_y=0.1, random_state=9)


def trained(model, X, y, threads):
    with threadpool_limits(threads):
        model.fit(X, y)
        return [model.support_, model.dual_coef_, model.intercept_, model.decision_function(X)]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "model",
    [
        CostSensitiveSVC(fn_cost=3.0, kappa=0.5),
        CostSensitiveSVC(10.0, kernel="laplacian"),
        CostSensitiveSVC(0.01, kernel="linear"),
        CostSensitiveSVC(cache_size=5),
        BoundaryMovementSVC(fn_cost=3.0),
    ],
    ids=str,
)
def test_results_are_bitwise_equal_in_every_fit_and_for_any_number_of_threads(model, container, data):
    X, y = container(data[0]), data[1]
    first = trained(model, X, y, threads=2)
    for again in (trained(model, X, y, threads=2), trained(model, X, y, threads=1)):
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)


def test_samples_are_scored_independently_of_each_other(data):
    X, y = data
    model = CostSensitiveSVC().fit(X, y)
    f = model.decision_function(X)
    np.testing.assert_allclose(np.concatenate([model.decision_function(X[i : i + 1]) for i in range(20)]), f[:20])


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_searches_in_threads_and_processes_find_the_same_and_restore_blas(backend):
    X, y = make_classification(600, 8, random_state=0)
    grid = {"C": [0.1, 1.0], "gamma": [0.01, 0.1]}
    alone = GridSearchCV(CostSensitiveSVC(), grid, cv=2).fit(X, y)
    before = [pool["num_threads"] for pool in threadpool_info()]
    with parallel_config(backend=backend):
        together = GridSearchCV(CostSensitiveSVC(), grid, cv=2, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"])
    assert [pool["num_threads"] for pool in threadpool_info()] == before
