"""The memory allowed decides how the work is done."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cssvm import CostSensitiveSVCCV
from cssvm._search import engine


def ways(monkeypatch, **settings):
    """The kind of worker and the number of tasks side by side of a search of 1,200 rows."""
    seen = []
    choose = engine.make_worker

    def watched(*given):
        worker, count = choose(*given)
        seen.append((type(worker).__name__, count))
        return worker, count

    monkeypatch.setattr(engine, "make_worker", watched)
    X, y = make_classification(1200, 4, random_state=0)
    CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=3, refit=False, **settings).fit(X, y)
    return seen[0]


def test_two_tasks_run_side_by_side_where_there_is_room_for_two_matrices(monkeypatch):
    assert ways(monkeypatch, n_jobs=1) == ("MatrixWorker", 1)
    assert ways(monkeypatch, cache_size=1000)[0] == "MatrixWorker"


def test_without_room_for_one_matrix_there_is_none(monkeypatch):
    # Distances of 1,200 rows and the kernel matrix of 800 take 7.9 MB in float32.
    assert ways(monkeypatch, cache_size=12) == ("MatrixWorker", 1)
    assert ways(monkeypatch, cache_size=8) == ("StreamingWorker", 1)


@pytest.mark.system
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read in kilobytes, as Linux gives it")
@pytest.mark.parametrize(("racing", "megabytes"), [(False, 120), (True, 120), (True, 450)])
def test_a_search_keeps_to_its_budget(racing, megabytes):
    script = textwrap.dedent(f"""
        import resource
        from sklearn.datasets import make_classification
        from cssvm import CostSensitiveSVCCV

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        X, y = make_classification(3000, 8, n_informative=4, flip_y=0.2, random_state=0)
        settings = dict(Cs=[0.1, 10.0, 300.0], gammas=[0.02, 0.3], cv=3, refit=False, racing={racing})
        CostSensitiveSVCCV(**settings).fit(X[:200], y[:200])  # what compiling and importing takes
        before = peak()
        CostSensitiveSVCCV(**settings, cache_size={megabytes}).fit(X, y)
        print(peak() - before)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= megabytes


def test_workers_agree_on_every_score(monkeypatch):
    X, y = make_classification(400, 4, flip_y=0.1, random_state=0)
    settings = {"Cs": [0.1, 10.0], "gammas": [0.05, 0.5], "cv": 3, "refit": False, "tol": 1e-5, "scoring": "min_risk"}
    roomy, tight = (CostSensitiveSVCCV(**settings, cache_size=size).fit(X, y) for size in (100, 0.1))
    np.testing.assert_allclose(roomy.cv_results_["mean_test_score"], tight.cv_results_["mean_test_score"], atol=1e-9)
