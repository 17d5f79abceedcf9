"""Who runs when: every peer once per round, in alternating order, and the median over the rounds."""

import sys
import time
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.cases import Case
from benchmarks.worker import Answer, Measurement, Worker, WorkerError

# A case whose slowest fit takes longer than this gets fewer rounds: one in each order.
LONG_FIT_SECONDS = 10.0
LONG_FIT_ROUNDS = 2
# Thread pools spin for up to 0.2 s after their work; the next peer starts when they sleep.
PAUSE_SECONDS = 0.5
# A fresh virtual machine pays seconds per GB when memory is touched for the first time, once.
TOUCH_BYTES = 6 * 2**30


@dataclass(frozen=True)
class PeerResult:
    peer: str
    fit_seconds: list[float]
    predict_seconds: list[float]
    answer: Answer

    @property
    def fit_median(self) -> float:
        return median(self.fit_seconds)

    @property
    def predict_median(self) -> float:
        return median(self.predict_seconds)


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
    return min(repeats, LONG_FIT_ROUNDS) if slowest_fit > LONG_FIT_SECONDS else repeats


def start_workers(case: Case, peer_names: list[str]) -> dict[str, Worker]:
    workers = {}
    for name in peer_names:
        try:
            workers[name] = Worker(name, case)
        except WorkerError as error:
            say(f"{case.name}: {name} failed to start and is left out: {error}")
    return workers


def measure_rounds(case: Case, workers: dict[str, Worker], repeats: int) -> dict[str, list[Measurement]]:
    """All measurements of each peer; rounds alternate between the given order and its reverse."""
    measured: dict[str, list[Measurement]] = {name: [] for name in workers}
    rounds, done = repeats, 0
    while done < rounds:
        for name in list(workers) if done % 2 == 0 else list(workers)[::-1]:
            time.sleep(PAUSE_SECONDS)
            measured[name].append(workers[name].measure())
            say(f"{case.name}: round {done + 1}, {name}: fit {measured[name][-1].fit_seconds:.2f} s")
        done += 1
        rounds = rounds_for(max(m[0].fit_seconds for m in measured.values()), repeats)
    return measured


def run_case(case: Case, peer_names: list[str], repeats: int) -> list[PeerResult]:
    workers = start_workers(case, peer_names)
    try:
        measured = measure_rounds(case, workers, repeats) if workers else {}
        return [
            PeerResult(
                peer=name,
                fit_seconds=[m.fit_seconds for m in measurements],
                predict_seconds=[m.predict_seconds for m in measurements],
                answer=workers[name].judge(),
            )
            for name, measurements in measured.items()
        ]
    finally:
        for worker in workers.values():
            worker.stop()
