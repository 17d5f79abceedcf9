"""One process per peer, so that no solver inherits another's threads, BLAS limits, memory or patches.

The parent asks for one measurement at a time; while one worker measures, the others sleep.
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
from benchmarks.cases import Case, boxes, load
from benchmarks.peers import PEERS
from benchmarks.rows import Data
from benchmarks.yardstick import dual_objective, infeasibility

# A fit shorter than this is repeated within one measurement, until these seconds have passed; the median counts.
SHORT_FIT_SECONDS = 0.05
SHORT_FITS_TOGETHER = 0.3
# Predictions take milliseconds: each measurement is the median of this many calls, or of one that takes long.
PREDICT_CALLS = 3
LONG_PREDICT_SECONDS = 1.0
# Beginnings of the data to warm up with: solvers treat small problems in other ways than large ones, and the larger
# is large enough to reach blocked and threaded paths, small enough to take about a second.
WARM_UP_ROWS = (500, 4_000)
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class Measurement:
    """Times of one fit and one predict; peak memory of the fit, in bytes over what data and libraries take."""

    fit_seconds: float
    predict_seconds: float | None = None
    peak_bytes: int | None = None


@dataclass(frozen=True)
class Answer:
    """What the last fit found, by the common yardstick."""

    dual_objective: float
    infeasibility: float
    relative_gap: float | None
    n_support: int
    threads: dict[str, int]


class WorkerError(RuntimeError):
    """A peer failed in its process; the message is the peer's."""


def elapsed(function, *arguments) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def repeated(function, *arguments) -> float:
    """Seconds of one call, the median over as many as a stable figure needs."""
    seconds = [elapsed(function, *arguments)]
    while seconds[0] < SHORT_FIT_SECONDS and sum(seconds) < SHORT_FITS_TOGETHER:
        seconds.append(elapsed(function, *arguments))
    return median(seconds)


def predict_seconds(solver, X_new: Any) -> float:
    seconds = [elapsed(solver.predict, X_new)]
    while seconds[0] < LONG_PREDICT_SECONDS and len(seconds) < PREDICT_CALLS:
        seconds.append(elapsed(solver.predict, X_new))
    return median(seconds)


def warm_up(peer_name: str, case: Case, data: Data) -> None:
    """Compile, load libraries and start thread pools, on the beginnings of the data."""
    for n in WARM_UP_ROWS:
        part = data.head(min(n, case.rows_for(peer_name)))
        solver = PEERS[peer_name].build(case)
        solver.fit(part.X, part.y)
        solver.predict(part.X_new[:n])


def measure(solver, data: Data, baseline: int | None, *, predict: bool) -> Measurement:
    """Time a fit, and a prediction if asked for; `baseline` is what the process held before the first fit."""
    gc.collect()
    counted = memory.reset_peak() and baseline is not None
    fit_seconds = repeated(solver.fit, data.X, data.y)
    peak = memory.peak() if counted else None
    return Measurement(
        fit_seconds,
        predict_seconds=predict_seconds(solver, data.X_new) if predict else None,
        peak_bytes=None if peak is None else max(0, peak - baseline),
    )


def judge(solver, case: Case, data: Data) -> Answer:
    from threadpoolctl import threadpool_info

    support, beta = solver.dual()
    y = data.y[support]
    return Answer(
        dual_objective=dual_objective(data.X[support], beta, case.gamma, kernel=case.kernel),
        infeasibility=infeasibility(beta, y, boxes(case, y)),
        relative_gap=solver.relative_gap(),
        n_support=len(support),
        threads={pool["prefix"]: pool["num_threads"] for pool in threadpool_info()},
    )


def serve(connection: Connection, peer_name: str, case: Case, folder: Path | None) -> None:
    """Answer the parent's requests until it says stop; an exception is sent back as its text."""
    try:
        data = load(case, folder)
        warm_up(peer_name, case, data)
        solver, part = PEERS[peer_name].build(case), data
        baseline = memory.settle()
        connection.send("ready")
        while (request := connection.recv()) != "stop":
            if request == "judge":
                connection.send(judge(solver, case, part))
            else:
                rows, predict = request
                part = data.head(rows)
                connection.send(measure(solver, part, baseline, predict=predict))
    except (EOFError, KeyboardInterrupt):
        pass  # the parent is gone or stopping: nobody is left to tell
    except Exception as error:
        connection.send(WorkerError(f"{type(error).__name__}: {error}"))


class Worker:
    """A peer in its own process, which loads the case's data and warms up; `wait` until it has."""

    def __init__(self, peer_name: str, case: Case, folder: Path | None = None) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, childs_end = context.Pipe()
        self.process = context.Process(target=serve, args=(childs_end, peer_name, case, folder), daemon=True)
        self.process.start()
        childs_end.close()

    def wait(self) -> None:
        self._receive()

    def measure(self, rows: int, *, predict: bool = False) -> Measurement:
        """Fit the first `rows` rows, then predict if asked to."""
        self.connection.send((rows, predict))
        return self._receive()

    def judge(self) -> Answer:
        """The answer of the fit measured last."""
        self.connection.send("judge")
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
