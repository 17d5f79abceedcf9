"""Time the metrics on a million scores, as ratios to scikit-learn's `roc_curve`: `python -m benchmarks.measures`.

Every metric looks at all thresholds after one sort, so none should take much longer than `roc_curve`. All metrics run
once per round; times are medians over the rounds. A second table has intervals of many bootstrap resamples.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median

import numpy as np
from sklearn.metrics import roc_curve

from cssvm._runtime.format import aligned_table
from cssvm.metrics import (
    bootstrap_interval,
    cost_curve,
    expected_cost_at,
    min_cost_risk,
    neyman_pearson,
    roc_convex_hull,
    tn_auc_loss,
    tp_auc_loss,
)

ROWS = 1_000_000
BOOTSTRAP_ROWS = 10_000
RESAMPLES = 1_000
REPEATS = 5
POSITIVES = 0.1
FN_COST = 9.0
LIMIT = 1.5  # of the time of a metric relative to roc_curve
BOOTSTRAP_LIMIT = 3.0  # seconds
REFERENCE = "roc_curve (scikit-learn)"
HEAD = ("metric", "seconds", "ratio", "limit", "")

Calls = Mapping[str, Callable[[], object]]


def scored_samples(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores of two overlapping normal distributions, and a cost for each sample."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < POSITIVES).astype(int)
    return y, rng.normal(size=n) + 2 * y, rng.exponential(size=n)


def ranking_calls(n: int) -> Calls:
    y, score, cost = scored_samples(n)
    levels = np.linspace(score.min(), score.max(), 100)
    return {
        REFERENCE: partial(roc_curve, y, score),
        "min_cost_risk": partial(min_cost_risk, y, score, fn_cost=FN_COST),
        "min_cost_risk, sample costs": partial(min_cost_risk, y, score, fn_cost=cost, fp_cost=cost),
        "expected_cost_at, 100 thresholds": partial(expected_cost_at, y, score, levels, fn_cost=FN_COST),
        "tp_auc_loss": partial(tp_auc_loss, y, score),
        "tn_auc_loss": partial(tn_auc_loss, y, score),
        "roc_convex_hull": partial(roc_convex_hull, y, score),
        "cost_curve": partial(cost_curve, y, score),
        "neyman_pearson": partial(neyman_pearson, y, score, max_fpr=0.01),
    }


def bootstrap_calls(n: int, n_resamples: int) -> Calls:
    y, score, cost = scored_samples(n)
    interval = partial(bootstrap_interval, y_true=y, y_score=score, n_resamples=n_resamples, random_state=0)
    return {
        "min_cost_risk, sample costs": partial(interval, min_cost_risk, fn_cost=cost, fp_cost=cost),
        "tp_auc_loss": partial(interval, tp_auc_loss),
        "tn_auc_loss": partial(interval, tn_auc_loss),
    }


def elapsed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def medians(calls: Calls, repeats: int) -> dict[str, float]:
    """Median seconds of each call. Every round has every call, so that load on the machine affects all of them."""
    rounds = [{name: elapsed(call) for name, call in calls.items()} for _ in range(repeats)]
    return {name: median(seconds[name] for seconds in rounds) for name in calls}


def verdict(value: float, limit: float) -> str:
    return "ok" if value <= limit else "miss"


def ranking_table(seconds: Mapping[str, float]) -> str:
    ratios = {name: value / seconds[REFERENCE] for name, value in seconds.items()}
    rows = [
        [
            name,
            f"{seconds[name]:.3f}",
            f"{ratio:.2f}",
            *(["", ""] if name == REFERENCE else [f"{LIMIT:g}", verdict(ratio, LIMIT)]),
        ]
        for name, ratio in ratios.items()
    ]
    return aligned_table(rows, HEAD, "<>")


def bootstrap_table(seconds: Mapping[str, float]) -> str:
    rows = [
        [name, f"{value:.2f}", "", f"{BOOTSTRAP_LIMIT:g} s", verdict(value, BOOTSTRAP_LIMIT)]
        for name, value in seconds.items()
    ]
    return aligned_table(rows, HEAD, "<>")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks measures", description="Time the metrics.")
    parser.add_argument("--rows", type=int, default=ROWS, metavar="N", help="number of scores (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N", help="rounds (default %(default)s)")
    options = parser.parse_args(arguments)

    print(f"{options.rows:,} scores, median of {options.repeats} rounds; ratio: to {REFERENCE}\n")
    print(ranking_table(medians(ranking_calls(options.rows), options.repeats)))
    rows = min(BOOTSTRAP_ROWS, options.rows)
    print(f"\nbootstrap_interval, {RESAMPLES:,} resamples of {rows:,} samples\n")
    print(bootstrap_table(medians(bootstrap_calls(rows, RESAMPLES), options.repeats)))


if __name__ == "__main__":
    main()
