"""The schedule of a case: every peer once per round, in alternating order, then smaller fits for the growth."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.peers import REFERENCE
from benchmarks.worker import Answer, Measurement, Worker, WorkerError

# A case whose slowest fit takes longer than this gets fewer rounds: one in each order, or one.
LONG_FIT_SECONDS = 10.0
LONG_FIT_ROUNDS = 2
VERY_LONG_FIT_SECONDS = 120.0
# Thread pools spin for up to 0.2 s after their work.
PAUSE_SECONDS = 0.5
# On a new virtual machine the first touch of memory takes seconds per GB.
TOUCH_BYTES = 6 * 2**30


@dataclass(frozen=True)
class PeerResult:
    """The measurements of one peer in one case.

    rows : the number of the n samples that were fitted in the rounds; smaller : seconds of single fits by their number
    of samples, rows / 4 and rows / 2 for the growth; answers : solutions by number of samples
    """

    peer: str
    n: int
    rows: int
    fit_seconds: list[float]
    predict_seconds: list[float]
    peak_bytes: int | None
    smaller: Mapping[int, float]
    answers: Mapping[int, Answer]

    @property
    def fit_median(self) -> float:
        return median(self.fit_seconds)

    @property
    def predict_median(self) -> float | None:
        return median(self.predict_seconds) if self.predict_seconds else None

    @property
    def answer(self) -> Answer:
        return self.answers[self.rows]

    @property
    def growth(self) -> float | None:
        """The exponent p of time ~ rows^p: least-squares slope of log time over log rows."""
        seconds = {rows: self.smaller[rows] for rows in (self.rows // 4, self.rows // 2) if rows in self.smaller}
        if not seconds:
            return None
        seconds[self.rows] = self.fit_median
        return float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])

    @property
    def extrapolated(self) -> bool:
        return self.rows < self.n

    @property
    def fit_at_n(self) -> float | None:
        """Seconds of a fit of all n rows: measured, or extrapolated by the growth."""
        if not self.extrapolated:
            return self.fit_median
        return None if self.growth is None else self.fit_median * (self.n / self.rows) ** self.growth

    def seconds_at(self, rows: int) -> float | None:
        return self.fit_median if rows == self.rows else self.smaller.get(rows)


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def available_bytes() -> int:
    """Available memory, or 2 GB where that is not known."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 2 * 2**30


def touch_memory() -> None:
    """Touch as much memory as the solvers use, at most half of what is available."""
    np.ones(min(TOUCH_BYTES, available_bytes() // 2), dtype=np.uint8)


def rounds_for(slowest_fit: float, repeats: int) -> int:
    if slowest_fit > VERY_LONG_FIT_SECONDS:
        return 1
    return min(repeats, LONG_FIT_ROUNDS) if slowest_fit > LONG_FIT_SECONDS else repeats


class Workers:
    """One worker per peer; a worker that fails is stopped and left out afterwards."""

    def __init__(self, workers: dict[str, Worker]) -> None:
        self.workers = workers

    def call(self, name: str, verb: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of a worker; None if it fails or has failed."""
        if name not in self.workers:
            return None
        try:
            return getattr(self.workers[name], verb)(*arguments, **options)
        except WorkerError as error:
            log(f"{name} failed and is skipped: {error}")
            self.workers.pop(name).stop()
            return None

    def prepare(self, case: Case, peer_names: list[str]) -> list[str]:
        """Let all peers of the case load and warm up in parallel; return those that are ready."""
        names = [name for name in peer_names if name in self.workers and case.rows_for(name)]
        for verb in (("prepare", case), ("wait",)):
            for name in names:
                self.call(name, *verb)
        return self.present(names)

    def present(self, names: list[str]) -> list[str]:
        return [name for name in names if name in self.workers]

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()


@contextmanager
def start_workers(peer_names: list[str], folder: Path | None) -> Iterator[Workers]:
    workers = Workers({name: Worker(name, folder) for name in peer_names})
    try:
        yield workers
    finally:
        workers.stop()


def measure_rounds(
    case: Case, workers: Workers, names: list[str], repeats: int, pause: float
) -> dict[str, list[Measurement]]:
    """All measurements of each peer; rounds alternate between the given order and its reverse."""
    measured: dict[str, list[Measurement]] = {name: [] for name in names}
    rounds, done = repeats, 0
    while done < rounds and workers.present(names):
        for name in workers.present(names)[:: 1 if done % 2 == 0 else -1]:
            time.sleep(pause)
            rows = case.rows_for(name)
            # A peer with fewer samples has fewer support vectors, so its prediction is not comparable.
            reply = workers.call(name, "measure", rows, predict=rows == case.n)
            if reply is not None:
                measured[name].append(reply)
                log(f"{case.name}: round {done + 1}, {name}: {rows:,} samples, fit {reply.fit_seconds:.2f} s")
        done += 1
        rounds = rounds_for(max((m[0].fit_seconds for m in measured.values() if m), default=0.0), repeats)
    return measured


def measure_smaller(
    case: Case, workers: Workers, name: str, evaluated: set[int], pause: float
) -> tuple[dict[int, float], dict[int, Answer]]:
    """Seconds and solutions by number of samples, of the fits for the growth and of those in `evaluated`."""
    seconds, answers = {}, {}
    for rows in sorted({*case.growth_rows(name), *evaluated}):
        time.sleep(pause)
        reply = workers.call(name, "measure", rows)
        if reply is not None:
            seconds[rows] = reply.fit_seconds
            log(f"{case.name}: growth, {name}: {rows:,} samples, fit {reply.fit_seconds:.2f} s")
            if rows in evaluated and (answer := workers.call(name, "evaluate")):
                answers[rows] = answer
    return seconds, answers


def run_case(
    case: Case, workers: Workers, peer_names: list[str], repeats: int, pause: float = PAUSE_SECONDS
) -> list[PeerResult]:
    """Time the peers on a case. cssvm also fits as many samples as each limited peer, to compare the objectives."""
    names = workers.prepare(case, peer_names)
    measured = measure_rounds(case, workers, names, repeats, pause)
    answers = {name: workers.call(name, "evaluate") for name in names}
    limited = {case.rows_for(name) for name in workers.present(names)} - {case.n}
    smaller = {
        name: measure_smaller(case, workers, name, limited if name == REFERENCE else set(), pause) for name in names
    }
    return [
        PeerResult(
            peer=name,
            n=case.n,
            rows=case.rows_for(name),
            fit_seconds=[m.fit_seconds for m in measured[name]],
            predict_seconds=[m.predict_seconds for m in measured[name] if m.predict_seconds is not None],
            peak_bytes=max((m.peak_bytes for m in measured[name] if m.peak_bytes is not None), default=None),
            smaller=smaller[name][0],
            answers={case.rows_for(name): answers[name]} | smaller[name][1],
        )
        for name in workers.present(names)
    ]
