"""One process per peer, so that no solver inherits another's threads, BLAS limits, memory or patches.

The parent asks for one measurement at a time; while one worker measures, the others sleep.
"""

import contextlib
import gc
import multiprocessing
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from statistics import median

import numpy as np

from benchmarks.cases import Case, boxes, generate
from benchmarks.peers import PEERS
from benchmarks.yardstick import dual_objective, infeasibility

# Predictions take milliseconds: each measurement is the median of this many calls.
PREDICT_CALLS = 3
STOP_SECONDS = 5.0


@dataclass(frozen=True)
class Measurement:
    fit_seconds: float
    predict_seconds: float


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


def warm_up(peer_name: str, case: Case) -> None:
    """Compile, load libraries and start thread pools on a small problem of the same kind."""
    X, y, X_new = generate(case.warm_up())
    solver = PEERS[peer_name].build(case)
    solver.fit(X, y)
    solver.predict(X_new)


def measure(solver, X: np.ndarray, y: np.ndarray, X_new: np.ndarray) -> Measurement:
    gc.collect()
    fit_seconds = elapsed(solver.fit, X, y)
    return Measurement(fit_seconds, median(elapsed(solver.predict, X_new) for _ in range(PREDICT_CALLS)))


def judge(solver, case: Case, X: np.ndarray, y: np.ndarray) -> Answer:
    from threadpoolctl import threadpool_info

    support, beta = solver.dual()
    return Answer(
        dual_objective=dual_objective(X[support], beta, case.gamma),
        infeasibility=infeasibility(beta, y[support], boxes(case, y[support])),
        relative_gap=solver.relative_gap(),
        n_support=len(support),
        threads={pool["prefix"]: pool["num_threads"] for pool in threadpool_info()},
    )


def serve(connection: Connection, peer_name: str, case: Case) -> None:
    """Answer the parent's requests until it says stop; an exception is sent back as its text."""
    try:
        warm_up(peer_name, case)
        X, y, X_new = generate(case)
        solver = PEERS[peer_name].build(case)
        connection.send("ready")
        while (request := connection.recv()) != "stop":
            if request == "measure":
                connection.send(measure(solver, X, y, X_new))
            else:
                connection.send(judge(solver, case, X, y))
    except (EOFError, KeyboardInterrupt):
        pass  # the parent is gone or stopping: nobody is left to tell
    except Exception as error:
        connection.send(WorkerError(f"{type(error).__name__}: {error}"))


class Worker:
    """A peer in its own process, warmed up and holding the case's data."""

    def __init__(self, peer_name: str, case: Case) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, childs_end = context.Pipe()
        self.process = context.Process(target=serve, args=(childs_end, peer_name, case), daemon=True)
        self.process.start()
        childs_end.close()
        self._receive()

    def measure(self) -> Measurement:
        self.connection.send("measure")
        return self._receive()

    def judge(self) -> Answer:
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
