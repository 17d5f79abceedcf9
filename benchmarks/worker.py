"""One process per peer, so that no solver is affected by the threads, BLAS limits, memory or patches of another.

The parent requests one measurement at a time.
"""

import contextlib
import gc
import multiprocessing
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import memory
from benchmarks.cases import Case, load, upper_bounds
from benchmarks.objectives import dual_objective, infeasibility
from benchmarks.peers import PEERS

# A fit shorter than this is repeated within one measurement until these seconds have passed.
SHORT_FIT_SECONDS = 0.05
SHORT_FITS_TOGETHER = 0.3
# Each measurement of a prediction is the median of this many calls, or a single long call.
PREDICT_CALLS = 3
LONG_PREDICT_SECONDS = 1.0
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class Measurement:
    """Times of one fit and one predict; peak memory of the fit, in bytes, without data and libraries."""

    fit_seconds: float
    predict_seconds: float | None = None
    peak_bytes: int | None = None


@dataclass(frozen=True)
class Answer:
    """The solution of the last fit."""

    dual_objective: float
    infeasibility: float
    relative_gap: float | None
    n_support: int
    threads: dict[str, int]


class WorkerError(RuntimeError):
    """A peer failed in its process, with this message."""


def elapsed(function, *arguments) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def repeated(function, *arguments) -> float:
    """Median seconds of one call; short calls are repeated."""
    seconds = [elapsed(function, *arguments)]
    while seconds[0] < SHORT_FIT_SECONDS and sum(seconds) < SHORT_FITS_TOGETHER:
        seconds.append(elapsed(function, *arguments))
    return median(seconds)


def predict_seconds(solver, X_new: Any) -> float:
    seconds = [elapsed(solver.predict, X_new)]
    while seconds[0] < LONG_PREDICT_SECONDS and len(seconds) < PREDICT_CALLS:
        seconds.append(elapsed(solver.predict, X_new))
    return median(seconds)


class Bench:
    """One peer on one case, with loaded data and a warmed-up solver."""

    def __init__(self, peer_name: str, case: Case, folder: Path | None) -> None:
        self.case, self.data = case, load(case, folder)
        self.warm_up(peer_name)
        self.solver, self.part = PEERS[peer_name].build(case), self.data
        self.baseline = memory.settle()  # bytes that data and libraries take

    def warm_up(self, peer_name: str) -> None:
        """Compile, load libraries and start thread pools, with the first samples."""
        peer = PEERS[peer_name]
        for n in sorted({min(rows, self.case.rows_for(peer_name)) for rows in peer.warm_up_rows}):
            part, solver = self.data.head(n), peer.build(self.case)
            solver.fit(part.X, part.y)
            solver.predict(part.X_new[:n])

    def measure(self, rows: int, predict: bool) -> Measurement:
        self.part = self.data.head(rows)
        gc.collect()
        counted = memory.reset_peak() and self.baseline is not None
        fit_seconds = repeated(self.solver.fit, self.part.X, self.part.y)
        peak = memory.peak() if counted else None
        return Measurement(
            fit_seconds,
            predict_seconds=predict_seconds(self.solver, self.part.X_new) if predict else None,
            peak_bytes=None if peak is None else max(0, peak - self.baseline),
        )

    def evaluate(self) -> Answer:
        from threadpoolctl import threadpool_info

        support, beta = self.solver.dual()
        vectors, y = self.part.X[support], self.part.y[support]
        return Answer(
            dual_objective=dual_objective(vectors, beta, self.case.gamma, kernel=self.case.kernel),
            infeasibility=infeasibility(beta, y, upper_bounds(self.case, y)),
            relative_gap=self.solver.relative_gap(),
            n_support=len(support),
            threads={pool["prefix"]: pool["num_threads"] for pool in threadpool_info()},
        )


def serve(connection: Connection, peer_name: str, folder: Path | None) -> None:
    """Execute the requests of the parent until "stop"; exceptions are returned."""
    try:
        while (request := connection.recv()) != "stop":
            verb, *arguments = request
            if verb == "prepare":
                bench = None  # free the data of the last case first
                bench = Bench(peer_name, *arguments, folder)
                connection.send("ready")
            else:
                connection.send(getattr(bench, verb)(*arguments))
    except (EOFError, KeyboardInterrupt):
        pass  # the parent has ended
    except Exception as error:
        connection.send(WorkerError(f"{type(error).__name__}: {error}"))


class Worker:
    """A peer in its own process."""

    def __init__(self, peer_name: str, folder: Path | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, childs_end = context.Pipe()
        self.process = context.Process(target=serve, args=(childs_end, peer_name, folder), daemon=True)
        self.process.start()
        childs_end.close()

    def prepare(self, case: Case) -> None:
        """Start to load the data of the case and to warm up; `wait` for the end."""
        with contextlib.suppress(OSError):  # `wait` raises if the process has ended
            self.connection.send(("prepare", case))

    def wait(self) -> None:
        self._receive()

    def measure(self, rows: int, *, predict: bool = False) -> Measurement:
        """Fit the first `rows` samples, then predict if requested."""
        self.connection.send(("measure", rows, predict))
        return self._receive()

    def evaluate(self) -> Answer:
        """The solution of the last fit."""
        self.connection.send(("evaluate",))
        return self._receive()

    def stop(self) -> None:
        with contextlib.suppress(OSError):  # it may have ended already
            self.connection.send("stop")
        self.process.join(STOP_SECONDS)
        if self.process.is_alive():
            self.process.terminate()

    def _receive(self):
        try:
            reply = self.connection.recv()
        except EOFError:
            self.process.join(STOP_SECONDS)
            raise WorkerError(f"the process ended with exit code {self.process.exitcode}") from None
        if isinstance(reply, WorkerError):
            raise reply
        return reply
