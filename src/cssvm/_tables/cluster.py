"""Parts of a table on the workers of a Dask cluster: a few at a time, their results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, cast

from .chunk import TableError
from .sources import ParquetPart, Source

SECONDS = 10  # to wait for a scheduler to answer, and for a worker to be there
AHEAD = 2  # parts for each thread of the workers: one that it computes, one that waits


def parts_for_workers(source: Source) -> Sequence[ParquetPart]:
    """The parts of a table that workers can read by themselves."""
    if source.parquet is None:
        raise TableError(
            f"a cluster reads Parquet, a file or a folder, and {source.name} is none. Convert it, or leave the "
            "scheduler out."
        )
    return cast(Sequence[ParquetPart], source.parts())


@contextmanager
def connect(scheduler: Any) -> Iterator[Any]:
    """A client of the scheduler at this address, closed at the end; or the client that was given."""
    try:
        from distributed import Client
        from distributed.comm.addressing import parse_address, parse_host_port
    except ImportError as error:
        raise ImportError("a cluster needs dask and distributed: pip install 'cssvm[dask]'") from error
    if isinstance(scheduler, Client):
        _check_workers(scheduler)
        yield scheduler
        return
    try:
        parse_host_port(parse_address(scheduler)[1])  # a client of what is no address would wait for its end
        client = Client(scheduler, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise TableError(
            f"there is no Dask scheduler at {scheduler!r}: {str(error).splitlines()[0]}. Give the address that it "
            "shows when it starts, such as tcp://127.0.0.1:8786."
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=SECONDS)
        except TimeoutError as error:
            raise TableError(f"the Dask scheduler at {scheduler!r} has no workers. Start one: dask worker.") from error
        _check_workers(client)
        yield client


def _check_workers(client: Any) -> None:
    from ..dask._session import check_workers

    try:
        check_workers(client)
    except ValueError as error:
        raise TableError(str(error)) from error


def map_ordered(
    client: Any, function: Callable[..., Any], shared: Any, calls: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    """Yield ``function(shared, *call)`` for each call, computed on workers, no more of them ahead than they need.

    `shared` travels once, as the result of a task of its own, which the scheduler repeats if a worker is lost.
    """
    import dask
    from distributed import KilledWorker

    from ..dask._session import QUIET, wait_for_workers

    waiting = iter(calls)
    at_once = AHEAD * max(1, sum(client.nthreads().values()))
    with dask.config.set(QUIET):
        common = client.submit(_itself, shared, pure=False)
    futures: deque[Any] = deque()
    n_done = 0
    try:
        for call in islice(waiting, at_once):
            futures.append(client.submit(function, common, *call, pure=False))
        while futures:
            wait_for_workers(client, [futures[0]], [f"part {n_done}"])
            found = futures[0].result()
            futures.popleft().release()
            n_done += 1
            for call in islice(waiting, 1):
                futures.append(client.submit(function, common, *call, pure=False))
            yield found
    except KilledWorker as error:
        raise TableError(
            f"every worker that computed part {n_done} of the table died, {error.allowed_failures + 1} in a row, most "
            "often for want of memory. Give workers more of it, or write Parquet with smaller row groups."
        ) from error
    finally:
        for future in (*futures, common):  # the scheduler forgets what nobody wants, also what is under way
            future.release()


def _itself(value: Any) -> Any:
    return value
