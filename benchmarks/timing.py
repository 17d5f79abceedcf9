"""Who runs when: every peer once per round, in alternating order, then the smaller fits that show growth."""

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
# Thread pools spin for up to 0.2 s after their work; the next peer starts when they sleep.
PAUSE_SECONDS = 0.5
# A fresh virtual machine pays seconds per GB when memory is touched for the first time, once.
TOUCH_BYTES = 6 * 2**30


@dataclass(frozen=True)
class PeerResult:
    """What one peer showed in one case.

    `rows` of the case's `n` rows were fitted in the rounds; `smaller` holds the seconds of single fits by their rows,
    those with (rows / 4, rows / 2) for the growth; `answers` has what was found by the rows fitted.
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
        """Seconds of a fit of all n rows: measured, or where the peer was given fewer, carried on by its growth."""
        if not self.extrapolated:
            return self.fit_median
        return None if self.growth is None else self.fit_median * (self.n / self.rows) ** self.growth

    def seconds_at(self, rows: int) -> float | None:
        return self.fit_median if rows == self.rows else self.smaller.get(rows)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def available_bytes() -> int:
    """Free memory as the system tells it, or a cautious guess where it does not."""
    try:
        with open("/proc/meminfo") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return 2 * 2**30


def touch_memory() -> None:
    """Write to the pages that the solvers are going to use, at most half of what is available."""
    np.ones(min(TOUCH_BYTES, available_bytes() // 2), dtype=np.uint8)


def rounds_for(slowest_fit: float, repeats: int) -> int:
    if slowest_fit > VERY_LONG_FIT_SECONDS:
        return 1
    return min(repeats, LONG_FIT_ROUNDS) if slowest_fit > LONG_FIT_SECONDS else repeats


class Team:
    """One worker per peer; one that fails is named, stopped and left out from then on."""

    def __init__(self, workers: dict[str, Worker]) -> None:
        self.workers = workers

    def ask(self, name: str, verb: str, *arguments: Any, **options: Any) -> Any:
        """The worker's reply; None if it failed now or before."""
        if name not in self.workers:
            return None
        try:
            return getattr(self.workers[name], verb)(*arguments, **options)
        except WorkerError as error:
            say(f"{name} failed and is left out: {error}")
            self.workers.pop(name).stop()
            return None

    def prepare(self, case: Case, peer_names: list[str]) -> list[str]:
        """Make the peers that the case provides for load and warm up, all at once; those that are ready."""
        names = [name for name in peer_names if name in self.workers and case.rows_for(name)]
        for verb in (("prepare", case), ("wait",)):
            for name in names:
                self.ask(name, *verb)
        return self.present(names)

    def present(self, names: list[str]) -> list[str]:
        return [name for name in names if name in self.workers]

    def stop(self) -> None:
        for worker in self.workers.values():
            worker.stop()


@contextmanager
def team_of(peer_names: list[str], folder: Path | None) -> Iterator[Team]:
    team = Team({name: Worker(name, folder) for name in peer_names})
    try:
        yield team
    finally:
        team.stop()


def measure_rounds(
    case: Case, team: Team, names: list[str], repeats: int, pause: float
) -> dict[str, list[Measurement]]:
    """All measurements of each peer; rounds alternate between the given order and its reverse."""
    measured: dict[str, list[Measurement]] = {name: [] for name in names}
    rounds, done = repeats, 0
    while done < rounds and team.present(names):
        for name in team.present(names)[:: 1 if done % 2 == 0 else -1]:
            time.sleep(pause)
            rows = case.rows_for(name)
            # A peer with fewer rows has fewer support vectors: its prediction would compare with nothing.
            reply = team.ask(name, "measure", rows, predict=rows == case.n)
            if reply is not None:
                measured[name].append(reply)
                say(f"{case.name}: round {done + 1}, {name}: {rows:,} rows, fit {reply.fit_seconds:.2f} s")
        done += 1
        rounds = rounds_for(max((m[0].fit_seconds for m in measured.values() if m), default=0.0), repeats)
    return measured


def measure_smaller(
    case: Case, team: Team, name: str, judged: set[int], pause: float
) -> tuple[dict[int, float], dict[int, Answer]]:
    """Seconds and answers by rows: the fits for a peer's growth, and those `judged`, which another compares with."""
    seconds, answers = {}, {}
    for rows in sorted({*case.growth_rows(name), *judged}):
        time.sleep(pause)
        reply = team.ask(name, "measure", rows)
        if reply is not None:
            seconds[rows] = reply.fit_seconds
            say(f"{case.name}: growth, {name}: {rows:,} rows, fit {reply.fit_seconds:.2f} s")
            if rows in judged and (answer := team.ask(name, "judge")):
                answers[rows] = answer
    return seconds, answers


def run_case(
    case: Case, team: Team, peer_names: list[str], repeats: int, pause: float = PAUSE_SECONDS
) -> list[PeerResult]:
    """Time the peers on a case. cssvm also fits as many rows as each limited peer, to compare their answers."""
    names = team.prepare(case, peer_names)
    measured = measure_rounds(case, team, names, repeats, pause)
    judged = {name: team.ask(name, "judge") for name in names}
    limited = {case.rows_for(name) for name in team.present(names)} - {case.n}
    smaller = {
        name: measure_smaller(case, team, name, limited if name == REFERENCE else set(), pause) for name in names
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
            answers={case.rows_for(name): judged[name]} | smaller[name][1],
        )
        for name in team.present(names)
    ]
