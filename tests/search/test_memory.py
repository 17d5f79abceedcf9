"""The strategy of the fits depends on the available memory."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cssvm import CostSensitiveSVCCV
from cssvm._search import estimators


@pytest.fixture
def chosen_worker(monkeypatch):
    """A function that searches 1,200 samples: the kind of worker, and how many tasks run at a time."""
    found = []
    choose = estimators.make_kernel_worker

    def watched(*given):
        worker = choose(*given)
        found.append((type(worker).__name__, worker.n_at_once))
        return worker

    def search(**settings):
        monkeypatch.setattr(estimators, "make_kernel_worker", watched)
        X, y = make_classification(1200, 4, random_state=0)
        CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=3, **settings).fit(X, y)
        return found[-1]

    return search


def test_kernel_matrices_are_used_if_memory_has_room_for_them(chosen_worker, limit_memory):
    assert chosen_worker(n_jobs=1) == ("MatrixWorker", 1)
    limit_memory(1000)
    assert chosen_worker()[0] == "MatrixWorker"


def test_without_room_for_one_matrix_there_is_none(chosen_worker, limit_memory):
    # Distances of 1,200 samples and the kernel matrix of 800 take 7.9 MB in float32.
    limit_memory(12)
    assert chosen_worker() == ("MatrixWorker", 1)
    limit_memory(8)
    assert chosen_worker() == ("StreamingWorker", 1)


@pytest.mark.system
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read in kilobytes, as Linux gives it")
def test_a_search_keeps_to_its_budget():
    megabytes = 120
    script = textwrap.dedent(f"""
        import resource
        from sklearn.datasets import make_classification
        from cssvm import CostSensitiveSVCCV
        from cssvm._search import workers

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        X, y = make_classification(3000, 8, n_informative=4, flip_y=0.2, random_state=0)
        settings = dict(Cs=[0.1, 10.0, 300.0], gammas=[0.02, 0.3], cv=3)
        CostSensitiveSVCCV(**settings).fit(X[:200], y[:200])  # what compiling and importing takes
        before = peak()
        workers.memory_budget = lambda *_: {megabytes} << 20
        CostSensitiveSVCCV._refit = lambda *_: None  # the fit of the final model has a budget of its own
        CostSensitiveSVCCV(**settings).fit(X, y)
        print(peak() - before)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= megabytes


def test_workers_agree_on_every_score(limit_memory):
    X, y = make_classification(400, 4, flip_y=0.1, random_state=0)
    settings = {"Cs": [0.1, 10.0], "gammas": [0.05, 0.5], "cv": 3, "tol": 1e-5, "scoring": "min_risk"}
    scores = []
    for megabytes in (100, 0.1):
        limit_memory(megabytes)
        scores.append(CostSensitiveSVCCV(**settings).fit(X, y).cv_results_["mean_test_score"])
    np.testing.assert_allclose(*scores, atol=1e-9)
