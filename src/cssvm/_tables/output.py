"""Output of predictions: the standard output, a CSV, a Parquet file, or a folder of Parquet; whole or not at all.

A name that ends in a slash is a folder, new or empty, that gets ``part-00000.parquet`` and so on, one for each part of
the table. Strings in a CSV that a spreadsheet would take for formulas get an apostrophe, unless formulas are allowed.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from .._runtime.files import atomic_write, check_writable, is_special_file, temporary_path
from .chunk import TableError

if TYPE_CHECKING:
    import pyarrow as pa

STDOUT = "-"
PARQUET, PACKED = (".parquet", ".pq"), ".gz"
QUOTED = "\r\n"  # the characters that end a line for readers; csv quotes entries that hold one of its line terminator
# What spreadsheets evaluate: text that begins so and is no number. A sign alone is not evaluated.
FORMULA = re.compile(r"(?![+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$)[=+\-@\t\r].", re.DOTALL)
Write = Callable[[Any], None]


@dataclass(frozen=True)
class Destination:
    """A place for tables of one schema: `write` takes them one by one, or a `folder` has a file for each part."""

    write: Write | None = None
    folder: Path | None = None

    def file(self, number: int) -> str | None:
        """The file of a part, if there is one for each."""
        return None if self.folder is None else str(self.folder / f"part-{number:05}.parquet")

    def part(self, number: int) -> Any:
        """A context with the function that writes the tables of a part."""
        file = self.file(number)
        return nullcontext(self.write) if file is None else parquet_file(file)


def is_folder(out: Any) -> bool:
    """Whether the name of an output is that of a folder."""
    return str(out).endswith(("/", os.sep))


def check_output(out: Any, **inputs: Any) -> None:
    """Raise OSError or ValueError if `out` cannot be written, before the work whose result it is to hold."""
    if str(out) == STDOUT:
        if sys.stdout is None:
            raise TableError("the standard output is closed. Give a file for the decisions, with --out.")
        return
    path = Path(out)
    if path.suffix.lower() == PACKED and Path(path.stem).suffix.lower() in PARQUET:
        raise TableError(f"{path}: Parquet is compressed already. Omit {PACKED} from the name.")
    if not is_folder(out):
        check_writable(path, **inputs)
    elif is_special_file(path) or (path.exists() and (not path.is_dir() or any(path.iterdir()))):
        raise FileExistsError(f"{path} is there already, and not an empty folder. Give the name of a new folder.")
    else:
        check_writable(temporary_path(path))


@contextmanager
def open_output(out: Any, *, allow_formulas: bool = False) -> Iterator[Destination]:
    """Yield the destination called `out`, where everything appears if the block succeeds, and nothing otherwise."""
    if str(out) == STDOUT:
        with _writer(sys.stdout.buffer, parquet=False, allow_formulas=allow_formulas) as write:
            yield Destination(write)
    elif is_folder(out):
        with _whole_folder(Path(out)) as folder:
            yield Destination(folder=folder)
    else:
        path = Path(out)
        kind = path.suffix.lower()
        with (
            atomic_write(path) as file,
            # Without a name and a time in its head, so that the same rows give the same bytes.
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) if kind == PACKED else nullcontext(file) as content,
            _writer(content, parquet=kind in PARQUET, allow_formulas=allow_formulas) as write,
        ):
            yield Destination(write)


@contextmanager
def parquet_file(path: str) -> Iterator[Write]:
    """Yield a function that writes tables to a Parquet file."""
    with atomic_write(Path(path)) as file, _writer(file, parquet=True) as write:
        yield write


@contextmanager
def _whole_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder, renamed to `path` if the block succeeds and removed otherwise."""
    path = path.resolve()  # workers of a cluster have folders of their own to start from
    temporary = temporary_path(path)
    temporary.mkdir()
    try:
        yield temporary
        for unfinished in temporary.glob(".*"):  # of workers that died
            unfinished.unlink()
        if path.exists():
            path.rmdir()
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


@contextmanager
def _writer(file: Any, *, parquet: bool, allow_formulas: bool = False) -> Iterator[Callable[[pa.Table], None]]:
    """Yield a function that writes tables of one schema one after the other."""
    writers: list[Any] = []

    def write(rows: pa.Table) -> None:
        if not writers and parquet:
            import pyarrow.parquet as pq

            writers.append(pq.ParquetWriter(file, rows.schema))
        elif not writers:
            writers.append(_CsvWriter(file, rows.column_names, allow_formulas))
        writers[0].write_table(rows)

    try:
        yield write
    finally:
        for each in writers:
            each.close()


class _CsvWriter:
    """Quotes only where needed, as Arrow's writer does not, and numbers that read back to the last bit."""

    def __init__(self, file: IO[bytes], names: list[str], allow_formulas: bool):
        self.cell: Callable[[Any], Any] = (lambda value: value) if allow_formulas else escape_formula
        self.text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        self.rows = csv.writer(self, lineterminator=QUOTED)
        self.rows.writerow(map(self.cell, names))

    def write(self, row: str) -> None:
        """A row, with a line feed at its end."""
        self.text.write(row.removesuffix(QUOTED) + "\n")

    def write_table(self, rows: pa.Table) -> None:
        self.rows.writerows(zip(*(map(self.cell, column.to_pylist()) for column in rows.columns), strict=True))

    def close(self) -> None:
        self.text.detach()  # flushes, and leaves the file open


def escape_formula(value: Any) -> Any:
    """The value, with an apostrophe in front of a string that a spreadsheet would evaluate."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value
