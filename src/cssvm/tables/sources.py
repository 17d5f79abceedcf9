"""Where tables come from: CSV, Parquet, LIBSVM text, data frames; read as a whole or a chunk at a time.

The content decides what a file is, not its name:

    Parquet   a folder, or a file that begins with PAR1
    LIBSVM    lines of a label and index:value pairs, counted from 1
    CSV       anything else: UTF-8 with a header, separated by commas, or by semicolons or tabs if that has no comma

A file that begins as gzip does is unpacked first; "-" is the standard input. Entries of text files stay as they were
written until a column is asked for as numbers or as words (`chunk.py`).
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..runtime.parquet import table_columns
from .chunk import Chunk, TableError, check_names
from .parquet import ParquetPart, parquet_parts

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 50_000
STDIN = "-"
LABEL = "label"  # the one named column of LIBSVM text
HEAD = 2**20  # bytes looked at to tell what a file is; the header of a CSV must fit
BLOCK = 2**21  # bytes of a CSV parsed at a time, some of them ahead; a row must fit
CHUNK_BYTES = 2**24  # of entries as text; a chunk of many columns has fewer rows
SEPARATORS = ",;\t"
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
SPARSE_ROW = re.compile(rb"\s*[+-]?[0-9.][^\s,:]*(\s+qid:[0-9]+)?(\s+[0-9]+:[^\s,:]+)*\s*(#.*)?")
LINES_LOOKED_AT = 20
UNREADABLE = (OSError, EOFError, zlib.error)  # the latter two of damaged gzip
WRONG_LENGTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


@dataclass(frozen=True)
class Source:
    """A table that has not been read yet: `read(n)` yields chunks of at most n rows, once for a stream.

    parquet : its path, if it is Parquet.
    """

    name: str
    read: Callable[[int], Iterator[Chunk]]
    parquet: Any = None

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """The rows, at most `n_rows` at a time; a table without any is refused."""
        first = 1
        try:
            for chunk in self.read(n_rows):
                if len(chunk):
                    yield replace(chunk, first=first)
                first += len(chunk)
        except UNREADABLE as error:
            raise _unreadable(self.name, error) from error
        if first == 1:
            raise self._empty()

    def parts(self) -> Sequence[Source | ParquetPart]:
        """What can be read apart, each with its `chunks`: the parts of Parquet, or all that there is."""
        if self.parquet is None:
            return [self]
        try:
            parts = parquet_parts(self.parquet, self.name)
        except UNREADABLE as error:
            raise _unreadable(self.name, error) from error
        if not parts:
            raise self._empty()
        return parts

    def _empty(self) -> TableError:
        return TableError(f"{self.name} has no rows. Give a table with a header and at least one row.")

    def whole(self) -> Chunk:
        """All rows."""
        import pyarrow as pa

        chunks = list(self.chunks())
        rows = pa.concat_tables([chunk.rows for chunk in chunks])
        return replace(chunks[0], rows=rows, sparse=_stacked([chunk.sparse for chunk in chunks]))


def open_table(data: Any) -> Source:
    """The source of a path, "-" for the standard input, or a data frame of pandas, polars or Arrow."""
    _require_arrow()
    if not isinstance(data, str | Path):
        return _of_frame(data)
    name = "standard input" if str(data) == STDIN else str(data)
    if str(data) != STDIN and Path(data).is_dir():
        return _parquet(data, name)
    try:
        stream = _stream(sys.stdin.buffer if str(data) == STDIN else io.FileIO(data))
        head = stream.peek(HEAD)[:HEAD]
    except UNREADABLE as error:
        raise _unreadable(name, error) from error
    if head.startswith(PARQUET):
        if str(data) == STDIN:
            raise TableError("Parquet cannot be read from the standard input. Give the file itself.")
        stream.close()
        return _parquet(data, name)
    kind = _libsvm if _is_libsvm(head) else _csv
    return Source(name, lambda n_rows: kind(stream, head, name, n_rows))


def _stream(raw: Any) -> io.BufferedReader:
    """Bytes that can be looked at before they are read, unpacked."""
    stream = io.BufferedReader(raw, HEAD)
    if stream.peek(len(GZIP)).startswith(GZIP):
        unpacked: Any = gzip.GzipFile(fileobj=stream)
        stream = io.BufferedReader(unpacked, HEAD)
    return stream


def _of_frame(data: Any) -> Source:
    import pyarrow as pa

    try:
        if hasattr(data, "iloc"):
            rows = pa.Table.from_pandas(data.rename(columns=str), preserve_index=False)
        else:
            rows = pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"data must be a path or a data frame whose columns each hold one type; got {type(data).__name__}: {error}"
        ) from error
    columns = table_columns(rows.column_names)
    check_names(columns, "the data frame")
    rows = rows.select(columns)
    return Source("the data frame", lambda n_rows: _sliced(rows, "the data frame", n_rows, typed=True))


def _parquet(path: Any, name: str) -> Source:
    def read(n_rows: int) -> Iterator[Chunk]:
        for part in parquet_parts(path, name):
            yield from part.chunks(n_rows)

    return Source(name, read, path)


def _sliced(rows: pa.Table, name: str, n_rows: int, *, typed: bool) -> Iterator[Chunk]:
    for start in range(0, rows.num_rows, n_rows):
        yield Chunk(name, rows.slice(start, n_rows), typed)


def _csv(stream: BinaryIO, head: bytes, name: str, n_rows: int) -> Iterator[Chunk]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    header, separator = _header(head, name)
    options = {
        "read_options": arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK),
        "parse_options": arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
        ),
    }
    named = [k for k, column in enumerate(header) if column.strip()]
    try:
        for rows in _gathered(arrow_csv.open_csv(stream, **options), n_rows):
            rows = rows.select(named).rename_columns([header[k].strip() for k in named])
            yield from _sliced(rows, name, n_rows, typed=False)
    except pa.ArrowInvalid as error:
        raise _csv_error(error, name) from error


def _gathered(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.Table]:
    """Batches joined until they have enough rows or bytes."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= n_rows or sum(each.nbytes for each in waiting) >= CHUNK_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


def _header(head: bytes, name: str) -> tuple[list[str], str]:
    """The names of a CSV's columns as they are written, and what separates them."""
    try:
        text = head.decode("utf-8-sig", errors="strict" if len(head) < HEAD else "ignore")
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is no UTF-8 text. {CONVERT}") from error
    lines = [line for line in text.splitlines(keepends=True) if line.strip()]
    if not lines:
        raise TableError(f"{name} is empty. Give a table with a header and at least one row.")
    separator = next((mark for mark in SEPARATORS if mark in lines[0]), ",")
    header = next(csv.reader(lines, delimiter=separator))
    check_names([column.strip() for column in header if column.strip()], name)
    return header, separator


def _csv_error(error: Exception, name: str) -> TableError:
    """What is wrong with a CSV, in the row numbers of this library: the header is not counted."""
    said = str(error)
    found = WRONG_LENGTH.search(said)
    if found:
        row, expected, got = map(int, found.groups())
        return TableError(
            f"{name} has {got} entries in row {row - 1:,} but {expected} columns. Quote entries that hold the "
            "separator."
        )
    if "UTF8" in said:
        return TableError(f"{name} is no UTF-8 text. {CONVERT}")
    return TableError(f"{name} is no CSV that can be read: {_first_line(error)}")


CONVERT = "Convert it, for example with iconv -f latin1 -t utf-8."


def _is_libsvm(head: bytes) -> bool:
    """Whether the first lines are all labels with index:value pairs, at least one of them with a pair."""
    lines = head.splitlines() if len(head) < HEAD else head.splitlines()[:-1]
    looked_at = [line for line in lines if line.strip()][:LINES_LOOKED_AT]
    return all(SPARSE_ROW.fullmatch(line) for line in looked_at) and any(b":" in line for line in looked_at)


def _libsvm(stream: BinaryIO, head: bytes, name: str, n_rows: int) -> Iterator[Chunk]:
    import numpy as np
    import pyarrow as pa
    from sklearn.datasets import load_svmlight_file

    first = 1
    while lines := list(islice(stream, n_rows)):
        try:
            X, labels = load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
        except ValueError as error:
            raise TableError(f"{name} is no LIBSVM text after row {first - 1:,}: {_first_line(error)}") from error
        if X.shape[1] and X[:, 0].nnz:
            raise TableError(f"{name} holds an index 0; indices of LIBSVM text are counted from 1.")
        X = X[:, 1:].tocsr()
        labels = labels.astype(np.int64) if not (labels % 1).any() else labels
        yield Chunk(name, pa.table({LABEL: labels}), sparse=X)
        first += len(labels)


def _stacked(parts: list[Any]) -> Any:
    """Sparse rows below each other, as wide as the widest of them; None if there are none."""
    import scipy.sparse as sp

    if any(part is None for part in parts):
        return None
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return sp.vstack(parts, format="csr")


def _unreadable(name: str, error: Exception) -> TableError:
    return TableError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _require_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("tables need pyarrow and pandas: pip install 'cssvm[cli]'") from error
