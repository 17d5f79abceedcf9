"""From Parquet to data frames: which columns are those of the table, and what type truth values have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

INDEX = re.compile(r"__index_level_\d+__")  # what pandas calls an index without a name that is not 0, 1, 2, ...


def table_columns(names: Iterable[str]) -> list[str]:
    """Names of the columns of a table, without those of a pandas index: the number of a row may tell its label."""
    return [name for name in names if not INDEX.fullmatch(str(name))]


def truth_with_gaps(kind: Any) -> Any:
    """The `types_mapper` of Arrow's ``to_pandas``: truth values that may have gaps, instead of objects if they do."""
    import pandas as pd
    import pyarrow as pa

    return pd.BooleanDtype() if pa.types.is_boolean(kind) else None
