"""Threads: results do not depend on the number of threads.

Work is cut into tasks whose number and shape depend on the data alone; each task runs on one thread with a
single-threaded BLAS, and no two tasks write to the same place. The number of threads is what BLAS is allowed in this
process when a computation starts, so the usual controls apply: ``OMP_NUM_THREADS``, ``threadpool_limits`` and those
that joblib sets in its workers. All computations of a process share one pool.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import numpy as np
from joblib import parallel_config
from joblib.parallel import BACKENDS, get_active_backend
from threadpoolctl import ThreadpoolController

ON_THIS_MACHINE = ("loky", "multiprocessing", "sequential", "threading")  # joblib backends

_controller: ThreadpoolController | None = None
_pool: ThreadPoolExecutor | None = None
_pool_lock = threading.Lock()


class _Allowance(threading.local):
    """Threads the computation on this thread may use; 0 outside of one."""

    n_threads = 0


_allowance = _Allowance()


class _Limit:
    """BLAS on one thread, from the beginning of the first computation to the end of the last one under way."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_computations = 0
        self._limiter: Any = None

    def begin(self) -> int:
        """Begin a computation; returns the threads it may use: one, if others are under way."""
        with self._lock:
            allowed = 1
            if not self._n_computations:
                controller = _blas_controller()
                allowed = max((library.num_threads or 1 for library in controller.lib_controllers), default=1)
                _take_control(controller)
                self._limiter = controller.limit(limits=1) if allowed > 1 else None
            self._n_computations += 1
            return min(allowed, n_cores())

    def end(self) -> None:
        with self._lock:
            self._n_computations -= 1
            if not self._n_computations and self._limiter is not None:
                _take_control(_blas_controller())
                self._limiter.restore_original_limits()
                _take_control(_blas_controller())  # the next one may be any thread


_limit = _Limit()


@contextmanager
def single_threaded_blas() -> Iterator[int]:
    """Limit BLAS of this process to one thread and yield the number of threads that `run` will use; may be nested.

    Numbers that underflow are zero, whatever `np.seterr` says: many kernel values do.
    """
    if _allowance.n_threads:
        yield _allowance.n_threads
        return
    _allowance.n_threads = _limit.begin()
    try:
        with np.errstate(under="ignore"):
            yield _allowance.n_threads
    finally:
        _allowance.n_threads = 0
        _limit.end()


def run(function: Callable[..., Any], tasks: Iterable[tuple[Any, ...]]) -> None:
    """Call ``function(*task)`` for every task, on the threads that `single_threaded_blas` allows; not within a task."""
    tasks = list(tasks)
    if _allowance.n_threads <= 1 or len(tasks) == 1:
        for task in tasks:
            function(*task)
        return
    futures = [_shared_pool().submit(function, *task) for task in tasks]
    try:
        for future in futures:
            future.result()
    finally:
        for future in futures:  # after an error or Ctrl-C: do not start what is still waiting
            future.cancel()


def imap_unordered(
    function: Callable[..., Any],
    tasks: Iterable[tuple[Any, ...]],
    n_at_once: int,
    stop: Callable[[], None] = lambda: None,
) -> Iterator[Any]:
    """Yield ``function(*task)`` of every task as it is done, up to `n_at_once` of them computed side by side.

    Tasks must not call `run`. Whatever ends the iteration, `stop` is called, and tasks under way are waited for.
    """
    waiting = iter(tasks)
    if n_at_once <= 1:
        for task in waiting:
            yield function(*task)
        return
    running = {_shared_pool().submit(function, *task) for task in itertools.islice(waiting, n_at_once)}
    try:
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {_shared_pool().submit(function, *task) for task in itertools.islice(waiting, len(done))}
            for future in done:
                yield future.result()
    finally:
        stop()
        wait(running)


def n_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def effective_n_threads(n_jobs: int | None) -> int:
    """Threads that `n_jobs` means in this process: all cores for None; joblib's count may be that of a cluster."""
    if n_jobs is None:
        return n_cores()
    return int(n_jobs) if n_jobs > 0 else max(1, n_cores() + 1 + int(n_jobs))


def _blas_controller() -> ThreadpoolController:
    global _controller
    if _controller is None:
        _controller = ThreadpoolController().select(user_api="blas")
    return _controller


def _take_control(controller: ThreadpoolController) -> None:
    """Let this thread set limits: threadpoolctl 3.8 leaves those of OpenBLAS to the thread that has set them first."""
    for library in controller.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


def _shared_pool() -> ThreadPoolExecutor:
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(n_cores(), thread_name_prefix="cssvm", initializer=_use_one_thread)
        return _pool


def _use_one_thread() -> None:
    """A task has its own thread and no other, also where it begins a computation itself."""
    _allowance.n_threads = 1


def _forget_threads() -> None:
    """After a fork the child has none of the parent's threads: start afresh."""
    global _pool, _pool_lock, _allowance, _limit
    _pool, _pool_lock, _allowance, _limit = None, threading.Lock(), _Allowance(), _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


@contextmanager
def in_this_process() -> Iterator[None]:
    """Keep joblib from sending work to a cluster set by ``joblib.parallel_config``; threads remain.

    With joblib 1.6 and Dask, three nested levels of that deadlock: a fit on a worker waits for parts of itself.
    """
    backend, _ = get_active_backend()
    if isinstance(backend, tuple(BACKENDS[name] for name in ON_THIS_MACHINE if name in BACKENDS)):
        yield
        return
    with parallel_config(backend="threading", n_jobs=1):
        yield
