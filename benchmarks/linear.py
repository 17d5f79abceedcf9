"""Time the linear SVM against scikit-learn's linear classifiers on the same problem: `python -m benchmarks.linear`.

    minimise over w, b    1/2 |w|^2 + C sum_i cost_i max(0, 1 - y_i (w'x_i + b)),    C = 1

For each w the objective is computed with the best b, and its relative distance from the lower bound that cssvm
certifies. LinearSVC (LIBLINEAR, dual coordinate descent) regularises its bias as the weight of an additional feature of
value 1 or, less strongly, `intercept_scaling`. It and SGDClassifier run with increasing `max_iter` until they are
within 1e-4, or a fit takes longer than the limit. Each solver runs in a separate process and is warmed up; times are
medians of repeated fits. Memory is that of a fit, without data and libraries. Small problems are also solved by
Clarabel, a general QP solver.
"""

import argparse
import json
import multiprocessing
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from benchmarks import memory, report
from benchmarks.real import data_folder
from benchmarks.rows import standardise
from cssvm import CostSensitiveLinearSVC, CostSensitiveLinearSVCCV
from cssvm._runtime import threads
from cssvm._runtime.format import aligned_table
from cssvm._solvers.linear.blocks import LocalBlocks
from cssvm._solvers.linear.passes import LinearFunction, Step
from cssvm.datasets import ChecksumError, MissingDatasetError, load

C = 1.0
# Cost of a false negative, that of a false positive being 1. Type 2 is half of all samples: with 4 all would be
# predicted positive.
FN_COSTS = {"covertype-4": 4.0, "covertype-2": 1.0, "generated": 4.0}
DISTANCES = (1e-3, 1e-4)  # relative distances from the optimum that are timed
LIMIT = 60.0  # seconds, after which a peer gets no more iterations
SHORT = 5.0  # seconds, below which a fit is repeated
GENERATED = (700_000, 60)
SMALL_ROWS = 300
# LIBLINEAR's dual hinge on covtype.binary (type 2 against the rest, features in [0, 1], its own tolerance, bias
# regularised) as printed by its multicore fork on another computer; not measured here.
PUBLISHED = {"liblinear-multicore README, 1 thread": 3.4, "liblinear-multicore README, 8 threads": 2.2}
HEAD = (
    "solver",
    "setting",
    "s",
    "above optimum",
    "MB",
)


class Solver(NamedTuple):
    """A linear solver: `fit(X, y, fn_cost, setting)` for increasingly exact settings; y in {0, 1}."""

    name: str
    settings: tuple[float, ...]
    fit: Callable[[Any, Any, float, float], Any]


def _linear_svc(intercept_scaling: float) -> Callable[[Any, Any, float, float], Any]:
    def fit(X: Any, y: Any, fn_cost: float, max_iter: float) -> Any:
        settings = {"C": C, "class_weight": {0: 1.0, 1: fn_cost}, "intercept_scaling": intercept_scaling}
        return LinearSVC(loss="hinge", dual=True, tol=1e-12, max_iter=int(max_iter), random_state=0, **settings).fit(
            X, y
        )

    return fit


def _sgd(average: bool) -> Callable[[Any, Any, float, float], Any]:
    def fit(X: Any, y: Any, fn_cost: float, max_iter: float) -> Any:
        settings = {"class_weight": {0: 1.0, 1: fn_cost}, "tol": None, "max_iter": int(max_iter), "random_state": 0}
        return SGDClassifier(alpha=1.0 / (C * len(y)), average=average, **settings).fit(X, y)

    return fit


EPOCHS = (1, 3, 10, 30, 100, 300, 1000, 3000)
REFERENCE = "CostSensitiveLinearSVC"
SOLVERS = {
    solver.name: solver
    for solver in (
        Solver(
            REFERENCE,
            (1e-3, 1e-4, 1e-6),
            lambda X, y, fn_cost, tol: CostSensitiveLinearSVC(C, fn_cost=fn_cost, tol=tol).fit(X, y),
        ),
        Solver("LinearSVC", EPOCHS, _linear_svc(1.0)),
        Solver("LinearSVC, intercept_scaling=10", EPOCHS, _linear_svc(10.0)),
        Solver("SGDClassifier", EPOCHS, _sgd(False)),
        Solver("SGDClassifier, averaged", EPOCHS, _sgd(True)),
    )
}


def objective(X: np.ndarray, y: np.ndarray, w: np.ndarray, fn_cost: float) -> float:
    """The objective of w with the best b: piecewise linear in b, with a kink where a sample is at its margin."""
    signs, cost = np.where(y == 1, 1.0, -1.0), C * np.where(y == 1, fn_cost, 1.0)
    f = X @ w
    kinks = signs - f
    order = np.argsort(kinks)
    falling = cost[signs > 0].sum()  # minus the slope left of all kinks; each kink adds its cost
    b = kinks[order][np.searchsorted(np.cumsum(cost[order]), falling)]
    return float(0.5 * w @ w + cost @ np.maximum(0.0, 1.0 - signs * (f + b)))


def load_case(name: str, folder: Path | None, n: int | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Up to n samples of a case and labels 0 and 1, or None without its data."""
    if name == "generated":
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n or GENERATED[0], GENERATED[1]))
        score = X[:, :10] @ rng.normal(size=10) + 2.0 * rng.normal(size=len(X))
        return X, (score > np.quantile(score, 0.95)).astype(int)
    try:
        bunch = load("covertype", data_home=folder, download=False)
    except (MissingDatasetError, ChecksumError):
        return None
    chosen = np.random.default_rng(0).permutation(len(bunch.cover_type))[:n]
    X, kind = np.asarray(bunch.data, dtype=np.float64)[chosen], bunch.cover_type[chosen]
    return standardise(X, like=X), (kind == int(name[-1])).astype(int)


def measure(folder: str, name: str, fn_cost: float, repeats: int, limit: float) -> list[dict[str, Any]]:
    """All fits of a solver; runs in a separate process."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    solver, found = SOLVERS[name], []
    solver.fit(X[:2000], y[:2000], fn_cost, solver.settings[0])  # compiled, loaded
    if name == REFERENCE:
        solver.fit(X[:30_000], y[:30_000], fn_cost, solver.settings[0])
    before, lower = memory.settle(), float("nan")
    for setting in solver.settings:
        memory.reset_peak()
        seconds: list[float] = []
        while not seconds or (len(seconds) < repeats and seconds[0] < SHORT):
            start = time.perf_counter()
            model = solver.fit(X, y, fn_cost, setting)
            seconds.append(time.perf_counter() - start)
        peak = memory.peak()
        lower = getattr(model, "dual_objective_", lower)
        found.append(
            {
                "setting": setting,
                "seconds": median(seconds),
                "objective": objective(X, y, model.coef_[0], fn_cost),
                "lower_bound": lower,
                "n_iter": int(np.max(model.n_iter_)),
                "peak_mb": None if peak is None or before is None else (peak - before) / 2**20,
            }
        )
        if name != REFERENCE and (seconds[0] > limit or _is_near(folder, found[-1])):
            break
    return found


def _is_near(folder: str, run: dict[str, Any]) -> bool:
    """Whether a fit is within the smallest timed distance of the bound in the folder, if there is one."""
    known = Path(folder, "bound.json")
    return known.exists() and excess(run, json.loads(known.read_text())) <= DISTANCES[-1]


def excess(run: dict[str, Any], bound: float) -> float:
    return run["objective"] / bound - 1.0


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, arguments)


def case_record(name: str, X: np.ndarray, y: np.ndarray, repeats: int, limit: float) -> dict[str, Any]:
    """All solvers on one problem."""
    fn_cost = FN_COSTS[name]
    record: dict[str, Any] = {
        "name": name,
        "fn_cost": fn_cost,
        "n": len(y),
        "d": X.shape[1],
        "n_positive": int(y.sum()),
        "solvers": [],
    }
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        for solver in SOLVERS:
            runs = in_own_process(measure, folder, solver, fn_cost, repeats, limit)
            if solver == REFERENCE:
                record["bound"] = max(run["lower_bound"] for run in runs)
                Path(folder, "bound.json").write_text(json.dumps(record["bound"]))
            for run in runs:
                run["excess"] = excess(run, record["bound"])
            times = {f"seconds_to_{d:g}": _first(runs, d) for d in DISTANCES}
            record["solvers"].append({"solver": solver, "runs": runs, **times})
            print(aligned_table([cells(solver, run) for run in runs], HEAD, "<>") + "\n", flush=True)
        record["search"] = in_own_process(search_seconds, folder, fn_cost)
        record["passes"] = in_own_process(pass_seconds, folder, fn_cost, repeats)
    return record


def _first(runs: list[dict[str, Any]], distance: float) -> float | None:
    """Seconds of the fastest fit within this distance of the optimum."""
    return min((run["seconds"] for run in runs if run["excess"] <= distance), default=None)


def search_seconds(folder: str, fn_cost: float) -> dict[str, Any]:
    """The search over 10 Cs on 5 folds, with its final model."""
    X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    search = CostSensitiveLinearSVCCV(Cs=10, fn_cost=fn_cost, tol=1e-4)
    warnings.simplefilter("ignore")
    search.fit(X[:2000], y[:2000])
    start = time.perf_counter()
    search.fit(X, y)
    return {"seconds": time.perf_counter() - start, "n_models": search.n_fits_ * search.n_splits_}


def pass_seconds(folder: str, fn_cost: float, repeats: int) -> dict[str, float]:
    """Seconds of a histogram of margins, and of an interior-point iteration, on 10^6 samples."""
    X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    blocks = LocalBlocks.from_samples(X, np.where(y == 1, 1.0, -1.0), np.where(y == 1, fn_cost, 1.0))
    here, found = LinearFunction(np.full(X.shape[1], 0.01), 0.1), {}
    step = Step(LinearFunction(np.zeros(X.shape[1]), 0.0), here, here, 1.0, 1e-3)
    with threads.single_threaded_blas():
        blocks.measure(None)

        def iteration() -> None:
            blocks.predict(here, here)
            blocks.reach(step)
            blocks.measure(step)

        for name, function in {"look": lambda: blocks.margin_histogram(here), "iteration": iteration}.items():
            function()  # compiled
            seconds = []
            for _ in range(repeats):
                start = time.perf_counter()
                function()
                seconds.append(time.perf_counter() - start)
            found[name] = median(seconds) * 1e6 / len(y)
    return found


def cells(solver: str, run: dict[str, Any]) -> list[str]:
    setting = f"tol={run['setting']:g}" if solver == REFERENCE else f"max_iter={run['setting']:g}"
    peak = "" if run["peak_mb"] is None else f"{run['peak_mb']:.0f}"
    return [solver, setting, f"{run['seconds']:.3g}", f"{run['excess']:.1e}", peak]


def agreement() -> list[dict[str, Any]]:
    """Objectives of small problems compared with Clarabel: a cost and a margin for each sample, several C."""
    try:
        import cvxpy as cp
    except ImportError:  # part of the extra `test`
        return []
    rng, found = np.random.default_rng(0), []
    X = rng.normal(size=(SMALL_ROWS, 8))
    y = np.where(X[:, 0] + 0.8 * rng.normal(size=SMALL_ROWS) > 0.5, 1.0, -1.0)
    cost, kappa = rng.lognormal(0, 1, SMALL_ROWS), rng.uniform(0.2, 2.0, SMALL_ROWS)
    margins = np.where(y > 0, 1.0, kappa)
    for scale in (1e-3, 1.0, 1e3):
        model = CostSensitiveLinearSVC(scale, tol=1e-8).fit(X, y, fn_cost=cost, fp_cost=cost, kappa=kappa)
        w, b = cp.Variable(8), cp.Variable()
        loss = cost @ cp.pos(margins - cp.multiply(y, X @ w + b))
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w) / (2 * scale) + loss))
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
        difference = abs(model.primal_objective_ / (scale * problem.value) - 1.0)
        found.append({"C": scale, "n": SMALL_ROWS, "difference": difference, "gap": model.dual_gap_})
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks linear", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=list(FN_COSTS), default=list(FN_COSTS), metavar="NAME")
    parser.add_argument("--rows", type=int, metavar="N", help="largest number of samples of a case")
    parser.add_argument("--repeats", type=int, default=3, metavar="N")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="S", help="seconds of a peer's longest fit")
    parser.add_argument("--data", type=Path, metavar="PATH", help="folder of real data")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file for the results")
    parser.add_argument("--quick", action="store_true", help="tiny problems, to test that it runs")
    options = parser.parse_args(arguments)
    if options.quick:
        options.cases, options.rows, options.repeats, options.limit = ["generated"], 3000, 1, 0.05
    document = report.describe_run() | {"problem": {"C": C, "fn_costs": FN_COSTS}, "published": PUBLISHED}
    document["agreement"] = agreement()
    for each in document["agreement"]:
        print(f"Clarabel, C = {each['C']:g}: objectives differ by {each['difference']:.0e}, gap {each['gap']:.0e}")
    for name in options.cases:
        found = load_case(name, data_folder(options.data), options.rows)
        if found is None:
            print(f"{name}: skipped, its data is not available")
            continue
        print(f"\n{name}: {len(found[1]):,} x {found[0].shape[1]}, {found[1].sum():,} positive")
        document["cases"].append(case_record(name, *found, options.repeats, options.limit))
        search = document["cases"][-1]["search"]
        print(f"CostSensitiveLinearSVCCV: {search['n_models']} SVMs in {search['seconds']:.3g} s")
        look, iteration = (document["cases"][-1]["passes"][key] for key in ("look", "iteration"))
        print(f"10^6 samples: histogram of margins {look:.3g} s, iteration {iteration:.3g} s")
    if options.json is not None:
        options.json.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
