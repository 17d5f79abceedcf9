"""The runner computes the cells of a study that its store does not have yet, in parallel, and stores each at once.

A killed study can be resumed with identical results: a cell depends on its parameters and on the stored details of the
methods that it needs, never on the order in which cells are computed.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from joblib import Parallel, delayed

from cssvm.datasets import MissingDatasetError, fetch

from . import kdd98
from .comparators import COMPARATORS
from .configuration import MEASURES, SetPlan, Study
from .methods import METHODS as PAPER_METHODS
from .methods import Task, rounded
from .protocol import make_split, split_numbers
from .store import Cell, Outcome, Store

METHODS = PAPER_METHODS | COMPARATORS
VARIANTS = {"kdd98": kdd98.VARIANT}  # of data sets, where it is not the default


def cells_of(study: Study, plan: SetPlan, experiment: str) -> list[Cell]:
    """All cells of one set, those that others need first."""
    if experiment == "CSE":
        return [Cell(plan.name, method, "income", *split) for method in kdd98.METHODS for split in split_numbers(plan)]
    methods = [name for name in METHODS if name in (plan.methods or study.methods) and name in study.methods]
    methods.sort(key=lambda name: len(METHODS[name].needs))
    return [
        Cell(plan.name, method, measure, repeat, fold)
        for method in methods
        for measure in MEASURES[experiment]
        if measure in METHODS[method].measures
        for repeat, fold in split_numbers(plan, comparator=method in COMPARATORS)
    ]


def run(
    study: Study,
    store: Store,
    *,
    data_home: str | None = None,
    n_jobs: int = -1,
    report: Callable[[int, int, Cell | None], None] = lambda done, total, cell: None,
) -> None:
    """Compute the missing cells; failures, such as data sets that are not available, are recorded in the store.

    report : called with the number of cells computed, the number of cells whose data is available, and the last cell
    """
    experiments = _experiments()
    waves: list[list[tuple[SetPlan, Cell]]] = [[], []]
    total = done = 0
    for plan in study.plans:
        store.check_plan(plan.name, study.describe(plan))
        cells = cells_of(study, plan, experiments[plan.name])
        missing = [cell for cell in cells if cell not in store]
        total, done = total + len(cells), done + len(cells) - len(missing)
        reason = _why_absent(plan.name, data_home) if missing else ""
        for cell in missing:
            if reason:
                store.add_failure(cell, reason)
                total -= 1
            else:
                waves[bool(_needs(cell))].append((plan, cell))
    report(done, total, None)
    for wave in waves:
        for cell, outcome, reason in _computed(study, store, wave, data_home, n_jobs):
            if outcome is None:
                store.add_failure(cell, reason)
            else:
                store.add(cell, outcome)
            done += 1
            report(done, total, cell)


def _why_absent(name: str, data_home: str | None) -> str:
    """Why the files of a set are not available, empty if they are; called once, since failing downloads are slow."""
    try:
        fetch(name, variant=VARIANTS.get(name), data_home=data_home, download=data_home is None)
    except MissingDatasetError as error:
        return str(error)
    return ""


def _needs(cell: Cell) -> tuple[str, ...]:
    """The methods whose details this cell needs."""
    return METHODS[cell.method].needs if cell.method in METHODS else ()


def _experiments() -> dict[str, str]:
    from cssvm.datasets._registry import DATASETS

    return {name: entries[0].experiment for name, entries in DATASETS.items()}


def _computed(
    study: Study, store: Store, wave: list[tuple[SetPlan, Cell]], data_home: str | None, n_jobs: int
) -> Iterator[tuple[Cell, Outcome | None, str]]:
    """The cells of a wave as they are computed, in any order."""
    calls = []
    for plan, cell in wave:
        needed = {name: store.outcome(cell._replace(method=name)) for name in _needs(cell)}
        if any(outcome is None for outcome in needed.values()):
            yield cell, None, f"needs {', '.join(needed)}, which failed"
            continue
        before = {name: outcome.detail for name, outcome in needed.items() if outcome is not None}
        calls.append(delayed(compute)(study, plan, cell, before, data_home))
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(calls)


def compute(
    study: Study, plan: SetPlan, cell: Cell, before: dict[str, dict[str, Any]], data_home: str | None
) -> tuple[Cell, Outcome | None, str]:
    """One cell; an error is returned as a string, so that it does not end the study."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, detail = _measured(study, plan, cell, before, data_home)
    except MissingDatasetError as error:
        return cell, None, str(error)
    except Exception as error:  # recorded as a failure
        return cell, None, f"{type(error).__name__}: {error}"
    return cell, Outcome(rounded(value), time.perf_counter() - start, detail), ""


def _measured(
    study: Study, plan: SetPlan, cell: Cell, before: dict[str, dict[str, Any]], data_home: str | None
) -> tuple[float, dict[str, Any]]:
    """The value of a cell and its details."""
    if cell.measure == "income":
        seed = study.seed + 1000 * cell.repeat
        return kdd98.run_method(cell.method, folds=plan.folds, fold=cell.fold, seed=seed, data_home=data_home)
    split = make_split(study, plan, cell.repeat, cell.fold, data_home)
    return METHODS[cell.method].run(Task(split, cell.measure, study.grids, before))
