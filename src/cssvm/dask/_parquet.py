"""Parquet on disk or in a store: one partition for each row group, in the order of paths, read inside tasks."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._runtime.parquet import table_columns, truth_with_gaps


@dataclass(frozen=True)
class Piece:
    """One row group of a file.

    constants : columns that the names of folders stand for, such as ``day=2026-11-15``
    """

    path: str
    row_group: int
    filesystem: Any
    constants: dict[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """For messages."""
        return f"{self.path}, row group {self.row_group}"

    def read(self, names: Sequence[str]) -> Any:
        """These columns as a data frame, which takes no more memory than they do."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        pa.default_memory_pool().release_unused()  # of the piece before
        names = list(dict.fromkeys(names))
        with self.filesystem.open_input_file(self.path) as stream, pq.ParquetFile(stream) as file:
            present = {*table_columns(file.schema_arrow.names), *self.constants}
            missing = [name for name in names if name not in present]
            if missing:
                raise ValueError(f"column {missing[0]!r} is missing; there are {reprlib.repr(sorted(present))}.")
            stored = [name for name in names if name not in self.constants]
            table = file.read_row_group(self.row_group, columns=stored, use_threads=False)
        frame = table.to_pandas(
            use_threads=False,
            split_blocks=True,
            self_destruct=True,
            ignore_metadata=True,
            types_mapper=truth_with_gaps,
        )
        for name in names:
            if name in self.constants:
                frame[name] = self.constants[name]
        return frame if list(frame.columns) == names else frame[names]


def parquet_pieces(path: Any) -> tuple[list[Piece], list[str]]:
    """All row groups of a file, or of a folder and what is below it, and the columns of the first file."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    try:
        found = ds.dataset(str(path) if isinstance(path, Path) else path, format="parquet", partitioning="hive")
        files = sorted(found.get_fragments(), key=lambda each: each.path)
        pieces = [
            Piece(file.path, group.id, found.filesystem, ds.get_partition_keys(file.partition_expression))
            for file in files
            for group in file.row_groups
        ]
    except (OSError, pa.ArrowException) as error:
        raise ValueError(
            f"X={str(path)!r} must be a Parquet file or a folder of them: {str(error).splitlines()[0]}"
        ) from error
    if not pieces:
        raise ValueError(f"X={str(path)!r} must hold Parquet files with rows; got none.")
    return pieces, list(dict.fromkeys([*table_columns(files[0].physical_schema.names), *pieces[0].constants]))
