"""Where joblib computes: fits that share memory stay in the process in which they begin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from joblib import parallel_config
from joblib.parallel import BACKENDS, get_active_backend

ON_THIS_MACHINE = ("loky", "multiprocessing", "sequential", "threading")


@contextmanager
def in_this_process() -> Iterator[None]:
    """What is computed inside does not go to a cluster that ``joblib.parallel_config`` names; threads remain.

    The transformers in a search would send every call of theirs there, and a fit that runs on a worker would wait for
    parts of itself: with joblib 1.6 and Dask, three levels of that wait for ever.
    """
    backend, _ = get_active_backend()
    if isinstance(backend, tuple(BACKENDS[name] for name in ON_THIS_MACHINE if name in BACKENDS)):
        yield
        return
    with parallel_config(backend="threading", n_jobs=1):
        yield
