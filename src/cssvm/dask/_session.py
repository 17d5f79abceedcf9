"""The tasks of one fit: submitted a few at a time, their answers in order, and none of them left when it ends.

All that a task needs is in its arguments or can be computed anew from them, so Dask makes up for a worker that dies.
What is asked is one graph for several blocks, each task of which has a key such as ``cssvm-measure-...-3``.
"""

from __future__ import annotations

import pkgutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import dask
import distributed
import numpy as np
from dask.delayed import delayed
from distributed import Client, Future

from .._runtime import threads

NO_CLIENT = (
    "CostSensitiveLinearSVC of cssvm.dask needs a client of a Dask cluster; there is none. Start one first: "
    "from distributed import Client; client = Client()."
)
# States and models that go through the client on purpose would be taken for a mistake.
QUIET = {"distributed.admin.large-graph-warning-threshold": "1TB"}
KEPT_FILLED = 0.4  # of the memory that workers have beyond that of their process, for rows that are kept
PROCESS_BYTES = 350 << 20  # of a worker that has imported NumPy, scikit-learn and Numba, and has some rows in hand
UNLIMITED = 4 << 30  # what a worker without a limit is taken to have
NO_WORKERS_SECONDS = 300.0  # longer than a nanny or a cloud takes to start a worker; Dask itself would wait for ever
LOOK_SECONDS = 1.0  # between looks at whether there are workers


Given = Callable[[slice], Sequence[tuple[Any, ...]]]  # the arguments of the tasks of some partitions, asked for late


class Ask:
    """A function with its further arguments, as tasks call it: with BLAS on one thread."""

    def __init__(self, function: Callable[..., Any], *arguments: Any):
        self.function, self.arguments = function, arguments

    def __call__(self, *given: Any) -> Any:
        """The answer."""
        with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return self.function(*given, *self.arguments)


class Session:
    """Tasks on the cluster of a client, as long as the ``with`` block lasts."""

    def __init__(self, client: Client | None):
        self.client = _running(client)
        check_workers(self.client)
        self.started = time.monotonic()
        self._futures: WeakValueDictionary[str, Future] = WeakValueDictionary()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what is kept and of what is under way: the scheduler forgets what nobody wants.

        Not `Client.cancel`: the scheduler breaks the connection of a client that cancels a task of which others depend
        that nobody holds a future of, and with it all that the client has.
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
        return KEPT_FILLED * sum(max(0, limit - PROCESS_BYTES) for limit in limits)

    def submit(self, tasks: Sequence[Any]) -> list[Future]:
        """Futures of these tasks, made by `task`; Dask forgets what nobody holds a future of."""
        with dask.config.set(QUIET):
            futures = self.client.compute(list(tasks))
        self._futures.update((future.key, future) for future in futures)
        return futures

    def call(self, name: str, ask: Ask, given: Sequence[tuple[Any, ...]]) -> list[Future]:
        """Futures of ``ask(*given[k])`` for each k."""
        return self.submit(_tasks(name, ask, given))

    def shared(self, name: str, values: Sequence[Any]) -> list[Future]:
        """Values as results of tasks of their own, from which the scheduler can restore them."""
        return self.call(name, Ask(_itself), [(value,) for value in values])

    def answers(self, name: str, ask: Ask, given: Given, names: Sequence[str], at_once: int) -> Iterator[Any]:
        """Yield the answer for each partition in order, at most `at_once` of them computed ahead."""
        for part, futures in _ahead(lambda part: self.call(name, ask, given(part)), len(names), at_once):
            yield from self.results(futures, names[part])

    def pairs(
        self, name: str, ask: Ask, given: Given, names: Sequence[str], at_once: int
    ) -> Iterator[tuple[Future, Any]]:
        """As `answers`, of pairs: the first stays where it is and a future of it is yielded, with the second."""

        def submitted(part: slice) -> list[Future]:
            pairs = _tasks(name, ask, given(part))
            return self.submit(
                [
                    task
                    for get in (_first, _second)
                    for task in _tasks(f"{name}{get.__name__}", get, [(p,) for p in pairs])
                ]
            )

        for part, futures in _ahead(submitted, len(names), at_once):
            n = len(futures) // 2
            yield from zip(futures[:n], self.results(futures[n:], names[part]), strict=True)

    def results(self, futures: Sequence[Future], names: Sequence[str]) -> list[Any]:
        """What these are, which are released; an error names the first partition that has one."""
        wait_for_workers(self.client, futures, names)
        try:
            values = self.client.gather(list(futures))
        except Exception as error:
            deadly = isinstance(error, distributed.KilledWorker)  # no worker may be left for the partitions before
            for future, name in zip(futures, names, strict=True):
                if not deadly:
                    wait_for_workers(self.client, [future], [name])
                own = None if deadly and future.status != "error" else future.exception()
                if own is not None:
                    raise _named(own, name) from own
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
                now = time.monotonic()
                alone = now if alone is None else alone
                if now - alone >= NO_WORKERS_SECONDS:
                    waiting = [name for each, name in zip(futures, names, strict=True) if each.status == "pending"]
                    more = ", ..." if len(waiting) > 5 else ""
                    raise RuntimeError(
                        f"{', '.join(waiting[:5])}{more}: the cluster has had no workers for {NO_WORKERS_SECONDS:.0f} "
                        "seconds. See their logs for why they died, most often for want of memory: make partitions "
                        "smaller, or give workers more memory."
                    ) from None


def _ahead(submit: Callable[[slice], list[Future]], n: int, at_once: int) -> Iterator[tuple[slice, list[Future]]]:
    """Futures of one part of n tasks after the other; the next part is under way when one is yielded."""
    waiting: deque[tuple[slice, list[Future]]] = deque()
    half = max(1, at_once // 2)
    for first in range(0, n, half):
        part = slice(first, min(n, first + half))
        waiting.append((part, submit(part)))
        if len(waiting) == 2:
            yield waiting.popleft()
    yield from waiting


def _tasks(name: str, function: Callable[..., Any], given: Sequence[Any]) -> list[Any]:
    """Tasks of ``function(*given[k])``; futures and other tasks among the arguments are filled in."""
    token = uuid4().hex
    return [
        delayed(function, pure=False, traverse=False)(*own, dask_key_name=f"cssvm-{name}-{token}-{k}")
        for k, own in enumerate(given)
    ]


def _itself(value: Any) -> Any:
    return value


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _second(pair: tuple[Any, Any]) -> Any:
    return pair[1]


def _running(client: Any) -> Client:
    """The client given, or the one that was started last."""
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError as error:
            raise ValueError(NO_CLIENT) from error
    if not isinstance(client, Client) or client.asynchronous or client.status != "running":
        raise ValueError(
            f"client must be a connected distributed.Client that is not asynchronous; got {client!r}. Pass "
            "client=Client()."
        )
    return client


def check_workers(client: Client) -> None:
    """Refuse workers that have no cssvm or another one: Dask would wait for them without end."""
    wanted = pkgutil.resolve_name("cssvm:__version__")
    versions = client.run(pkgutil.resolve_name, "cssvm:__version__", on_error="return")
    for worker, version in versions.items():
        if version != wanted and not isinstance(version, OSError):  # of a worker that has died just now
            raise ValueError(f"all workers must have cssvm {wanted}; got {version!r} on {worker}. Install it there.")


def _named(error: Exception, name: str) -> Exception:
    """The error with the partition in front of its message."""
    if isinstance(error, distributed.KilledWorker):
        return RuntimeError(
            f"{name}: every worker that computed it died, {error.allowed_failures + 1} in a row, most often for want "
            "of memory. Make partitions smaller, or give workers more memory; if workers die of other things, raise "
            "distributed.scheduler.allowed-failures in Dask's configuration."
        )
    if type(error) in (ValueError, TypeError, OSError, FileNotFoundError, ImportError):
        return type(error)(f"{name}: {error}")
    error.add_note(f"This was {name}.")
    return error
