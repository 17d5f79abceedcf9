"""The store: one SQLite file with every result computed so far.

A *cell* is one method and one measure on the test samples of one split of one data set. It is written in one
transaction, so that a process that is killed loses no other cell.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

SCHEMA = """
create table if not exists cells (
    dataset text, method text, measure text, repeat integer, fold integer,
    value real, seconds real, detail text,
    primary key (dataset, method, measure, repeat, fold)
);
create table if not exists plans (dataset text primary key, description text);
create table if not exists failures (
    dataset text, method text, measure text, repeat integer, fold integer, reason text,
    primary key (dataset, method, measure, repeat, fold)
);
"""


class Cell(NamedTuple):
    """One result to compute; `repeat` and `fold` identify the split."""

    dataset: str
    method: str
    measure: str
    repeat: int
    fold: int


@dataclass(frozen=True)
class Outcome:
    """A computed cell: the measure on the test samples, and details that JSON can store."""

    value: float
    seconds: float
    detail: dict[str, Any]


class Store:
    """Results on disk; a context manager that closes the file."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(path)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.executescript(SCHEMA)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def check_plan(self, dataset: str, description: str) -> None:
        """Record what the results of this set depend on; raise if the store has results of another plan."""
        found = self._connection.execute("select description from plans where dataset = ?", (dataset,)).fetchone()
        if found is None:
            with self._connection:
                self._connection.execute("insert into plans values (?, ?)", (dataset, description))
        elif found[0] != description:
            raise ValueError(
                f"The store holds results of {dataset} for another plan: {found[0]} instead of {description}. Give "
                "another folder with --out, or remove the store."
            )

    def add(self, cell: Cell, outcome: Outcome) -> None:
        """Store a result."""
        row = (*cell, outcome.value, outcome.seconds, json.dumps(outcome.detail, sort_keys=True))
        with self._connection:
            self._connection.execute("insert or replace into cells values (?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._connection.execute(f"delete from failures where {_KEY}", cell)

    def add_failure(self, cell: Cell, reason: str) -> None:
        """Store why a result could not be computed; the next run tries again."""
        with self._connection:
            self._connection.execute("insert or replace into failures values (?, ?, ?, ?, ?, ?)", (*cell, reason))

    def __contains__(self, cell: Cell) -> bool:
        return self._connection.execute(f"select 1 from cells where {_KEY}", cell).fetchone() is not None

    def outcome(self, cell: Cell) -> Outcome | None:
        """The result of a cell, or None."""
        row = self._connection.execute(f"select value, seconds, detail from cells where {_KEY}", cell).fetchone()
        return None if row is None else Outcome(row[0], row[1], json.loads(row[2]))

    def results(self) -> Iterator[tuple[Cell, Outcome]]:
        """All results, sorted by their cells."""
        order = "dataset, measure, method, repeat, fold"
        for *key, value, seconds, detail in self._connection.execute(f"select * from cells order by {order}"):
            yield Cell(*key), Outcome(value, seconds, json.loads(detail))

    def failures(self) -> list[tuple[Cell, str]]:
        """Cells that could not be computed, with the reason."""
        return [(Cell(*key), reason) for *key, reason in self._connection.execute("select * from failures")]


_KEY = "dataset = ? and method = ? and measure = ? and repeat = ? and fold = ?"
