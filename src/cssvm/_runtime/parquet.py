"""Parquet files by row groups, which can be read one by one, in this process or by the workers of a cluster.

Files are in the order of their paths. Folders named ``name=value`` are a column; an index of pandas without a name is
none: the number of a row may reveal its label.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name that is not 0, 1, 2, ...
BUFFER = 2**16  # bytes read at a time of each column


class FramePart(ABC):
    """A part of a table that a task reads as a data frame."""

    @property
    @abstractmethod
    def location(self) -> str:
        """Where the part is, for messages."""

    @abstractmethod
    def frame(self, columns: Sequence[str]) -> Any:
        """Return these columns as a data frame."""


@dataclass(frozen=True)
class RowGroups(FramePart):
    """Row groups of one file; `constants` are the columns given by the names of its folders."""

    path: str
    ids: tuple[int, ...]
    n_rows: int
    filesystem: Any
    constants: dict[str, Any] = field(default_factory=dict)

    @property
    def location(self) -> str:
        return f"{self.path}, row group {self.ids[0]}"

    def batches(self, n_rows: int, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield at most `n_rows` rows at a time, of all columns or of these; a data set of Arrow would read ahead."""
        import pyarrow as pa

        with self._file(pre_buffer=False, buffer_size=BUFFER) as file:
            stored = None if columns is None else [name for name in columns if name not in self.constants]
            for batch in file.iter_batches(n_rows, row_groups=list(self.ids), columns=stored, use_threads=False):
                rows = pa.Table.from_batches([batch])
                for name, value in self.constants.items():
                    rows = rows.append_column(name, pa.array([value] * len(rows)))
                yield rows

    def frame(self, columns: Sequence[str]) -> Any:
        """Return these columns as a data frame, which takes no more memory than they do."""
        import pyarrow as pa

        pa.default_memory_pool().release_unused()  # of the row group before
        names = list(dict.fromkeys(columns))
        with self._file() as file:
            present = {*without_index(file.schema_arrow.names), *self.constants}
            missing = [name for name in names if name not in present]
            if missing:
                raise ValueError(f"column {missing[0]!r} is missing; the columns are {sorted(present)}.")
            stored = [name for name in names if name not in self.constants]
            table = file.read_row_groups(list(self.ids), columns=stored, use_threads=False)
        frame = table.to_pandas(
            use_threads=False,
            split_blocks=True,
            self_destruct=True,
            ignore_metadata=True,
            types_mapper=nullable_booleans,
        )
        for name in names:
            if name in self.constants:
                frame[name] = self.constants[name]
        return frame if list(frame.columns) == names else frame[names]

    @contextmanager
    def _file(self, **options: Any) -> Iterator[Any]:
        import pyarrow.parquet as pq

        with self.filesystem.open_input_file(self.path) as stream, pq.ParquetFile(stream, **options) as file:
            yield file


def find_row_groups(path: str) -> tuple[pa.Schema, list[RowGroups]]:
    """Return the schema of a file or folder and all its row groups; only the footers of files are read."""
    import pyarrow.dataset as ds

    found = ds.dataset(path, format="parquet", partitioning="hive")
    row_groups = [
        RowGroups(
            file.path, (group.id,), group.num_rows, found.filesystem, ds.get_partition_keys(file.partition_expression)
        )
        for file in sorted(found.get_fragments(), key=lambda each: each.path)
        for group in file.row_groups
    ]
    return found.schema, row_groups


def without_index(names: Iterable[str]) -> list[str]:
    """Return the names of columns without those of a pandas index."""
    return [name for name in names if not INDEX.fullmatch(str(name))]


def nullable_booleans(kind: Any) -> Any:
    """The `types_mapper` of Arrow's ``to_pandas`` for booleans that may be missing, in place of objects."""
    import pandas as pd
    import pyarrow as pa

    return pd.BooleanDtype() if pa.types.is_boolean(kind) else None
