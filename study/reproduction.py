"""`reproduce`: run or resume a study, and write its tables and figures."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cssvm.datasets import MissingDatasetError

from .authors import authors_table
from .authors_rows import authors_rows_table
from .configuration import FULL, QUICK, Study
from .pages import Table, all_tables, as_csv, as_html, as_latex, as_markdown
from .runner import run
from .store import Cell, Store
from .summary import Results

STORE = "store.sqlite"
Report = Callable[[int, int, Cell | None], None]


def reproduce(
    out: str | os.PathLike[str],
    *,
    study: Study | str = "quick",
    sets: list[str] | None = None,
    figures: bool = True,
    data_home: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    report: Report = lambda done, total, cell: None,
) -> Results:
    """Run or resume the paper's study, and write its tables and figures.

    Parameters
    ----------
    out : path-like
        The folder for the store, the tables and the figures. An interrupted study in it is resumed.
    study : {"quick", "full"} or Study, default="quick"
        Small sets in minutes, or everything; or a study read from a file, ``Study.read(path)``.
    sets : list of str, default=None
        Data sets of the study to run; None for all.
    figures : bool, default=True
        Whether to draw the figures, which needs matplotlib.
    data_home : path-like, default=None
        The folder of the data sets, as in `cssvm.datasets.load`.
    n_jobs : int, default=-1
        Number of processes; -1 for one per core.
    report : callable
        Called with the number of results computed, their total, and the last `Cell`.

    Returns
    -------
    Results
        The results.

    Examples
    --------
    >>> from study import reproduce
    >>> results = reproduce("reproduction", sets=["heart"])  # doctest: +SKIP
    """
    if isinstance(study, str):
        study = named_study(study)
    study, folder = study.restricted(sets), Path(out)
    home = None if data_home is None else os.fspath(data_home)
    with Store(folder / STORE) as store:
        run(study, store, data_home=home, n_jobs=n_jobs, report=report)
        results = Results(study, store.results())
        failures = store.failures()
    drawn = _figures(folder, results, home) if figures else {}
    write_tables(folder, all_tables(results) + _authors(study, home) + _missing(failures), drawn, study.name)
    return results


def named_study(name: str) -> Study:
    """The study of this name."""
    studies = {"quick": QUICK, "full": FULL}
    if name not in studies:
        raise ValueError(f"study must be one of {list(studies)} or a Study; got {name!r}. Read a file with Study.read.")
    return Study.read(studies[name])


def _figures(folder: Path, results: Results, data_home: str | None) -> dict[str, str]:
    from .figures import draw_figures

    return draw_figures(folder / "figures", results, data_home)


def _authors(study: Study, data_home: str | None) -> list[Table]:
    """The authors' run on German credit, if that is part of the study and their split is available."""
    if all(plan.name != "german_credit" for plan in study.plans):
        return []
    try:
        return [authors_table(data_home=data_home), authors_rows_table(data_home=data_home)]
    except MissingDatasetError:
        return []


def _missing(failures: list[tuple[Cell, str]]) -> list[Table]:
    """The results that could not be computed, with the reasons."""
    found = sorted({(cell.dataset, reason) for cell, reason in failures})
    return [Table("missing", "Not computed", ["set", "reason"], [list(each) for each in found])] if found else []


def write_tables(folder: Path, tables: list[Table], drawn: dict[str, str], name: str) -> None:
    """Write every table in every format, and one page with all tables and figures."""
    where = folder / "tables"
    where.mkdir(parents=True, exist_ok=True)
    for table in tables:
        for ending, layout in (("md", as_markdown), ("csv", as_csv), ("tex", as_latex)):
            (where / f"{table.name}.{ending}").write_text(layout(table), encoding="utf-8")
    (folder / "index.html").write_text(
        as_html(tables, drawn, f"Cost-sensitive SVM: the {name} study"), encoding="utf-8"
    )
    (folder / "tables.md").write_text("\n".join(as_markdown(table) for table in tables), encoding="utf-8")


class Progress:
    """A `report` that writes a line with the progress and the remaining time."""

    def __init__(self, write: Callable[[str], Any]):
        self.write, self.start, self.first = write, time.monotonic(), 0

    def __call__(self, done: int, total: int, cell: Cell | None) -> None:
        """Write a line."""
        if cell is None:
            self.first = done
            self.write(f"{done} of {total} results are stored already; data sets without files are left out")
            return
        seconds, computed = time.monotonic() - self.start, max(1, done - self.first)
        left = seconds / computed * (total - done)
        what = f"{cell.dataset} {cell.method} {cell.measure}"
        self.write(f"{done}/{total}  {what:40.40}  {left / 60:5.1f} min left")
