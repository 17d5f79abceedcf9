"""What Parquet holds beside the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Iterable

INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name that is not 0, 1, 2, ...


def table_columns(names: Iterable[str]) -> list[str]:
    """Names of the columns of a table, without those of a pandas index: the number of a row may tell its label."""
    return [name for name in names if not INDEX.fullmatch(str(name))]
