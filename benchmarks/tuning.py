"""Measure the tuning constants of the solvers on this machine: `python -m benchmarks.tuning`.

The first table has the costs in nanoseconds of `cssvm._solvers.dual.tuning`, fitted to times of several sizes. Only
their ratios matter. The second table varies one constant at a time and times whole solves: the best value on this
machine, and the time with the value in the code relative to that. Differences of a few percent are noise.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls
from threadpoolctl import threadpool_limits

from benchmarks.generated import clusters
from cssvm._core.margins_and_bounds import signed_terms
from cssvm._kernels import make_kernel
from cssvm._runtime import threads
from cssvm._runtime.format import aligned_table
from cssvm._runtime.sums import update_row_sum
from cssvm._solvers.dual import DualProblem, solve, solve_path, tuning
from cssvm._solvers.dual.bordered_kkt import BorderedKKT
from cssvm._solvers.dual.smo import update_by_smo
from cssvm._solvers.dual.solver import low_rank_factor, low_rank_solution

FEATURES = 20
GAMMAS = (0.2 / FEATURES, 1.0 / FEATURES, 4.0 / FEATURES)
CS = np.geomspace(0.01, 100.0, 8)
FN_COST = 4.0
STEPS = 300  # SMO steps per timing
COST_HEAD = ("cost", "in the code", "here", "here / code")
CHOICE_HEAD = (
    "constant",
    "solves",
    "in the code",
    "best here",
    "code / best",
)


class Sizes(NamedTuple):
    """Sizes of the measured problems."""

    smo_steps: Sequence[int]  # variables
    newton: Sequence[int]  # free variables
    interior: Sequence[tuple[int, int]]  # rows and features
    path_rows: int
    decomposition_rows: int
    repeats: int


INTERIOR = ((500, 5), (500, 50), (4000, 5), (4000, 50), (16_000, 5), (16_000, 100))
FULL = Sizes((256, 512, 1024, 2048, 4096), (25, 50, 100, 200, 400, 800, 1600), INTERIOR, 2500, 10_000, 5)
QUICK = Sizes((64, 128, 256), (10, 20, 40, 80), ((64, 3), (64, 10), (256, 5)), 150, 300, 1)


class Choice(NamedTuple):
    """A constant, values to try in addition to the one in the code, and the workload that depends on it."""

    constant: str
    values: Sequence[float]
    workload: str


PATH, DECOMPOSITION = "path", "decomposition"
CHOICES = (
    Choice("SHRINKING_DEPTH", (0.5, 2.0), PATH),
    Choice("SHRINKING_DEPTH", (0.5, 2.0), DECOMPOSITION),
    Choice("ACTIVE_SHARE", (0.0, 0.6, 0.7, 0.9), PATH),
    Choice("ACTIVE_SHARE", (0.0, 0.6, 0.7, 0.9), DECOMPOSITION),
    Choice("LOCAL_ACCURACY_SHARE", (0.1, 0.5), PATH),
    Choice("LOCAL_ACCURACY_SHARE", (0.1, 0.5), DECOMPOSITION),
    Choice("FIRST_WORKING_SET", (1024, 4096), DECOMPOSITION),
    Choice("KEPT_SHARE", (0.5, 0.9), DECOMPOSITION),
    Choice("SETTLED_SHARE", (0.05, 0.2), DECOMPOSITION),
    Choice("MAX_STEPS_PER_SET", (5, 10, 40), DECOMPOSITION),
    Choice("STEPS_PER_LOOK", (2, 10, 20), PATH),
    Choice("PATH_FIRST_STEPS", (0.25, 1.0), PATH),
    Choice("PATH_NEXT_STEPS", (0.1, 0.5), PATH),
    Choice("COPIED_PROBLEM", (1000, 4000), PATH),
    Choice("FIT_FIRST_STEPS", (3.0, 12.0), DECOMPOSITION),
    Choice("FIT_NEWTON_SHARE", (0.1, 0.5), DECOMPOSITION),
    Choice("PATH_NEWTON_SHARE", (1.0, 4.0), PATH),
    Choice("SMALL_SYSTEM", (250, 1000), PATH),
    Choice("FIXING_TRIALS", (2, 4), PATH),
    Choice("LARGE_FIXING_TRIALS", (4, 16), DECOMPOSITION),
    Choice("KNOWN_SHARE", (0.05, 0.5), DECOMPOSITION),
    Choice("SHORT_SHARE", (0.1, 0.5), PATH),
)


def best_seconds(call: Callable[[], object], repeats: int) -> float:
    """The shortest of several calls, after one to warm up."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def fitted(features: np.ndarray, ns: np.ndarray) -> np.ndarray:
    """Non-negative coefficients of features (k, p) for times (k,), least squares of relative errors."""
    coefficients, _ = nnls(features / ns[:, np.newaxis], np.ones(len(ns)))
    return coefficients


def gram(X: np.ndarray, gamma: float, dtype: type) -> np.ndarray:
    squared = (X**2).sum(axis=1)
    return np.exp(-gamma * np.maximum(0.0, squared[:, None] + squared - 2.0 * X @ X.T)).astype(dtype)


def problem_of(n: int, C: float = 1.0) -> tuple[np.ndarray, DualProblem]:
    data = clusters(n, 1, FEATURES, seed=0)
    y = np.where(data.y > 0, 1.0, -1.0)
    return data.X, DualProblem(*signed_terms(y, np.ones(n), C * np.where(y > 0, FN_COST, 1.0)))


def smo_step_cost(sizes: Sequence[int], repeats: int) -> tuning.SMOStepCost:
    """Time steps from zero in float32, at tolerance 0."""
    ns = []
    for n in sizes:
        X, problem = problem_of(n)
        K, ones, p = gram(X, GAMMAS[1], np.float32), np.ones(n, np.float32), problem.linear.astype(np.float32)
        count = min(STEPS, n)

        def steps(K=K, ones=ones, p=p, problem=problem, count=count, n=n):
            update_by_smo(K, ones, p.copy(), np.zeros(n), problem.lower, problem.upper, 0.0, count)

        ns.append(1e9 * best_seconds(steps, repeats) / count)
    features = np.column_stack([np.ones(len(sizes)), sizes])
    return tuning.SMOStepCost(*fitted(features, np.array(ns)).tolist())


def newton_cost(sizes: Sequence[int], repeats: int) -> tuning.NewtonCost:
    """Time the system of m of n variables and the sum of their rows, in float32, on one thread."""
    n = 5 * max(sizes)
    X, problem = problem_of(n)
    K, order = gram(X, GAMMAS[1], np.float32), np.random.default_rng(0).permutation(n)
    systems, products = [], []
    for m in sizes:
        members, total = np.sort(order[:m]), np.zeros(n)
        residual = problem.linear[members]
        systems.append(best_seconds(lambda a=members: BorderedKKT(K, a, 1e-3, np.float32), repeats))
        products.append(best_seconds(lambda a=members, g=residual, t=total: update_row_sum(t, K, a, g, 0), repeats))
    m = np.array(sizes, dtype=np.float64)
    fixed, cube, square = fitted(np.column_stack([m**0, m**3, m**2]), 1e9 * np.array(systems))
    _, product = fitted(np.column_stack([m**0, m * n]), 1e9 * np.array(products))
    return tuning.NewtonCost(float(fixed), float(cube), float(square), float(product))


def interior_cost(sizes: Sequence[tuple[int, int]], repeats: int) -> tuning.InteriorCost:
    """Time interior-point solutions of n rows and r features, the factor of K included, for each of their steps."""
    ns, features, n_steps = [], [], []
    for n, rank in sizes:
        X, problem = problem_of(n)
        X = np.random.default_rng(0).normal(size=(n, rank)) + X[:, :1]
        rows = make_kernel("linear").gram(X, upper_bounds=problem.upper - problem.lower, tol=1e-3).to_float64()

        def solution(rows=rows, problem=problem, rank=rank):
            return low_rank_solution(low_rank_factor(rows, rank), problem)

        n_steps.append(solution()[1])
        ns.append(1e9 * best_seconds(solution, repeats) / (n_steps[-1] + 1))
        features.append([1.0, n, n * rank**2])
    fixed, per_row, per_product = fitted(np.array(features), np.array(ns)).tolist()
    return tuning.InteriorCost(int(np.median(n_steps)), fixed, per_row, per_product)


def cost_rows(sizes: Sizes) -> list[list[str]]:
    with threadpool_limits(1), threads.single_threaded_blas():
        measured_costs = (
            ("SMO_STEP", tuning.SMO_STEP, smo_step_cost(sizes.smo_steps, sizes.repeats)),
            ("NEWTON", tuning.NEWTON, newton_cost(sizes.newton, sizes.repeats)),
            ("INTERIOR", tuning.INTERIOR, interior_cost(sizes.interior, sizes.repeats)),
        )
    rows = []
    for name, code, here in measured_costs:
        for field, assumed, measured in zip(code._fields, code, here, strict=True):
            rows.append([f"{name}.{field}", f"{assumed:.3g}", f"{measured:.3g}", f"{measured / assumed:.2f}"])
    return rows


@contextmanager
def constant_set(name: str, value: float) -> Iterator[None]:
    """Change a tuning constant temporarily; compiled functions take them as arguments."""
    before = getattr(tuning, name)
    setattr(tuning, name, value)
    try:
        yield
    finally:
        setattr(tuning, name, before)


def workloads(sizes: Sizes) -> dict[str, Callable[[], object]]:
    """Whole solves: a path for several gammas, and problems of more than one working set."""
    X, unit = problem_of(sizes.path_rows)
    matrices = [gram(X, gamma, np.float32) for gamma in GAMMAS]
    ones = np.ones(sizes.path_rows)
    problems = [problem_of(sizes.decomposition_rows, C) for C in (1.0, 30.0)]

    def paths() -> None:
        for K in matrices:
            for _ in solve_path(K, ones, unit, CS):
                pass

    def solves() -> None:
        for X, problem in problems:
            upper_bounds = problem.upper - problem.lower
            solve(make_kernel("rbf", gamma=GAMMAS[1]).gram(X, upper_bounds=upper_bounds, tol=1e-3), problem)

    return {PATH: paths, DECOMPOSITION: solves}


def times_of(choice: Choice, run: Callable[[], object], repeats: int) -> dict[float, float]:
    """Seconds with each value, the best of several rounds in alternating order."""
    values = [getattr(tuning, choice.constant), *choice.values]
    seconds = dict.fromkeys(values, np.inf)
    for number in range(repeats):
        for value in values if number % 2 == 0 else values[::-1]:
            with constant_set(choice.constant, value):
                start = time.perf_counter()
                run()
                seconds[value] = min(seconds[value], time.perf_counter() - start)
    return seconds


def choice_rows(sizes: Sizes, choices: Sequence[Choice]) -> list[list[str]]:
    runs = workloads(sizes)
    for run in runs.values():
        run()
    rows = []
    for choice in choices:
        seconds = times_of(choice, runs[choice.workload], sizes.repeats)
        code, best = getattr(tuning, choice.constant), min(seconds, key=lambda value: seconds[value])
        loss = seconds[code] / seconds[best]
        rows.append([choice.constant, choice.workload, f"{code:g}", f"{best:g}", f"{loss:.2f}"])
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks tuning", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="tiny problems, to test that it runs")
    parser.add_argument(
        "--constants", nargs="+", metavar="NAME", help="only these of the second table (default: all of them)"
    )
    options = parser.parse_args(arguments)
    sizes = QUICK if options.quick else FULL
    known = {choice.constant for choice in CHOICES}
    if unknown := set(options.constants or ()) - known:
        parser.error(f"unknown constants: {', '.join(sorted(unknown))}; known are {', '.join(sorted(known))}")

    print(aligned_table(cost_rows(sizes), COST_HEAD, "<>"))
    chosen = [choice for choice in CHOICES if choice.constant in (options.constants or known)]
    print(f"\nTimes of whole solves, one constant changed at a time, best of {sizes.repeats}\n")
    print(aligned_table(choice_rows(sizes, chosen), CHOICE_HEAD, "<>"))


if __name__ == "__main__":
    main()
