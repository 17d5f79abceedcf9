"""Sources of tables: CSV, Parquet, LIBSVM text, data frames; read as a whole or a chunk at a time.

The content of a file decides what it is, not its name. Entries of text files stay as they were written until a column
is read as numbers or as strings (`chunk.py`).
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from .._core.validation import is_number
from .._runtime.parquet import RowGroups, find_row_groups, without_index
from .chunk import EXACT, Chunk, TableError, check_names, is_numeric, iter_chunks, to_integers
from .csv_reader import read_csv

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 50_000
PART_ROWS = 200_000  # of Parquet; 8 MB of decisions
STDIN = "-"
LABEL = "label"  # the one named column of LIBSVM text
HEAD = 2**20  # bytes looked at to tell what a file is; the header of a CSV must fit
GZIP, PARQUET = b"\x1f\x8b", b"PAR1"
OTHER_FILES = {
    b"PK\x03\x04": "a zip archive, such as a model file or an Excel workbook",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"%PDF-": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
}
SPARSE_ROW = re.compile(rb"\s*[+-]?[0-9.][^\s,:]*(\s+qid:[0-9]+)?(\s+[0-9]+:[^\s,:]+)*\s*(#.*)?")
LINES_LOOKED_AT = 20


@contextmanager
def _reading(name: str) -> Iterator[None]:
    """Raise a `TableError` for a file that cannot be read, or is not Parquet."""
    import pyarrow as pa

    try:
        yield
    except MemoryError:
        raise
    except (OSError, EOFError, zlib.error) as error:  # the latter two of damaged gzip
        raise TableError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    except (pa.ArrowException, KeyError) as error:
        raise TableError(f"{name} is not a readable Parquet file: {_first_line(error)}") from error


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a file, up to `PART_ROWS` rows, which a worker of a cluster can read by itself.

    source : name of the table in messages; schema : of the table; first : number of the first row in it, from 1.
    """

    source: str
    row_groups: RowGroups
    schema: Any
    first: int

    def chunks(self, n_rows: int, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield at most `n_rows` rows at a time, of all columns or of these."""
        import pyarrow as pa

        names = self.schema.names if columns is None else list(dict.fromkeys(columns))
        schema, first = pa.schema([self.schema.field(name) for name in names]), self.first
        with _reading(self.row_groups.path):
            for rows in self.row_groups.batches(n_rows, None if columns is None else names):
                yield Chunk(self.source, _cast(rows.select(names), schema, self.source), first=first)
                first += rows.num_rows


def parquet_parts(path: Any, name: str) -> list[ParquetPart]:
    """The parts of a file or a folder, in the order of the paths; none if there are no rows."""
    import pyarrow as pa

    with _reading(name):
        found, row_groups = find_row_groups(str(Path(path).resolve()))  # workers may have other working directories
    columns = without_index(found.names)
    check_names(columns, name)
    text = _categoricals_of_numbers(found)
    schema = pa.schema([pa.field(column, pa.string()) if column in text else found.field(column) for column in columns])
    parts: list[ParquetPart] = []
    first = 1
    for group in [group for group in row_groups if group.n_rows]:
        last = parts[-1].row_groups if parts else None
        if last is not None and last.path == group.path and last.n_rows + group.n_rows <= PART_ROWS:
            joined = replace(last, ids=last.ids + group.ids, n_rows=last.n_rows + group.n_rows)
            parts[-1] = replace(parts[-1], row_groups=joined)
        else:
            parts.append(ParquetPart(name, group, schema, first))
        first += group.n_rows
    return parts


def _categoricals_of_numbers(schema: pa.Schema) -> set[str]:
    """The columns of numbers or booleans that were categoricals in pandas, according to the file."""
    described = (schema.pandas_metadata or {}).get("columns", [])
    names = {each.get("field_name") for each in described if each.get("pandas_type") == "categorical"}
    return {name for name in names.intersection(schema.names) if is_numeric(schema.field(name).type)}


def _cast(rows: pa.Table, schema: pa.Schema, source: str) -> pa.Table:
    """The rows with the types of a schema; numbers become strings as in `Chunk.strings`."""
    import pyarrow as pa

    for j, field in enumerate(schema):
        if field.type == pa.string() and is_numeric(rows.schema.field(j).type):
            strings = Chunk(source, rows).strings(field.name)
            rows = rows.set_column(j, field, pa.array([entry or None for entry in strings], pa.string()))
    return rows.cast(schema)


@dataclass(frozen=True)
class Source:
    """A table that is read once or again by `read(n)`, in chunks of at most n rows; parquet : its path, or None."""

    name: str
    read: Callable[[int], Iterator[Chunk]]
    parquet: Any = None

    def chunks(self, n_rows: int = CHUNK_ROWS) -> Iterator[Chunk]:
        """Yield at most `n_rows` rows at a time; raise if the table has none."""
        first = 1
        with _reading(self.name):
            for chunk in self.read(n_rows):
                if len(chunk):
                    yield replace(chunk, first=first)
                first += len(chunk)
        self._check_rows(first > 1)

    def parts(self) -> Sequence[Source | ParquetPart]:
        """What can be read separately, by `chunks`: the parts of Parquet, or the whole source."""
        if self.parquet is None:
            return [self]
        parts = parquet_parts(self.parquet, self.name)
        self._check_rows(bool(parts))
        return parts

    def _check_rows(self, exist: bool) -> None:
        if not exist:
            raise TableError(f"{self.name} has no rows. Give a table with a header and at least one row.")

    def whole(self) -> Chunk:
        """All rows."""
        import pyarrow as pa

        chunks = list(self.chunks())
        rows = pa.concat_tables([chunk.rows for chunk in chunks], promote_options="permissive")  # 1 and 0.5 are numbers
        return replace(chunks[0], rows=rows, sparse=_stacked([chunk.sparse for chunk in chunks]))


def open_table(data: Any) -> Source:
    """The source of a path, "-" for the standard input, or a data frame of pandas, polars or Arrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("tables need pyarrow and pandas: pip install 'cssvm[cli]'") from error
    if not isinstance(data, str | Path):
        return _of_frame(data)
    is_stdin = str(data) == STDIN
    name = "standard input" if is_stdin else str(data)
    if is_stdin and sys.stdin is None:
        raise TableError("the standard input is closed. Give a file, or a pipe.")
    if not is_stdin and Path(data).is_dir():
        return _parquet(data, name)
    with ExitStack() as files:  # closed here, or when all rows have been read
        with _reading(name):
            raw: Any = sys.stdin.buffer if is_stdin else files.enter_context(io.FileIO(data))
            stream = io.BufferedReader(raw, HEAD)
            if stream.peek(len(GZIP)).startswith(GZIP):
                unpacked: Any = gzip.GzipFile(fileobj=stream)
                stream = io.BufferedReader(unpacked, HEAD)
            head = stream.read(HEAD)
        if head.startswith(PARQUET):
            if is_stdin:
                raise TableError("Parquet cannot be read from the standard input. Give the file itself.")
            return _parquet(data, name)
        if name.lower().endswith(".parquet"):
            raise TableError(f"{name} is not a Parquet file: it does not begin with PAR1. Rename it if it is a CSV.")
        for signature, what in OTHER_FILES.items():
            if head.startswith(signature):
                raise TableError(f"{name} is {what}, not a table. Give CSV, Parquet or LIBSVM text.")
        whole, still_open = len(head) < HEAD, files.pop_all()
    again: Any = io.BufferedReader(_Rejoined(head, stream), HEAD)

    def read(n_rows: int) -> Iterator[Chunk]:
        with still_open:
            if _is_libsvm(head, whole=whole):
                yield from _libsvm(again, name, n_rows)
            else:
                yield from read_csv(again, head, name, n_rows, whole=whole)

    return Source(name, read)


class _Rejoined(io.RawIOBase):
    """A stream whose beginning has been read already; that of a pipe comes in pieces, so that `peek` cannot show it."""

    def __init__(self, head: bytes, stream: BinaryIO):
        super().__init__()
        self.head, self.stream = head, stream

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there are bytes."""
        block = self.head[: len(buffer)] or self.stream.read(len(buffer))
        self.head = self.head[len(block) :]
        buffer[: len(block)] = block
        return len(block)


def _of_frame(data: Any) -> Source:
    import pyarrow as pa

    try:
        if hasattr(data, "iloc"):
            rows = pa.Table.from_pandas(_one_type_each(data.rename(columns=str)), preserve_index=False)
        else:
            rows = pa.table(data)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(
            f"data must be a path or a data frame whose columns each hold one type; got {type(data).__name__}: {error}"
        ) from error
    columns = without_index(rows.column_names)
    check_names(columns, "the data frame")
    rows = rows.select(columns)
    return Source("the data frame", lambda n_rows: iter_chunks(rows, "the data frame", n_rows, typed=True))


def _one_type_each(frame: Any) -> Any:
    """A frame of pandas in which columns of strings and numbers, and categoricals of other types, hold strings."""
    text = {}
    for name in [each for each, dtype in frame.dtypes.items() if dtype.kind == "O"] if frame.columns.is_unique else []:
        column = frame[name]
        values = column.cat.categories.tolist() if column.dtype == "category" else column.tolist()
        n_strings = sum(isinstance(each, str) for each in values)
        if column.dtype == "category" and n_strings < len(values):
            text[name] = column.map({each: _as_text(each) for each in values}).astype(object)
        elif n_strings and any(map(is_number, values)):
            text[name] = [_as_text(each) if is_number(each) else each for each in values]
    return frame.assign(**text)


def _as_text(value: Any) -> str | None:
    """A value as `Chunk.strings` writes it."""
    if is_number(value) and value != value:
        return None
    return str(int(value) if is_number(value) and abs(value) <= EXACT and value == int(value) else value)


def _parquet(path: Any, name: str) -> Source:
    def read(n_rows: int) -> Iterator[Chunk]:
        for part in parquet_parts(path, name):
            yield from part.chunks(n_rows)

    return Source(name, read, path)


def _is_libsvm(head: bytes, *, whole: bool) -> bool:
    """Whether the first lines are all labels with index:value pairs, at least one of them with a pair."""
    lines = head.splitlines() if whole else head.splitlines()[:-1]
    looked_at = [line for line in lines if line.strip()][:LINES_LOOKED_AT]
    return all(SPARSE_ROW.fullmatch(line) for line in looked_at) and any(b":" in line for line in looked_at)


def _libsvm(stream: BinaryIO, name: str, n_rows: int) -> Iterator[Chunk]:
    import pyarrow as pa
    from sklearn.datasets import load_svmlight_file

    first = 1
    while lines := list(islice(stream, n_rows)):
        try:
            X, labels = load_svmlight_file(io.BytesIO(b"".join(lines)), zero_based=True)
        except ValueError as error:
            raise TableError(f"{name} is not LIBSVM text after row {first - 1:,}: {_first_line(error)}") from error
        if X.shape[1] and X[:, 0].nnz:
            raise TableError(f"{name} holds an index 0; indices of LIBSVM text are counted from 1.")
        X = X[:, 1:].tocsr()
        yield Chunk(name, pa.table({LABEL: to_integers(labels)}), sparse=X)
        first += len(labels)


def _stacked(parts: list[Any]) -> Any:
    """Sparse rows stacked, as wide as the widest of them; None if there are none."""
    import scipy.sparse as sp

    if any(part is None for part in parts):
        return None
    width = max(part.shape[1] for part in parts)
    for part in parts:
        part.resize(part.shape[0], width)
    return sp.vstack(parts, format="csr")


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
