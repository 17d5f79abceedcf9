"""Shared threads: limits are set and restored once, also after errors, nesting and forks."""

import os
import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from cssvm._runtime import threads


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2):
        yield


def blas_threads():
    return [library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers]


def test_blas_has_one_thread_inside_and_its_own_number_after():
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    with threads.single_threaded_blas(), threads.single_threaded_blas():
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_a_computation_that_overlaps_another_uses_one_thread_and_both_restore_the_limit():
    before = blas_threads()
    inside, leave = threading.Barrier(2), threading.Event()

    def compute():
        with threads.single_threaded_blas():
            inside.wait()
            leave.wait()

    worker = threading.Thread(target=compute)
    worker.start()
    inside.wait()
    with threads.single_threaded_blas() as n_threads:
        assert n_threads == 1
        leave.set()  # the computation that set the limit ends first
        worker.join()
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_computations_on_any_thread_set_and_restore_the_limit():
    before = blas_threads()
    seen = []

    def compute():
        with threads.single_threaded_blas():
            seen.append(set(blas_threads()))

    for _ in range(2):
        compute()
        worker = threading.Thread(target=compute)
        worker.start()
        worker.join()
        assert blas_threads() == before
    assert seen == [{1}] * 4


def test_number_of_threads_is_what_blas_was_allowed():
    with threadpool_limits(1), threads.single_threaded_blas() as n_threads:
        assert n_threads == 1


def test_every_task_runs_and_an_error_reaches_the_caller():
    done = np.zeros(100, int)

    def task(i):
        done[i] += 1

    with threads.single_threaded_blas():
        threads.run(task, [(i,) for i in range(100)])
        assert (done == 1).all()
        with pytest.raises(ZeroDivisionError):
            threads.run(lambda i: 1 // i, [(i,) for i in range(10)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_gets_threads_of_its_own():
    with threads.single_threaded_blas():
        threads.run(lambda i: None, [(i,) for i in range(4)])
        child = os.fork()
        if child == 0:
            with threads.single_threaded_blas():
                threads.run(lambda i: None, [(i,) for i in range(4)])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
