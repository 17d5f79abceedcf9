"""The results of a study, with the paper's figures and a verdict on each."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cssvm.datasets._registry import DATASETS

from .configuration import HERE, Study
from .statistics import Estimate, Ranks, corrected_estimate, friedman_ranks, wilcoxon
from .store import Cell, Outcome

PAPER_METHODS = ("BM", "BP", "CS")
AGREES, DIFFERS, NOT_COMPARED = "agrees", "differs", "cannot be compared"


class Printed(NamedTuple):
    """A figure of the paper with its number of decimals."""

    value: float
    decimals: int
    note: str


def paper_figures() -> dict[tuple[str, str, str, str], Printed]:
    """The paper's figures by table, set, method and measure."""
    with (HERE / "paper.csv").open(encoding="utf-8", newline="") as file:
        return {
            (row["table"], row["dataset"], row["method"], row["measure"]): Printed(
                float(row["value"]), len(row["value"].partition(".")[2]), row["note"]
            )
            for row in csv.DictReader(file)
        }


def paper_tables() -> dict[str, tuple[str, str, list[str]]]:
    """Caption, measure and sets of each of the paper's tables of classifiers, by its label."""
    tables: dict[str, tuple[str, str, list[str]]] = {}
    with (HERE / "paper.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["method"] in PAPER_METHODS:
                found = tables.setdefault(row["table"], (row["caption"], row["measure"], []))
                if row["dataset"] not in found[2]:
                    found[2].append(row["dataset"])
    return tables


@dataclass(frozen=True)
class Line:
    """One method on one set by one measure: our figure, the paper's, and a verdict with its reason."""

    table: str
    dataset: str
    method: str
    measure: str
    ours: Estimate | None
    paper: Printed | None
    verdict: str
    reason: str


class Ranking(NamedTuple):
    """Means of methods (columns) on sets (rows), (n_sets, n_methods), and the cost of the cheaper baseline, (n_sets,).

    n_splits : for each set, the number of splits that all methods have
    """

    methods: list[str]
    sets: list[str]
    values: NDArray[np.float64]
    baseline: NDArray[np.float64]
    n_splits: list[int]

    @property
    def ranks(self) -> Ranks:
        """Mean ranks over the sets, with the difference beyond chance."""
        return friedman_ranks(np.round(self.values, 9))


class Results:
    """The values of a store, by set, method and measure."""

    def __init__(self, study: Study, cells: Iterable[tuple[Cell, Outcome]]):
        self.study = study
        self.values: dict[tuple[str, str, str], dict[tuple[int, int], float]] = defaultdict(dict)
        self.shares: dict[str, float] = {}
        self.baseline: dict[str, dict[tuple[int, int], float]] = defaultdict(dict)  # cost of the cheaper baseline
        self.times: dict[tuple[str, str], list[float]] = defaultdict(list)  # seconds by method and measure
        for cell, outcome in cells:
            self.values[cell.dataset, cell.method, cell.measure][cell.repeat, cell.fold] = outcome.value
            self.times[cell.method, cell.measure].append(outcome.seconds)
            if "n_train" in outcome.detail:
                self.shares[cell.dataset] = outcome.detail["n_test"] / outcome.detail["n_train"]
            if "baseline" in outcome.detail:
                self.baseline[cell.dataset][cell.repeat, cell.fold] = outcome.detail["baseline"]

    def estimate(self, dataset: str, method: str, measure: str) -> Estimate | None:
        """Mean over the splits, or None without results."""
        values = self.values.get((dataset, method, measure))
        return None if not values else corrected_estimate(list(values.values()), self.shares.get(dataset, 1.0))

    def difference(self, dataset: str, first: str, second: str, measure: str) -> Estimate | None:
        """Mean of the paired differences first - second, over the splits that both have."""
        one, other = (self.values.get((dataset, method, measure), {}) for method in (first, second))
        both = sorted(one.keys() & other.keys())
        if not both:
            return None
        return corrected_estimate([one[key] - other[key] for key in both], self.shares.get(dataset, 1.0))

    def sets(self, measure: str) -> list[str]:
        """Sets with results by this measure, in the order of the study."""
        found = {dataset for dataset, _, own in self.values if own == measure}
        return [plan.name for plan in self.study.plans if plan.name in found]

    def ranking(self, measure: str) -> Ranking | None:
        """Ranks of all methods over the sets on which all of them ran; None for fewer than three methods or sets.

        Means are over the splits that all methods have, so that all are scored on the same samples.
        """
        sets = self.sets(measure)
        methods = [name for name in self.study.methods if any((each, name, measure) in self.values for each in sets)]
        common = {each: self._common_splits(each, methods, measure) for each in sets}
        complete = [each for each in sets if common[each]]
        if len(methods) < 3 or len(complete) < 3:
            return None
        means = [
            [np.mean([self.values[each, method, measure][key] for key in common[each]]) for method in methods]
            for each in complete
        ]
        baseline = [np.mean([self.baseline[each].get(key, np.nan) for key in common[each]]) for each in complete]
        return Ranking(methods, complete, np.array(means), np.array(baseline), [len(common[each]) for each in complete])

    def _common_splits(self, dataset: str, methods: list[str], measure: str) -> list[tuple[int, int]]:
        found = [self.values.get((dataset, method, measure), {}) for method in methods]
        return sorted(set.intersection(*(set(values) for values in found)))

    def lines(self, table: str) -> list[Line]:
        """The lines of one of the paper's tables."""
        _, measure, sets = paper_tables()[table]
        printed = paper_figures()
        return [
            self._line(table, dataset, method, measure, printed.get((table, dataset, method, measure)))
            for dataset in sets
            for method in PAPER_METHODS
        ]

    def _line(self, table: str, dataset: str, method: str, measure: str, printed: Printed | None) -> Line:
        ours = self.estimate(dataset, method, measure)
        verdict, reason = compare_with_paper(dataset, ours, printed)
        return Line(table, dataset, method, measure, ours, printed, verdict, reason)

    def over_sets(self, first: str, second: str, measure: str) -> tuple[float, int, int, int]:
        """Wilcoxon's p over sets, and on how many the first is smaller, equal and larger in the mean."""
        pairs = [
            (one.mean, other.mean)
            for dataset in self.sets(measure)
            if (one := self.estimate(dataset, first, measure)) and (other := self.estimate(dataset, second, measure))
        ]
        if not pairs:
            return np.nan, 0, 0, 0
        apart = np.array([one - other for one, other in pairs])
        close = np.abs(apart) < 1e-9
        p_value = wilcoxon(np.where(close, 0.0, apart), np.zeros(len(apart)))
        return p_value, int((apart[~close] < 0).sum()), int(close.sum()), int((apart[~close] > 0).sum())


def compare_with_paper(dataset: str, ours: Estimate | None, printed: Printed | None) -> tuple[str, str]:
    """Whether the paper's figure lies in our interval, up to its printed digits; and the reason if not, where known."""
    entry = DATASETS[dataset][0]
    if ours is None:
        return NOT_COMPARED, "not run"
    if printed is None:
        return NOT_COMPARED, "not in the paper"
    if entry.paper is not None and entry.n_rows < 0.5 * entry.paper[0]:
        return NOT_COMPARED, f"{entry.n_rows:,} of the paper's {entry.paper[0]:,} rows"
    rounding = 0.5 * 10.0**-printed.decimals
    if np.isnan(ours.low):
        close = abs(ours.mean - printed.value) <= rounding
        return (AGREES, "") if close else (DIFFERS, "one split, no interval" + _and(printed.note))
    if ours.low - rounding <= printed.value <= ours.high + rounding:
        return AGREES, printed.note
    return DIFFERS, printed.note or "split, grid and scaling of the paper are not printed"


def _and(note: str) -> str:
    return f"; {note}" if note else ""


def title_of(dataset: str) -> str:
    """The title of a set without parentheses."""
    return re.sub(r"\s*\(.*?\)", "", DATASETS[dataset][0].title)
