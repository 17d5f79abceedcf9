"""The text of a value does not depend on neighbours, chunks and file formats."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cssvm._tables import TableError, chunk
from cssvm._tables.chunk import Chunk
from cssvm._tables.sources import open_table

FLOATS = st.floats(allow_infinity=False) | st.sampled_from([1e10, 2.5, 0.0, -0.0, 2.0**53, 2.0**53 + 2, 1e300, np.nan])


def words(values, n_rows=50_000):
    chunks = open_table(pd.DataFrame({"a": values})).chunks(n_rows)
    return [word for rows in chunks for word in rows.strings("a")]


def test_whole_numbers_have_no_decimal_point_and_others_keep_theirs():
    assert words([1e10, 2.5, 2.0, np.nan, -0.0]) == ["10000000000", "2.5", "2", "", "0"]


@given(st.lists(FLOATS, min_size=1, max_size=8), st.integers(1, 8))
def test_the_text_of_a_number_does_not_depend_on_its_neighbours_or_its_chunk(values, n_rows):
    alone = [words([value])[0] for value in values]
    assert words(values) == alone
    assert words(values, n_rows) == alone
    for value, word in zip(values, alone, strict=True):
        assert word == "" if np.isnan(value) else float(word) == value


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_missing_values_of_typed_columns_are_empty_however_they_are_stored(kind):
    rows = pa.table({"a": pa.array([0.5, float("nan"), None, 3.0], kind)})
    assert Chunk("t", rows).strings("a").tolist() == ["0.5", "", "", "3"]


def test_a_number_that_arrow_cannot_parse_is_read_or_named(monkeypatch):
    monkeypatch.setattr(chunk, "NUMBER", "^[0-9_]+$")  # Python reads 1_0, Arrow does not
    rows = pa.table({"a": ["1_0", "2", "NA"], "b": ["1_0", "x", "3"]})
    np.testing.assert_array_equal(Chunk("t", rows, typed=False).numbers("a"), [10.0, 2.0, np.nan])
    with pytest.raises(TableError, match="got 'x' in row 2"):
        Chunk("t", rows, typed=False).numbers("b")
