"""The registry of data sets: `registry.toml`, which says what its keys mean, with types."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Subset = Literal["train", "test"]

EXPERIMENTS = {
    "CSA": "class costs known",
    "CSU": "class costs unknown",
    "CSE": "a cost for every sample",
    "IDL": "imbalanced classes",
}


@dataclass(frozen=True)
class FileVersion:
    """One sequence of bytes that is accepted for a file; `path` is relative to the folder of data sets."""

    path: str
    sha256: str | None = None
    size: int | None = None
    urls: Sequence[str] = ()


@dataclass(frozen=True)
class File:
    """A file of a data set, in any of its versions: compressed or not, with or without a header or a last newline."""

    role: str
    versions: tuple[FileVersion, ...]
    subset: Subset | None = None
    instructions: str = ""

    @property
    def urls(self) -> list[str]:
        """All addresses, empty if the file cannot be downloaded."""
        return [url for version in self.versions for url in version.urls]


@dataclass(frozen=True)
class Dataset:
    """A data set, or one variant of it."""

    name: str
    title: str
    experiment: str
    n_rows: int
    n_features: int
    n_positives: int
    target_names: tuple[str, str]
    files: tuple[File, ...]
    reader: str
    source: str
    citation: str
    licence: str
    notes: str
    options: dict[str, Any] = field(default_factory=dict)
    paper: tuple[int, int] | None = None
    fn_cost: float | None = None
    fp_cost: float | None = None
    variant: str = ""
    has_split: bool = False
    substitute: bool = False

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
        """Positives to negatives: ``1 : 2.3``."""
        others = (self.n_rows - self.n_positives) / self.n_positives
        return f"1 : {others:,.0f}" if others >= 100 else f"1 : {others:.3g}"


def read_registry(path: Path) -> dict[str, tuple[Dataset, ...]]:
    """The variants of each data set, by name; the first is the default."""
    with path.open("rb") as file:
        entries = tomllib.load(file)
    return {name: tuple(_variants(name, entry)) for name, entry in entries.items()}


def _variants(name: str, entry: dict[str, Any]) -> Iterator[Dataset]:
    for own in entry.pop("variants", [{}]):
        found = entry | own
        notes = [each["notes"].strip("\n") for each in (own, entry) if "notes" in each]
        files = [
            File(**file | {"versions": tuple(FileVersion(**version) for version in file["versions"])})
            for file in found["files"]
        ]
        lists = {key: tuple(value) for key, value in found.items() if key in ("target_names", "paper")}
        texts = {"notes": "\n\n".join(notes), "citation": " ".join(found["citation"].split())}
        yield Dataset(**found | lists | texts | {"name": name, "files": tuple(files)})


DATASETS = read_registry(Path(__file__).with_name("registry.toml"))


def find_dataset(name: str, variant: str | None = None) -> Dataset:
    """The data set of this name, in this variant or the default one."""
    if name not in DATASETS:
        close = difflib.get_close_matches(str(name), DATASETS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no data set {name!r}.{hint} Known are {', '.join(DATASETS)}.")
    entries = DATASETS[name]
    if variant is None:
        return entries[0]
    for entry in entries:
        if entry.variant == variant:
            return entry
    known = ", ".join(repr(entry.variant) for entry in entries if entry.variant)
    raise ValueError(f"{name} has no variant {variant!r}; it has {known or 'no variants: leave the argument out'}.")
