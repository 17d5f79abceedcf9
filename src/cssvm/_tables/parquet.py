"""Parquet, a file or a folder of files: in parts that can be read apart, here or on the workers of a cluster.

A part is one row group after the other of a file, up to `PART_ROWS` rows of them. Parts are in the order of the paths,
and their rows are those of the table in order. Folders called ``name=value`` are a column of that name; an index of
pandas without a name is no column. Parquet has categoricals of strings only; numbers and booleans that were one in
pandas are read as strings, as from a frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._runtime.parquet import table_columns
from .chunk import Chunk, TableError, check_names, is_numeric

if TYPE_CHECKING:
    import pyarrow as pa

PART_ROWS = 200_000  # 8 MB of decisions
BUFFER = 2**16  # bytes read at a time of each column


@dataclass(frozen=True)
class ParquetPart:
    """Row groups of a file.

    source : what the table is called in messages; path : of the file; row_groups : their numbers; constants : columns
    that its folder stands for; schema : of the table; first : the number of the first row in the table, from 1.
    """

    source: str
    path: str
    row_groups: tuple[int, ...]
    constants: dict[str, Any]
    schema: Any
    first: int

    def chunks(self, n_rows: int, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """The rows, at most `n_rows` at a time, in all columns or in these."""
        import pyarrow as pa

        names = self.schema.names if columns is None else list(dict.fromkeys(columns))
        schema, first = pa.schema([self.schema.field(name) for name in names]), self.first
        try:
            stored = None if columns is None else [name for name in names if name not in self.constants]
            for rows in self._read(n_rows, stored):
                yield Chunk(self.source, _typed(rows.select(names), schema, self.source), first=first)
                first += rows.num_rows
        except (pa.ArrowException, KeyError) as error:
            raise unreadable(self.source, error) from error
        except OSError as error:
            raise TableError(f"{self.path} cannot be read: {error.strerror or error}.") from error

    def _read(self, n_rows: int, stored: list[str] | None) -> Iterator[pa.Table]:
        """Rows with the columns that the folder stands for; a data set of Arrow would read ahead."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER) as file:
            batches = file.iter_batches(n_rows, row_groups=list(self.row_groups), columns=stored, use_threads=False)
            for batch in batches:
                rows = pa.Table.from_batches([batch])
                for name, value in self.constants.items():
                    rows = rows.append_column(name, pa.array([value] * len(rows)))
                yield rows


def parquet_parts(path: Any, name: str) -> list[ParquetPart]:
    """The parts of a file or a folder, but for those without rows; of the files no more than their ends are read."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    parts: list[ParquetPart] = []
    try:
        # Workers of a cluster have folders of their own to start from.
        found = ds.dataset(str(Path(path).resolve()), format="parquet", partitioning="hive")
        columns = table_columns(found.schema.names)
        check_names(columns, name)
        text = _categoricals_of_numbers(found.schema)
        fields = [pa.field(column, pa.string()) if column in text else found.schema.field(column) for column in columns]
        schema, first = pa.schema(fields), 1
        for file in sorted(found.get_fragments(), key=lambda each: each.path):
            constants = ds.get_partition_keys(file.partition_expression)
            for groups in _gathered(file.row_groups):
                numbers = tuple(group.id for group in groups)
                parts.append(ParquetPart(name, file.path, numbers, constants, schema, first))
                first += sum(group.num_rows for group in groups)
    except (pa.ArrowException, KeyError) as error:
        raise unreadable(name, error) from error
    return parts


def _categoricals_of_numbers(schema: pa.Schema) -> set[str]:
    """Columns of numbers or booleans that pandas notes in the file to have been categoricals."""
    described = (schema.pandas_metadata or {}).get("columns", [])
    names = {each.get("field_name") for each in described if each.get("pandas_type") == "categorical"}
    return {name for name in names.intersection(schema.names) if is_numeric(schema.field(name).type)}


def _typed(rows: pa.Table, schema: pa.Schema, source: str) -> pa.Table:
    """The rows with the types of a schema; numbers become strings as in `Chunk.words`."""
    import pyarrow as pa

    for j, field in enumerate(schema):
        if field.type == pa.string() and is_numeric(rows.schema.field(j).type):
            words = Chunk(source, rows).words(field.name)
            rows = rows.set_column(j, field, pa.array([word or None for word in words], pa.string()))
    return rows.cast(schema)


def _gathered(row_groups: Sequence[Any]) -> Iterator[list[Any]]:
    """Row groups one after the other, as long as they have not more than `PART_ROWS` rows."""
    waiting: list[Any] = []
    for group in row_groups:
        if waiting and sum(each.num_rows for each in waiting) + group.num_rows > PART_ROWS:
            yield waiting
            waiting = []
        if group.num_rows:
            waiting.append(group)
    if waiting:
        yield waiting


def unreadable(name: str, error: Exception) -> TableError:
    """What Arrow says of a file that it cannot read."""
    return TableError(f"{name} is not a Parquet file that can be read: {str(error).splitlines()[0]}")
