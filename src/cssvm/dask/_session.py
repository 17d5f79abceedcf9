"""The tasks of one fit: submitted a few at a time, their results in order, and none of them left when it ends.

All that a task needs is in its arguments or can be computed again from them, so Dask makes up for a worker that dies.
"""

from __future__ import annotations

import pkgutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import dask
import distributed
import numpy as np
from dask.delayed import delayed
from distributed import Client, Future

from .._runtime import threads

# Dask warns of large arguments, but states and models are sent on purpose.
QUIET = {"distributed.admin.large-graph-warning-threshold": "1TB"}
KEPT_SHARE = 0.4  # of the workers' memory beyond that of their processes, for rows that are kept
PROCESS_BYTES = 350 << 20  # of a worker that has imported NumPy, scikit-learn and Numba, and holds some rows
UNLIMITED = 4 << 30  # assumed for a worker without a memory limit
NO_WORKERS_SECONDS = 300.0  # longer than a nanny or a cloud takes to start a worker; Dask itself waits without end
LOOK_SECONDS = 1.0  # between looks at whether there are workers

# Arguments of the tasks of some partitions, made when they are submitted.
Arguments = Callable[[slice], Sequence[tuple[Any, ...]]]


@dataclass(frozen=True)
class Task:
    """A function of a partition with further keyword arguments, called with BLAS on one thread."""

    function: Callable[..., Any]
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, *arguments: Any) -> Any:
        with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return self.function(*arguments, **self.options)


class Session:
    """Tasks on the cluster of a client, as long as the ``with`` block lasts."""

    def __init__(self, client: Client | None):
        if client is None:
            try:
                client = distributed.default_client()
            except ValueError as error:
                raise ValueError(
                    "CostSensitiveLinearSVC of cssvm.dask needs a client of a Dask cluster; there is none. Start one "
                    "first: from distributed import Client; client = Client()."
                ) from error
        if not isinstance(client, Client) or client.asynchronous or client.status != "running":
            raise ValueError(
                f"client must be a connected distributed.Client that is not asynchronous; got {client!r}. Pass "
                "client=Client()."
            )
        _check_versions(client)
        self.client, self.started = client, time.monotonic()
        self._futures: WeakValueDictionary[str, Future] = WeakValueDictionary()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """Release all futures, after which the scheduler forgets their tasks, also those that are running.

        After `Client.cancel` of a task on which others depend, the scheduler would close the connection of the client.
        """
        for future in list(self._futures.values()):
            future.release()

    @property
    def n_cores(self) -> int:
        """Threads of all workers."""
        return max(1, sum(self.client.nthreads().values()))

    @property
    def room(self) -> float:
        """Bytes of rows that the workers can keep in memory together."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        limits = [worker["memory_limit"] or UNLIMITED for worker in workers]
        return KEPT_SHARE * sum(max(0, limit - PROCESS_BYTES) for limit in limits)

    def submit(self, tasks: Sequence[Any]) -> list[Future]:
        """Return futures of these tasks, made by `_delayed`; Dask forgets tasks of which nobody holds a future."""
        with dask.config.set(QUIET):
            futures = self.client.compute(list(tasks))
        self._futures.update((future.key, future) for future in futures)
        return futures

    def call(self, name: str, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Future]:
        """Return futures of ``task(*arguments[k])`` for each k."""
        return self.submit(_delayed(name, task, arguments))

    def share(self, name: str, values: Sequence[Any]) -> list[Future]:
        """Return values as results of tasks of their own, from which the scheduler can restore them."""
        return self.call(name, Task(identity), [(value,) for value in values])

    def map_ordered(
        self,
        name: str,
        task: Callable[..., Any],
        arguments: Arguments,
        names: Sequence[str],
        at_once: int,
        *,
        one_by_one: bool = False,
    ) -> Iterator[Any]:
        """Yield the result for each partition in order, at most `at_once` of them computed ahead.

        `names` are those of the partitions; `one_by_one` : whether only one result is in the memory of this process.
        """
        for part, futures in _submit_ahead(lambda part: self.call(name, task, arguments(part)), len(names), at_once):
            if one_by_one:
                for future, own in zip(futures, names[part], strict=True):
                    yield from self.results([future], [own])
            else:
                yield from self.results(futures, names[part])

    def map_pairs(
        self, name: str, task: Callable[..., Any], arguments: Arguments, names: Sequence[str], at_once: int
    ) -> Iterator[tuple[Future, Any]]:
        """As `map_ordered` for results that are pairs: yield a future of the first, and the second."""

        def submitted(part: slice) -> list[Future]:
            pairs = [(pair,) for pair in _delayed(name, task, arguments(part))]
            return self.submit(
                _delayed(f"{name}_first", itemgetter(0), pairs) + _delayed(f"{name}_second", itemgetter(1), pairs)
            )

        for part, futures in _submit_ahead(submitted, len(names), at_once):
            n = len(futures) // 2
            yield from zip(futures[:n], self.results(futures[n:], names[part]), strict=True)

    def results(self, futures: Sequence[Future], names: Sequence[str]) -> list[Any]:
        """Return the results of futures and release them; an error names the first partition that has one."""
        wait_for_workers(self.client, futures, names)
        try:
            values = self.client.gather(list(futures))
        except Exception as error:
            killed = isinstance(error, distributed.KilledWorker)  # no worker may be left for the partitions before
            for future, name in zip(futures, names, strict=True):
                if not killed:
                    wait_for_workers(self.client, [future], [name])
                own = None if killed and future.status != "error" else future.exception()
                if own is not None:
                    raise _with_name(own, name) from own
            raise
        for future in futures:
            future.release()
        return values


def wait_for_workers(client: Client, futures: Sequence[Future], names: Sequence[str]) -> None:
    """Return when all futures are done or one has failed; raise if there are no workers for `NO_WORKERS_SECONDS`."""
    alone = None
    for future in futures:
        while future.status == "pending":
            try:
                future.exception(timeout=LOOK_SECONDS)
            except TimeoutError:
                if any(each.status == "error" for each in futures):
                    return
                if client.nthreads():
                    alone = None
                    continue
                alone = time.monotonic() if alone is None else alone
                if time.monotonic() - alone >= NO_WORKERS_SECONDS:
                    waiting = [name for each, name in zip(futures, names, strict=True) if each.status == "pending"]
                    more = ", ..." if len(waiting) > 5 else ""
                    raise RuntimeError(
                        f"{', '.join(waiting[:5])}{more}: the cluster has had no workers for {NO_WORKERS_SECONDS:.0f} "
                        "seconds. Their logs show why they died, most often for lack of memory: make partitions "
                        "smaller, or give workers more memory."
                    ) from None


def _submit_ahead(
    submit: Callable[[slice], list[Future]], n: int, at_once: int
) -> Iterator[tuple[slice, list[Future]]]:
    """Yield the futures of one part of n tasks after the other, when the next part has been submitted."""
    waiting: deque[tuple[slice, list[Future]]] = deque()
    half = max(1, at_once // 2)
    for first in range(0, n, half):
        part = slice(first, min(n, first + half))
        waiting.append((part, submit(part)))
        if len(waiting) == 2:
            yield waiting.popleft()
    yield from waiting


def _delayed(name: str, task: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return tasks ``task(*arguments[k])``; Dask fills in futures and tasks among the arguments."""
    token = uuid4().hex
    return [
        delayed(task, pure=False, traverse=False)(*own, dask_key_name=f"cssvm-{name}-{token}-{k}")
        for k, own in enumerate(arguments)
    ]


def identity(value: Any) -> Any:
    """Return the value."""
    return value


def _check_versions(client: Client) -> None:
    """Raise for workers without cssvm or with another version: Dask would wait for them without end."""
    wanted = pkgutil.resolve_name("cssvm:__version__")
    versions = client.run(pkgutil.resolve_name, "cssvm:__version__", on_error="return")
    for worker, version in versions.items():
        if version != wanted and not isinstance(version, OSError):  # of a worker that has died just now
            raise ValueError(f"all workers must have cssvm {wanted}; got {version!r} on {worker}. Install it there.")


def _with_name(error: Exception, name: str) -> Exception:
    """Return the error with the partition in front of its message."""
    if isinstance(error, distributed.KilledWorker):
        return RuntimeError(
            f"{name}: every worker that computed it died, {error.allowed_failures + 1} in a row, most often for lack "
            "of memory. Make partitions smaller, such as row groups of Parquet, or give workers more memory; if "
            "workers die for other reasons, raise distributed.scheduler.allowed-failures in Dask's configuration."
        )
    if type(error) in (ValueError, TypeError, OSError, FileNotFoundError, ImportError):
        return type(error)(f"{name}: {error}")
    error.add_note(f"This was {name}.")
    return error
