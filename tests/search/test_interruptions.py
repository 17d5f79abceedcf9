"""Searches that are interrupted."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVCCV, evaluate
from cssvm._kernels.gram import MEGABYTE
from cssvm._runtime import threads
from cssvm._search.grid_search import GridCrossValidation
from cssvm._search.workers import MATRIX_SHARE
from cssvm._solvers.dual.smo_newton import Workspace


@pytest.fixture(scope="module")
def data():
    return make_classification(150, 5, n_informative=3, flip_y=0.1, weights=[0.7], random_state=0)


def tight(n_samples=150, n_folds=3):
    """Megabytes that hold the distances of one fold of `data`, and those of two half, next to a kernel matrix."""
    n_train = n_samples - n_samples // n_folds
    needed = 1.5 * n_samples**2 * np.dtype(np.float32).itemsize + Workspace.bytes_needed(n_train, np.float32)
    return needed / (MATRIX_SHARE * MEGABYTE)


TIGHT = tight()


def small(**settings):
    return CostSensitiveSVCCV(**({"Cs": [0.5, 5.0], "gammas": [0.05, 0.5], "cv": 3} | settings))


class InterruptAfter:
    """A scorer that stands for Ctrl-C on its n-th call."""

    def __init__(self, count):
        self.count = count

    def __call__(self, estimator, X, y):
        self.count -= 1
        if self.count < 0:
            raise KeyboardInterrupt
        return float(np.mean(estimator.predict(X) == y))


def test_an_interrupted_search_keeps_what_is_done(data):
    with pytest.warns(UserWarning, match="interrupted: 2 of 4 points"):
        search = small(scoring=InterruptAfter(7), n_jobs=1).fit(*data)
    scores = search.cv_results_["mean_test_score"]
    complete = ~np.isnan(search.cv_results_["split2_test_score"])
    assert complete.sum() == 2
    assert search.best_score_ == scores[complete].max()
    assert len(search.predict(data[0])) == len(data[0])


@pytest.mark.parametrize("megabytes", [100.0, TIGHT], ids=["roomy", "tight"])
@pytest.mark.parametrize("transformer", [None, StandardScaler()])
def test_points_are_complete_long_before_the_search_is(data, transformer, megabytes, limit_memory):
    """After the second of six kernels; where memory holds the distances of one fold only, after the first."""
    limit_memory(megabytes)
    settings = {"gammas": [0.01, 0.03, 0.1, 0.3, 1.0, 3.0], "n_jobs": 1}
    per_kernel = 2 * 3  # Cs and folds
    expected = 2 if megabytes == TIGHT and transformer is not None else 4
    with pytest.warns(UserWarning, match=f"interrupted: {expected} of 12 points"):
        search = small(scoring=InterruptAfter(2 * per_kernel), transformer=transformer, **settings).fit(*data)
    complete = ~np.isnan(search.cv_results_["mean_test_score"])
    assert set(search.cv_results_["param_gamma"][complete]) <= {0.1, 0.3}  # from the middle of the grid


def test_the_order_of_tasks_does_not_change_scores(data, limit_memory):
    settings = {"gammas": [0.01, 0.1, 1.0], "transformer": StandardScaler(), "scoring": "tp_auc"}
    scores = []
    for megabytes in (100.0, TIGHT):
        limit_memory(megabytes)
        scores.append(small(**settings).fit(*data).cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*scores)


def test_an_interrupted_extension_keeps_the_grid(data, monkeypatch):
    run, runs = GridCrossValidation.run, []

    def interrupted(self, verbose):
        runs.append(self)
        if len(runs) > 1:
            raise KeyboardInterrupt
        run(self, verbose)

    monkeypatch.setattr(GridCrossValidation, "run", interrupted)
    monkeypatch.setattr("cssvm._search.grid.is_clearly_better", lambda *_: True)
    settings = {"Cs": 2, "gammas": 2}
    with pytest.warns(UserWarning, match="interrupted: 4 of 4 points"):
        search = small(**settings).fit(*data)
    assert len(runs) == 2
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("count", [15, 40])
def test_an_interruption_ends_an_evaluation_rather_than_one_of_its_searches(data, count):
    calls = iter(range(1000))

    def accuracy(estimator, X, y):
        if next(calls) == count:
            raise KeyboardInterrupt
        return float(np.mean(estimator.predict(X) == y))

    with pytest.raises(KeyboardInterrupt):
        evaluate(small(scoring=accuracy, n_jobs=1, gammas=[0.01, 0.1, 1.0]), *data, cv=3)
    assert next(calls) == count + 1


def test_an_interruption_before_any_point_is_done_is_raised(data):
    search = small(scoring=InterruptAfter(3), n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        search.fit(*data)
    assert not hasattr(search, "cv_results_")


@pytest.mark.system
@pytest.mark.skipif(os.name != "posix", reason="signals are sent by their POSIX names")
def test_ctrl_c_in_a_real_process_returns_a_usable_result():
    """The signal comes when the first points are complete, while other tasks run on threads."""
    script = textwrap.dedent("""
        import os, signal, warnings
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
        from sklearn.datasets import make_classification
        from cssvm import CostSensitiveSVCCV
        from cssvm._search.grid_search import GridCrossValidation
        X, y = make_classification(300, 10, flip_y=0.2, random_state=0)
        keep = GridCrossValidation._keep_best
        def keep_and_stop(self, kernel, scores):
            keep(self, kernel, scores)
            os.kill(os.getpid(), signal.SIGINT)
        GridCrossValidation._keep_best = keep_and_stop
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search = CostSensitiveSVCCV(Cs=5, gammas=20, cv=3).fit(X, y)
        messages = [str(w.message) for w in caught if "interrupted" in str(w.message)]
        print(len(messages), search.predict(X[:2]).shape)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 (2,)\n", done.stdout + done.stderr


def test_tasks_under_way_are_stopped_when_the_search_is_interrupted():
    """Before they are waited for: a task can take minutes."""
    stopped, begun = threading.Event(), threading.Event()

    def task(number):
        if number == 0:
            begun.wait(30)
            raise KeyboardInterrupt
        begun.set()
        return stopped.wait(30)

    with pytest.raises(KeyboardInterrupt):
        list(threads.imap_unordered(task, [(0,), (1,)], 2, stopped.set))
    assert stopped.is_set()
