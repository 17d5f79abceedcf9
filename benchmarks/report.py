"""The two forms of a run: a table for people, a JSON document for programs."""

import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from benchmarks.cases import FN_COST, FP_COST, TOL, Case
from benchmarks.peers import REFERENCE
from benchmarks.timing import PeerResult

PACKAGES = ("cssvm", "numpy", "scipy", "scikit-learn", "numba", "scikit-learn-intelex", "libsvm-official")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
# A point further than this outside its constraints has an objective that cannot be compared.
INFEASIBLE = 1e-4

HEADER = (
    f"{'solver':<10}{'fit s':>9}{'ratio':>8}{'predict ms':>12}{'ratio':>8}{'support':>9}"
    f"{'dual objective':>18}{'below best':>12}{'gap':>10}"
)
LEGEND = """\
fit s, predict ms  median over the rounds; ratio: that time divided by cssvm's, so above 1 cssvm is faster
dual objective     computed for every solver by the same float64 function from its dual coefficients
below best         how far it falls short of the best solver's objective, relative
gap                cssvm's own certificate: relative difference of primal and dual objective"""


def cpu_model() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def usable_cores() -> int:
    """Cores that this process may run on, which is what a container or taskset leaves of the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def describe_run() -> dict:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "usable_cores": usable_cores(),
            "system": platform.system(),
        },
        "thread_variables": {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ},
        "versions": versions(),
        "problem": {"kernel": "rbf", "fn_cost": FN_COST, "fp_cost": FP_COST, "tol": TOL},
        "cases": [],
    }


def ratios(results: list[PeerResult]) -> dict[str, tuple[float | None, float | None]]:
    """Fit and predict time of each peer divided by cssvm's; None where cssvm is missing."""
    reference = next((r for r in results if r.peer == REFERENCE), None)
    if reference is None:
        return {r.peer: (None, None) for r in results}
    return {r.peer: (r.fit_median / reference.fit_median, r.predict_median / reference.predict_median) for r in results}


def below_best(results: list[PeerResult]) -> dict[str, float]:
    """(best - objective) / |best| of each peer, the best taken over feasible answers only."""
    feasible = [r for r in results if r.answer.infeasibility <= INFEASIBLE] or results
    best = max(r.answer.dual_objective for r in feasible)
    return {r.peer: (best - r.answer.dual_objective) / abs(best) for r in results}


def case_record(case: Case, results: list[PeerResult]) -> dict:
    """What the JSON document holds of one case."""
    ratio, short = ratios(results), below_best(results)
    return asdict(case) | {
        "gamma": case.gamma,
        "peers": [
            {
                "peer": r.peer,
                "fit_median": r.fit_median,
                "predict_median": r.predict_median,
                "fit_ratio": ratio[r.peer][0],
                "predict_ratio": ratio[r.peer][1],
                "below_best": short[r.peer],
                "fit_seconds": r.fit_seconds,
                "predict_seconds": r.predict_seconds,
                **asdict(r.answer),
            }
            for r in results
        ],
    }


def number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def case_table(case: Case, results: list[PeerResult]) -> str:
    """The printed table of one case."""
    ratio, short = ratios(results), below_best(results)
    lines = [
        f"{case.name}: n={case.n:,} d={case.d} C={case.C:g} gamma={case.gamma:g}, "
        f"{case.n_predict:,} rows predicted, {len(results[0].fit_seconds)} round(s)",
        HEADER,
        "-" * len(HEADER),
    ]
    for r in results:
        fit_ratio, predict_ratio = ratio[r.peer]
        lines.append(
            f"{r.peer:<10}{r.fit_median:>9.3f}{number(fit_ratio, '.2f'):>8}"
            f"{1e3 * r.predict_median:>12.1f}{number(predict_ratio, '.2f'):>8}{r.answer.n_support:>9,}"
            f"{r.answer.dual_objective:>18.8g}{short[r.peer]:>12.1e}"
            f"{number(r.answer.relative_gap, '.1e'):>10}"
        )
    lines += [
        f"! {r.peer} leaves its constraints by {r.answer.infeasibility:.1e} of the largest box"
        for r in results
        if r.answer.infeasibility > INFEASIBLE
    ]
    return "\n".join(lines)
