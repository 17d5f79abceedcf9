"""The JSON record of a run: machine, versions, and for each case the times and objectives of all peers."""

import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.cases import FP_COST, TOL, Case
from benchmarks.peers import CACHE_MB, REFERENCE
from benchmarks.timing import PeerResult
from benchmarks.worker import Answer

PACKAGES = ("cssvm", "numpy", "scipy", "scikit-learn", "numba", "scikit-learn-intelex", "libsvm-official")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
# Objectives of points that violate their constraints by more than this cannot be compared.
INFEASIBLE = 1e-4
# A ratio reaches its goal only if the objective of cssvm is at most this far below the best, relative.
SAME_OPTIMUM = 1e-6
# Memory that a fit may take in addition to its cache.
MEMORY_ALLOWANCE_MB = 300
MEGABYTE = 2**20


def cpu_model() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MEGABYTE
    except (AttributeError, OSError, ValueError):
        return None


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def describe_run() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "usable_cores": usable_cores(),
            "memory_mb": memory_mb(),
            "system": platform.system(),
        },
        "thread_variables": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "versions": versions(),
        "problem": {"fp_cost": FP_COST, "tol": TOL, "peers_cache_mb": CACHE_MB},
        "cases": [],
    }


def quotient(above: float | None, below: float | None) -> float | None:
    return None if above is None or below is None else above / below


def below_best(results: list[PeerResult], rows: int) -> dict[str, float]:
    """(best - objective) / |best| of each peer that fitted this number of samples; the best is feasible."""
    answers = {r.peer: r.answers[rows] for r in results if rows in r.answers}
    feasible = [a for a in answers.values() if a.infeasibility <= INFEASIBLE] or list(answers.values())
    best = max(answer.dual_objective for answer in feasible)
    return {peer: (best - answer.dual_objective) / abs(best) for peer, answer in answers.items()}


def verdict(ratio: float | None, goal: float | None, same_optimum: bool) -> str | None:
    """Whether a ratio reaches its goal at the same optimum; None without goal or ratio."""
    if ratio is None or goal is None:
        return None
    return "ok" if ratio >= goal and same_optimum else "miss"


def peer_record(case: Case, result: PeerResult, results: list[PeerResult]) -> dict[str, Any]:
    """One peer in one case. Ratios are its time divided by that of cssvm."""
    reference = next((r for r in results if r.peer == REFERENCE), None)
    short = below_best(results, result.rows)
    same_optimum = short.get(REFERENCE, 0.0) <= SAME_OPTIMUM
    fit_ratio = quotient(result.fit_at_n, reference and reference.fit_at_n)
    predict_ratio = quotient(result.predict_median, reference and reference.predict_median)
    fit_goal, predict_goal = case.goals.get(result.peer), case.predict_goals.get(result.peer)
    answer: Answer = result.answer
    return {
        "peer": result.peer,
        "rows": result.rows,
        "extrapolated": result.extrapolated,
        "fit_at_n": result.fit_at_n,
        "fit_ratio": fit_ratio,
        "fit_goal": fit_goal,
        "fit_verdict": verdict(fit_ratio, fit_goal, same_optimum),
        "fit_ratio_at_rows": quotient(result.fit_median, reference and reference.seconds_at(result.rows)),
        "predict_median": result.predict_median,
        "predict_ratio": predict_ratio,
        "predict_goal": predict_goal,
        "predict_verdict": verdict(predict_ratio, predict_goal, same_optimum),
        "growth": result.growth,
        "peak_mb": None if result.peak_bytes is None else result.peak_bytes / MEGABYTE,
        "below_best": short[result.peer],
        "reference_below_best": short.get(REFERENCE),
        "fit_median": result.fit_median,
        "fit_seconds": result.fit_seconds,
        "predict_seconds": result.predict_seconds,
        "smaller_fits": [{"rows": rows, "fit_seconds": seconds} for rows, seconds in sorted(result.smaller.items())],
        **asdict(answer),
    }


def case_record(case: Case, results: list[PeerResult]) -> dict[str, Any]:
    """The record of one case."""
    return asdict(case) | {
        "memory_limit_mb": None if case.cache_mb is None else case.cache_mb + MEMORY_ALLOWANCE_MB,
        "peers": [peer_record(case, result, results) for result in results],
    }
