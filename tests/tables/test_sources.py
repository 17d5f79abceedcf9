"""All file types give the same table; files that cannot be read are rejected with the reason."""

import contextlib
import gzip
import io
import os
import sys
import tempfile
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file

from cssvm._tables import TableError, csv_reader
from cssvm._tables.chunk import MISSING_VALUES, Chunk
from cssvm._tables.sources import open_table
from tests.tables.applicants import KINDS, as_csv, write


def read(source):
    """What a table holds, column by column."""
    table = source.whole()
    return {name: table.numbers(name) if name in ("income", "amount") else table.strings(name) for name in table.names}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_the_same_in_every_kind_of_file(kind, frame, tmp_path):
    found = read(open_table(write(tmp_path, frame, kind)))
    assert list(found) == list(frame.columns)
    np.testing.assert_array_equal(found["income"], frame["income"])
    np.testing.assert_array_equal(found["amount"], frame["amount"])
    for name in ("home", "zip", "outcome"):
        assert found[name].tolist() == frame[name].fillna("").tolist()


def test_frames_and_the_standard_input_are_tables_too(frame, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_csv(frame))))
    expected = read(open_table(frame))
    for found in (read(open_table("-")), read(open_table(polars.from_pandas(frame)))):
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)


def test_chunks_are_the_rows_in_their_order_with_their_numbers(frame, tmp_path):
    for kind in ("csv", "parquet", "parquet in parts"):
        chunks = list(open_table(write(tmp_path, frame, kind)).chunks(7))
        assert max(map(len, chunks)) == 7
        assert [chunk.first for chunk in chunks] == (1 + np.cumsum([0, *map(len, chunks[:-1])])).tolist()
        together = np.concatenate([chunk.numbers("amount") for chunk in chunks])
        np.testing.assert_array_equal(together, frame["amount"])


def test_an_unnamed_pandas_index_is_not_a_column(frame, tmp_path):
    numbered = frame.sample(frac=1.0, random_state=0)  # rows in another order keep their numbers
    numbered.to_parquet(tmp_path / "rows.parquet")
    file = pq.read_table(tmp_path / "rows.parquet")
    assert "__index_level_0__" in file.column_names
    for data in (tmp_path / "rows.parquet", tmp_path, file):
        found = open_table(data)
        assert list(read(found)) == list(frame.columns)
        np.testing.assert_array_equal(read(found)["amount"], numbered["amount"])
    (part,) = open_table(tmp_path).parts()
    assert part.schema.names == list(frame.columns)


def table_of(text):
    """Read a CSV with these values."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_text(text, newline="")
        return open_table(path).whole()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_are_read_to_the_last_bit(values):
    found = table_of("x\n" + "\n".join(map(repr, values)) + "\n").numbers("x")
    np.testing.assert_array_equal(found, values)


def test_blanks_missing_values_and_quotes_are_read_as_stated():
    table = table_of('a,b , c\n 1 ,x y,"p, q"\n+2.5,"say ""no""","two\nlines"\nNA,,\n')
    assert table.names == ["a", "b", "c"]
    np.testing.assert_array_equal(table.numbers("a"), [1.0, 2.5, np.nan])
    assert table.strings("b").tolist() == ["x y", 'say "no"', ""]
    assert table.strings("c").tolist() == ["p, q", "two\nlines", ""]
    assert np.isnan(table_of("a,b\n" + "".join(f"{gap},1\n" for gap in MISSING_VALUES)).numbers("a")).all()


def test_a_quote_that_is_not_closed_is_rejected_with_its_row_and_an_inch_mark_is_not():
    rows = [f'{k},"x{k}"' for k in range(1, 41)]
    rows[29] = '30,"x30'
    after = [row.replace('"', "") for row in rows[30:]]
    with pytest.raises(TableError, match=r"has a quote in row 30 that is not closed\."):
        table_of("\n".join(["a,b", *rows[:30], *after]))
    with pytest.raises(TableError, match="has a quote in row 30 that is closed inside of another entry, lines later"):
        table_of("\n".join(["a,b", *rows]))
    table = table_of('a,b\n5" pipe,x"\n"two ""\nlines""",y"\n"z"" ","5"""')
    assert table.strings("a").tolist() == ['5" pipe', 'two "\nlines"', 'z"']
    assert table.strings("b").tolist() == ['x"', 'y"', '5"']


@given(
    st.lists(st.lists(st.text('a"\r\n, '), min_size=2, max_size=2), min_size=1), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_what_is_quoted_as_it_should_be_is_read_wherever_blocks_end(rows, newline):
    text = "".join(",".join('"' + entry.replace('"', '""') + '"' for entry in row) + newline for row in rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_reader, "BLOCK", max(4 * len(text), 64))
        table = table_of(f"x,y{newline}{text}")
        stream = csv_reader.QuoteChecker(io.BytesIO(text.encode()), "t", ",", blank_rows=False)
        while stream.read(3):
            pass
    assert table.strings("x").tolist() == [row[0].strip() for row in rows]
    assert table.strings("y").tolist() == [row[1].strip() for row in rows]


@pytest.mark.parametrize("mark", ["\u0085", "\u2028", "\x0b", "\x1c"])
def test_nothing_but_an_end_of_line_ends_the_header(mark):
    table = table_of(f"a{mark}b,zip,c\n1,01234,2\n")
    assert table.names == [f"a{mark}b", "zip", "c"]
    assert table.strings("zip").tolist() == ["01234"]


def test_an_empty_line_is_a_missing_value_in_a_single_column_and_left_out_elsewhere():
    np.testing.assert_array_equal(table_of("\nx\n1\n\n3\n").numbers("x"), [1.0, np.nan, 3.0])
    np.testing.assert_array_equal(table_of("\nx,y\n1,2\n\n3,4\n").numbers("x"), [1.0, 3.0])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a;b, in EUR;c\n1;2;3\n", ["a", "b, in EUR", "c"]),
        ("a;b, in EUR;c\n1;2,5;3\n", ["a", "b, in EUR", "c"]),
        ("a\tb, c\n1\t2\n", ["a", "b, c"]),
        ("a,b;c\n1,2\n", ["a", "b;c"]),
        ("a;b\n1,5;2,5\n", ["a", "b"]),
        ("a,b\n", ["a", "b"]),
        ("  \n\t\na,b\n1,2\n", ["a", "b"]),
    ],
)
def test_the_separator_is_the_one_that_suits_header_and_first_row(text, names):
    assert csv_reader._header(text.encode().lstrip(), "t", whole=True)[0] == names
    if text.count("\n") > 1:
        assert len(table_of(text)) == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_a_pipe_that_gives_bytes_in_pieces_is_read_as_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    content = ("a,b\n" + "ä,é\n" * 70_000).encode()
    inside = 5  # of the first "ä"

    def feed():
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            pipe.write(content[:inside])
            time.sleep(0.2)
            pipe.write(content[inside:])

    feeding = threading.Thread(target=feed)
    feeding.start()
    assert len(open_table(tmp_path / "pipe").whole()) == 70_000
    feeding.join()


def test_columns_without_a_name_are_not_read():
    assert table_of(",a,\n0,1,2\n1,5,6\n").names == ["a"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b\n", "has no rows"),
        (b"a,b\n1,2\n3\n", "has 1 entries in row 2 but 2 columns"),
        (b"a,b\n1,2,3\n", "has 3 entries in row 1 but 2 columns"),
        (b'a,b\n"1,2\n', "has a quote in row 1 that is not closed"),
        (b'a,"b\n1,2\n', "has a quote in its header that is not closed"),
        (b'"x", "z"\n1,2\n', 'has a blank in front of the quote of the column "z"'),
        (b"a,b\n1,\xff\n", "is not UTF-8 text"),
        ("a,b\n1,2\n".encode("utf-16"), "is not UTF-8 text"),
        (b"a,b,a\n1,2,3\n", "more than one column 'a'"),
        (b"PAR1 and then nonsense", "is not a readable Parquet file"),
        (b"+1 1:2 3:4\n-1 1:x\n", "is not LIBSVM text"),
        (b"+1 0:2 3:4\n-1 1:2\n", "index 0"),
        (b"\x1f\x8b and then nonsense", "cannot be read"),
        (gzip.compress(b"a,b\n" + b"1,2\n" * 1000, mtime=0)[:-20], "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_read_is_rejected_with_the_reason(content, said, tmp_path):
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(TableError, match=said):
        open_table(path).whole()


def test_a_file_that_is_not_there_and_a_frame_of_unknown_objects_are_rejected(tmp_path):
    with pytest.raises(TableError, match="cannot be read: No such file"):
        open_table(tmp_path / "absent.csv")
    with pytest.raises(TableError, match="each hold one type"):
        open_table(pd.DataFrame({"a": [1, b"x", None]}))
    mixed = open_table(pd.DataFrame({"a": [1, 2.0, 2.5, "x", None, np.nan]})).whole()
    assert mixed.strings("a").tolist() == ["1", "2", "2.5", "x", "", ""]


@pytest.mark.parametrize(("entry", "row"), [("abc", 2), ("inf", 2), ("1e999", 2), ("1_000", 2), ("12,5", 2)])
def test_a_string_in_a_numeric_column_is_reported_with_its_row(entry, row):
    with pytest.raises(TableError, match=rf"column 'a' .* must hold finite numbers; got .* in row {row}\b"):
        table_of(f'a,b\n1,x\n"{entry}",y\n3,z\n').numbers("a")


def test_typed_columns_become_the_strings_that_a_csv_would_hold():
    typed = pd.DataFrame({"i": [1, 2], "f": [3.0, None], "h": [0.5, 2.0], "b": [True, False], "c": ["x", None]})
    (table,) = open_table(typed.astype({"c": "category"})).chunks()
    assert [table.strings(name).tolist() for name in "ifhbc"] == [
        ["1", "2"], ["3", ""], ["0.5", "2"], ["True", "False"], ["x", ""],
    ]  # fmt: skip
    with pytest.raises(TableError, match="days since a date"):
        open_table(pd.DataFrame({"t": pd.to_datetime(["2020-01-01"])})).whole().numbers("t")


def test_labels_of_libsvm_text_are_never_others_than_written(tmp_path):
    path = tmp_path / "rows"
    path.write_text("1 1:2\n1e20 1:3\n0.5 1:3\n")
    for chunks in ([open_table(path).whole()], list(open_table(path).chunks(1))):
        assert np.concatenate([chunk.numbers("label") for chunk in chunks]).tolist() == [1.0, 1e20, 0.5]


def test_libsvm_text_is_what_scikit_learn_reads(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(30):
        indices = np.sort(rng.choice(np.arange(1, 12), size=rng.integers(0, 6), replace=False))
        lines.append(" ".join([rng.choice(["+1", "-1"]), *(f"{k}:{rng.normal():.17g}" for k in indices)]))
    path = tmp_path / "rows"
    path.write_text("\n".join(lines) + "\n")
    X, y = load_svmlight_file(str(path))
    for chunks in ([open_table(path).whole()], list(open_table(path).chunks(4))):
        assert all(isinstance(chunk, Chunk) for chunk in chunks)
        np.testing.assert_array_equal(np.concatenate([chunk.numbers("label") for chunk in chunks]), y)
        width = max(chunk.sparse.shape[1] for chunk in chunks)
        dense = np.zeros((len(y), width))
        for chunk in chunks:
            rows = slice(chunk.first - 1, chunk.first - 1 + len(chunk))
            dense[rows, : chunk.sparse.shape[1]] = chunk.sparse.toarray()
        np.testing.assert_array_equal(dense, X.toarray())


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "a PNG picture"),
        (b"PK\x03\x04" + bytes(50), "a zip archive, such as a model file or an Excel workbook"),
        (b"%PDF-1.7", "a PDF document"),
    ],
)
def test_the_error_for_a_file_that_is_not_a_table_names_its_type(content, what, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=rf"data\.csv is {what}, not a table\. Give CSV, Parquet or LIBSVM text\."):
        open_table(path)


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "1 1:2\n", "a,b\n", "a,b\n1,2,3\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_closed_when_its_rows_are_read_or_rejected(text, packed, tmp_path, monkeypatch):
    path, opened = tmp_path / "data.csv", []
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    real = io.FileIO
    monkeypatch.setattr(io, "FileIO", lambda *given: opened.append(real(*given)) or opened[-1])
    with contextlib.suppress(TableError):
        list(open_table(path).chunks())
    assert [file.closed for file in opened] == [True]


@pytest.mark.parametrize("after", ["", '1,"2\n', "1,2,3\n"], ids=["left by its reader", "open quote", "long row"])
def test_no_thread_holds_a_csv_after_its_reader_has_ended(after, tmp_path, monkeypatch):
    held = []

    class Lent(csv_reader._Lent):
        def __init__(self, stream):
            super().__init__(stream)
            held.append(weakref.ref(self))

    monkeypatch.setattr(csv_reader, "_Lent", Lent)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 5 + after)
    chunks = open_table(tmp_path / "t.csv").chunks(2)
    with pytest.raises(TableError) if after else contextlib.nullcontext() as error:
        next(chunks)
        chunks.close()
    assert [each() for each in held] == ([] if "quote" in str(error and error.value) else [None])


def test_a_text_file_named_parquet_is_rejected_as_not_parquet(tmp_path):
    (tmp_path / "t.parquet").write_text("hello")
    with pytest.raises(TableError, match=r"t\.parquet is not a Parquet file: it does not begin with PAR1"):
        open_table(tmp_path / "t.parquet")
