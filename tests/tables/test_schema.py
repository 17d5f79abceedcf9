"""Columns are numeric or categorical, as inferred from the training table."""

import io

import numpy as np
import pandas as pd
import pytest

from cssvm._tables import TableError
from cssvm._tables.schema import InputIssues, infer_schema, read_features
from cssvm._tables.sources import open_table
from cssvm._tables.training import preparation
from cssvm.deploy import Column


def chosen(path, text, without=(), category=()):
    path.write_text(text)
    return infer_schema(open_table(path).whole(), without=without, category=category)


def kinds(found):
    return {column.name: column.kind for column in found.columns}


@pytest.mark.parametrize(
    ("entries", "kind"),
    [
        (["1", "2.5", "-3e-2", ""], "number"),
        (["1", "NA", "?", "nan"], "number"),
        (["01234", "81000", "99999"], "category"),
        (["0", "0.5", "-0.25"], "number"),
        (["yes", "no", "NA"], "category"),
        (["1", "2", "x"], "category"),
        (["2020-01-01", "2021-05-05"], "category"),
        (["True", "False"], "category"),
    ],
)
def test_text_is_a_number_only_if_every_entry_is_one(entries, kind, tmp_path):
    text = "a,b\n" + "".join(f"{entry},1\n" for entry in entries)
    assert kinds(chosen(tmp_path / "t.csv", text)) == {"a": kind, "b": "number"}


def test_codes_can_be_requested_as_categories_and_columns_left_out(tmp_path):
    found = chosen(tmp_path / "t.csv", "code,x,label\n1,5,0\n2,6,1\n", without=["label"], category=["code"])
    assert found.columns == [Column("code", "category", "str", ["1", "2"]), Column("x")]
    with pytest.raises(TableError, match="has no column 'nonsense'; its columns are 'code', 'x', 'label'"):
        chosen(tmp_path / "t.csv", "code,x,label\n1,5,0\n", category=["nonsense"])
    with pytest.raises(
        TableError, match="no column to use as a feature but 'label'; 'x' was left out: it has no entries"
    ):
        chosen(tmp_path / "t.csv", "label,x\n1,\n", without=["label"])


def mixed(folder, entries, kind):
    """A table with these entries as text, as CSV, Parquet strings, a frame of strings or one of Python objects."""
    if kind == "csv":
        (folder / "t.csv").write_text("a,b\n" + "".join(f"{entry},{k}\n" for k, entry in enumerate(entries)))
        return folder / "t.csv"
    frame = pd.DataFrame({"a": entries, "b": range(len(entries))})
    if kind == "parquet":
        frame.to_parquet(folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "objects":
        frame["a"] = pd.Series([float(each) if each.isdigit() else each for each in entries], dtype=object)
    return frame


MIXED = pytest.mark.parametrize("kind", ["csv", "parquet", "strings", "objects"])


@MIXED
def test_few_entries_that_are_not_numbers_among_many_are_rejected_and_shown(kind, tmp_path):
    entries = [str(k) for k in range(70)]
    for row, entry in ((11, "1O"), (30, "x"), (31, "x"), (40, "y"), (50, "z"), (55, "v"), (60, "w")):
        entries[row] = entry
    data = mixed(tmp_path, entries, kind)
    with pytest.raises(TableError, match="7 of 70 entries are not numbers: '1O' in row 12, 'x' in row 31, ") as found:
        infer_schema(open_table(data).whole(), without=(), category=())
    assert "'v' in row 56 and others" in str(found.value)
    assert "--category a" in str(found.value)
    assert kinds(infer_schema(open_table(data).whole(), without=(), category=["a"])) == {
        "a": "category",
        "b": "number",
    }


@MIXED
def test_mostly_text_columns_are_categories_with_a_note(kind, tmp_path):
    entries = [str(k % 5) for k in range(30)]
    entries[7] = "unknown"
    found = infer_schema(open_table(mixed(tmp_path, entries, kind)).whole(), without=(), category=())
    assert found.columns[0] == Column("a", "category", "str", ["0", "1", "2", "3", "4", "unknown"])
    assert found.notes == ["column 'a' is read as a category: 1 of 30 entries are not numbers: 'unknown' in row 8"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([2, 10, None], ["", "10", "2"]),
        ([0.5, 2.0, 3.0], ["0.5", "2", "3"]),
        ([True, False, None], ["", "False", "True"]),
    ],
    ids=["integers", "floats", "booleans"],
)
@pytest.mark.parametrize("stored", [False, True], ids=["frame", "Parquet"])
def test_a_categorical_of_pandas_is_a_category_whatever_it_holds(values, words, stored, tmp_path):
    data = pd.DataFrame({"a": pd.Categorical(values * 4), "b": range(12)})
    if stored:
        data.to_parquet(tmp_path / "t.parquet")
        data = tmp_path / "t.parquet"
    table = open_table(data).whole()
    expected = [Column("a", "category", "str", words), Column("b", "number", "int64")]
    assert infer_schema(table, without=(), category=()).columns == expected


def test_dates_and_categories_of_many_strings_are_noted(tmp_path):
    days = [f"2024-{k % 12 + 1:02d}-{k % 28 + 1:02d}" for k in range(300)]
    text = "day,customer,home\n" + "".join(f"{day},c{k % 60},{'ab'[k % 2]}\n" for k, day in enumerate(days))
    found = chosen(tmp_path / "t.csv", text)
    assert kinds(found) == dict.fromkeys(["day", "customer", "home"], "category")
    day, customer = found.notes
    assert day.startswith(f"column 'day' looks like a date: {len(set(days))} categories; drop it with --drop day")
    assert customer.startswith("column 'customer' has 60 categories in 300 rows; if it is an identifier, drop it with")
    assert chosen(tmp_path / "t.csv", text, category=["day", "customer"]).notes == []


def test_numbers_with_commas_are_rejected_and_not_taken_for_categories(tmp_path):
    text = "a;b\n" + "\n".join(f"{k},5;{k}" for k in range(20))
    with pytest.raises(TableError, match=r"column 'a' .* numbers with commas, such as '0,5'"):
        chosen(tmp_path / "t.csv", text)
    assert kinds(chosen(tmp_path / "t.csv", text, category=["a"])) == {"a": "category", "b": "number"}


def test_columns_without_entries_and_identifiers_are_left_out_with_the_reason(tmp_path):
    text = "id,empty,x\n" + "".join(f"customer {k},,{k}\n" for k in range(60))
    found = chosen(tmp_path / "t.csv", text)
    assert kinds(found) == {"x": "number"}
    assert found.left_out == {"id": "60 different strings in 60 rows", "empty": "it has no entries"}
    assert kinds(chosen(tmp_path / "t.csv", text, category=["id"])) == {"id": "category", "x": "number"}
    typed = pd.DataFrame({"empty": pd.array([None, None], dtype="string"), "x": [1, 2]})
    found = infer_schema(open_table(typed).whole(), without=(), category=())
    assert (kinds(found), found.left_out) == ({"x": "number"}, {"empty": "it has no entries"})


def test_typed_columns_are_what_their_types_say():
    typed = pd.DataFrame({"i": [1, 2], "f": [0.5, None], "b": [True, False], "code": ["1", "2"]})
    found = infer_schema(open_table(typed).whole(), without=(), category=())
    assert kinds(found) == {"i": "number", "f": "number", "b": "category", "code": "category"}
    assert [column.dtype for column in found.columns][:3] == ["int64", "float64", "bool"]


def test_the_preparation_is_the_one_stated(tmp_path):
    """Imputed by the mean and standardised; an indicator of missing values; one for each category and for missing."""
    path = tmp_path / "t.csv"
    path.write_text("x,z,w\n1,4,a\n,5,\n3,9,b\n8,6,a\n")
    table = open_table(path).whole()
    columns = infer_schema(table, without=(), category=()).columns
    X = read_features(table, columns)
    fitted = preparation(columns, X).fit(X)
    x, z = np.array([1.0, 4.0, 3.0, 8.0]), np.array([4.0, 5.0, 9.0, 6.0])
    expected = np.column_stack(
        [
            (x - x.mean()) / x.std(),
            (z - z.mean()) / z.std(),
            [0, 1, 0, 0],  # the missing value of x
            [0, 1, 0, 0],  # the missing value of w
            [1, 0, 0, 1],  # a
            [0, 0, 1, 0],  # b
        ]
    )
    np.testing.assert_allclose(np.asarray(fitted.transform(X)), expected, atol=1e-15)
    path.write_text("w,new,z,x\nc,0,5,3\n")
    issues = InputIssues()
    unseen = np.asarray(fitted.transform(read_features(open_table(path).whole(), columns, issues)))
    np.testing.assert_allclose(unseen[0, 2:], 0.0)
    assert issues.unseen_categories["w"] == 1
    assert issues.missing["x"] == 0


def test_indices_that_libsvm_text_had_not_in_training_are_not_read(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"1 1:5 4:7\n-1 2:3\n")
    X = read_features(open_table(path).whole(), [Column(str(k)) for k in (1, 2, 3)])
    np.testing.assert_array_equal(X.toarray(), [[5, 0, 0], [0, 3, 0]])
    with pytest.raises(TableError, match="features have numbers"):
        read_features(open_table(path).whole(), [Column("income")])


def test_csv_text_is_not_typed_by_a_guess_of_its_first_rows(tmp_path):
    """Codes that look like numbers in one chunk, and have leading zeros in another, stay the same strings."""
    text = io.StringIO()
    pd.DataFrame({"zip": ["81000"] * 5 + ["01234"] * 5}).to_csv(text, index=False)
    (tmp_path / "t.csv").write_text(text.getvalue())
    columns = [Column("zip", "category", "str", ["01234", "81000"])]
    parts = [read_features(chunk, columns)["zip"].tolist() for chunk in open_table(tmp_path / "t.csv").chunks(5)]
    assert parts == [["81000"] * 5, ["01234"] * 5]


def test_identifiers_and_constant_columns_of_numbers_are_noted(tmp_path):
    rows = [f"{k + 7},{k % 3},{k + 0.5},4,x\n" for k in range(60)]
    found = chosen(tmp_path / "t.csv", "my id,few,real,same,word\n" + "".join(rows))
    assert [note.split("'")[1] for note in found.notes] == ["my id", "same", "word"]
    assert "if it is an identifier, drop it with --drop 'my id'" in found.notes[0]
    assert all("the same entry on every row" in note for note in found.notes[1:])
    assert not chosen(tmp_path / "t.csv", "id,x\n1,0\n2,1\n3,0\n").notes  # too few rows
