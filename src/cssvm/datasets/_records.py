"""What is known of a data set before a byte of it is read: its files with their checksums, its figures, its origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Subset = Literal["train", "test"]
Experiment = Literal["CSA", "CSU", "CSE", "IDL"]

EXPERIMENTS: dict[str, str] = {
    "CSA": "class costs known",
    "CSU": "class costs unknown",
    "CSE": "a cost for every example",
    "IDL": "imbalanced classes",
}


@dataclass(frozen=True)
class Edition:
    """One sequence of bytes that is accepted for a file.

    path : below the cache folder, with forward slashes; sha256 : of the bytes, None where the reader checks the content
    instead; n_bytes : their number, None where it is not on record; urls : where these very bytes can be fetched, in
    the order to try, none if nowhere.
    """

    path: str
    sha256: str | None
    n_bytes: int | None
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """A file of a data set. Any of its editions will do: packed or not, with or without a header or a last newline.

    role : the name under which the reader asks for it; subset : the part of an official split that it holds, None if it
    is needed for both; by_hand : how to get it where fetching fails.
    """

    role: str
    editions: tuple[Edition, ...]
    subset: Subset | None = None
    by_hand: str = ""


Reader = Callable[[dict[str, Path], Subset | None], dict[str, Any]]


@dataclass(frozen=True)
class Dataset:
    """An entry of the registry.

    read : turns the files, by role, and a subset into the fields of a `Bunch`: ``data`` and ``target`` at least;
    n_features : columns of ``frame`` or, without one, of ``data``; target_names : words for target 0 and target 1;
    paper : rows and features in Table 1 of the paper, None for a set that is not in it; notes : what was done to the
    columns, and what a user should know.
    """

    name: str
    title: str
    experiment: Experiment
    n_rows: int
    n_features: int
    n_positives: int
    target_names: tuple[str, str]
    files: tuple[File, ...]
    read: Reader
    source: str
    citation: str
    licence: str
    notes: str
    paper: tuple[int, int] | None
    fn_cost: float | None = None
    fp_cost: float | None = None
    variant: str = ""
    has_split: bool = False
    stands_in: bool = False  # the rows of the default variant in other files

    @property
    def label(self) -> str:
        """The name, with the variant where there are several."""
        return f"{self.name} ({self.variant})" if self.variant else self.name

    @property
    def costs(self) -> str:
        """The costs in a few characters: ``5 : 1``, ``per row`` or nothing."""
        if self.experiment == "CSE":
            return "per row"
        return "" if self.fn_cost is None else f"{self.fn_cost:.3g} : {self.fp_cost:.3g}"

    @property
    def ratio(self) -> str:
        """Rows of the target class to the others, ``1 : 2.3``."""
        others = (self.n_rows - self.n_positives) / self.n_positives
        return f"1 : {others:,.0f}" if others >= 100 else f"1 : {others:.3g}"
