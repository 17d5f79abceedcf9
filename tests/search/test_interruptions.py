"""Searches that are interrupted."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from sklearn.datasets import make_classification

from cssvm import CostSensitiveSVCCV
from cssvm.runtime import threads


@pytest.fixture(scope="module")
def data():
    return make_classification(150, 5, n_informative=3, flip_y=0.1, weights=[0.7], random_state=0)


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
        from cssvm.search.run import Run
        X, y = make_classification(300, 10, flip_y=0.2, random_state=0)
        keep = Run._keep_best
        def keep_and_stop(self, of_folds):
            keep(self, of_folds)
            os.kill(os.getpid(), signal.SIGINT)
        Run._keep_best = keep_and_stop
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search = CostSensitiveSVCCV(Cs=5, gammas=20, cv=3).fit(X, y)
        said = [str(w.message) for w in caught if "interrupted" in str(w.message)]
        print(len(said), search.predict(X[:2]).shape)
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=1000)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 (2,)\n", done.stdout + done.stderr


def test_tasks_under_way_are_told_to_stop_when_the_search_is_interrupted():
    """Told before they are waited for: a task can take minutes."""
    stopped, begun = threading.Event(), threading.Event()

    def task(number):
        if number == 0:
            begun.wait(30)
            raise KeyboardInterrupt
        begun.set()
        return stopped.wait(30)

    with pytest.raises(KeyboardInterrupt):
        list(threads.completed(task, [(0,), (1,)], 2, stopped.set))
    assert stopped.is_set()
