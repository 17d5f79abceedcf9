"""The lists have every data set of Table 1 of the paper with its state; preprocessing is fitted in folds only."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn

from cssvm.datasets import list_datasets, make_preprocessor, where

# Table 1 of the paper, its rows in order: rows, features, type of experiment.
PAPER = {
    "german_credit": (1_000, 24, "CSA"), "heart": (270, 13, "CSA"), "kdd99": (5_209_460, 42, "CSA"),
    "kdd98": (191_779, 479, "CSE"), "breast_cancer_diagnostic": (569, 32, "CSU"),
    "breast_cancer_original": (699, 10, "CSU"), "diabetes": (768, 8, "CSU"), "echocardiogram": (132, 12, "CSU"),
    "liver": (345, 6, "CSU"), "sonar": (208, 60, "CSU"), "tic_tac_toe": (958, 9, "CSU"),
    "webspam": (350_000, 254, "CSU"), "breast_cancer_prognostic": (198, 34, "IDL"), "covertype": (581_012, 54, "IDL"),
    "hepatitis": (155, 20, "IDL"), "ijcnn": (141_691, 2, "IDL"), "isolet": (7_797, 617, "IDL"),
    "mnist": (70_000, 780, "IDL"), "siam1": (28_596, 30_438, "IDL"), "siam11": (28_596, 30_438, "IDL"),
    "survival": (306, 3, "IDL"),
}  # fmt: skip


def test_the_list_has_the_21_sets_of_the_papers_table_in_order_and_the_authors_split():
    in_paper = [entry for entry in list_datasets() if entry.paper is not None]
    assert list(dict.fromkeys(entry.name for entry in in_paper)) == list(PAPER)
    assert len(PAPER) == 21
    for entry in in_paper:
        assert (*entry.paper, entry.experiment) == PAPER[entry.name]
    assert [entry.name for entry in list_datasets() if entry.paper is None] == ["german_credit_authors"]


def test_the_table_fits_a_terminal_and_has_one_line_for_each_entry():
    sets = list_datasets()
    lines = str(sets).splitlines()
    assert len(lines) == len(sets) + 2
    assert max(map(len, lines)) <= 100
    assert re.match(
        r"covertype +IDL +581,012 +54 +cottonwood or willow +1 : 211$",
        next(line for line in lines if line.startswith("covertype")),
    )


def test_the_document_lists_the_same_sets_with_the_same_numbers():
    text = (Path(__file__).parents[2] / "docs/datasets.md").read_text()
    documented = {
        name: (sum(int(part.replace(",", "")) for part in rows.split("+")), int(features))
        for name, rows, features in re.findall(r"^\| `(\w+)` \| ([\d,+ ]+) \| (\d+)", text, flags=re.MULTILINE)
    }
    first = {}
    for entry in list_datasets():
        first.setdefault(entry.name, (entry.n_rows, entry.n_features))
    assert documented == first


def test_every_entry_names_source_citation_licence_and_a_note():
    for entry in list_datasets():
        assert entry.source.startswith("https://")
        assert re.search(r"\((19|20)\d\d\)|\[Dataset\]", entry.citation), entry.name
        assert entry.licence
        assert len(entry.notes) > 40
        assert (entry.fn_cost is None) == (entry.experiment != "CSA")


def test_where_lists_the_states_of_the_files(all_data, tmp_path, monkeypatch):
    states = {location.dataset.label: location.state for location in where(all_data)}
    assert states["german_credit"] == "available"
    assert states["kdd98 (full)"] == "downloadable"
    assert states["isolet (uci)"] == "manual download"
    (tmp_path / "haberman").mkdir()
    (tmp_path / "haberman/haberman.data").write_text("nonsense")
    monkeypatch.setenv("CSSVM_DATA", str(tmp_path))
    table = where()
    assert {location.dataset.name for location in table if location.state == "wrong checksum"} == {"survival"}
    assert str(table).splitlines()[-1] == f"folder: {tmp_path} (CSSVM_DATA)"


def test_means_categories_and_scales_come_from_the_training_rows_only():
    train = pd.DataFrame({"a": [1.0, 2.0, np.nan, 6.0], "b": ["x", "y", "y", "x"]})
    test = pd.DataFrame({"a": [np.nan, 100.0], "b": ["unheard of", "x"]})
    prepared = make_preprocessor(train).fit(train)
    found = np.asarray(prepared.transform(test))
    values = np.array([1.0, 2.0, 3.0, 6.0])
    scaled = (np.array([3.0, 100.0]) - values.mean()) / values.std()
    np.testing.assert_allclose(found[:, 0], scaled)
    np.testing.assert_array_equal(found[:, 1], [1, 0])  # was missing, was not
    np.testing.assert_array_equal(found[:, 2:], [[0, 0], [1, 0]])


def test_rare_categories_share_an_indicator():
    frame = pd.DataFrame({"b": pd.Categorical(["x"] * 5 + ["y", "z"])})
    assert make_preprocessor(frame, min_frequency=3).fit_transform(frame).shape == (7, 2)


@pytest.mark.parametrize("wanted", ["pandas", "polars"])
def test_the_preparation_is_the_same_whatever_output_is_configured(wanted):
    frame = pd.DataFrame({"a": [1.0, 3.0, np.nan, 5.0], "b": ["x", "y", "y", "z"]})
    several = frame.assign(**{f"c{k}": list("pqrs") for k in range(9)})  # mostly zeros
    for rows in (frame, several, frame[["a"]].to_numpy(), sp.csr_array([[0.0, 4.0], [2.0, 0.0]])):
        expected = make_preprocessor(rows, min_frequency=1).fit_transform(rows)
        with sklearn.config_context(transform_output=wanted):
            found = make_preprocessor(rows, min_frequency=1).fit_transform(rows)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(sp.csr_array(found).toarray(), sp.csr_array(expected).toarray())


@pytest.mark.parametrize("dates", [pd.to_datetime(["2024-01-01"] * 3), pd.to_timedelta([1, 2, 3], unit="D")])
def test_dates_and_times_are_rejected_by_name(dates):
    with pytest.raises(ValueError, match="column 'when' must hold numbers, strings or booleans; got"):
        make_preprocessor(pd.DataFrame({"a": [1.0, 2.0, 3.0], "when": dates}))


def test_frames_of_other_libraries_are_rejected():
    with pytest.raises(TypeError, match=r"must be a pandas data frame; got polars.*Pass X.to_pandas\(\)"):
        make_preprocessor(pl.DataFrame({"a": [1.0], "b": ["x"]}))


def test_sparse_rows_stay_sparse():
    X = sp.csr_array([[0.0, 4.0], [2.0, 0.0]])
    np.testing.assert_array_equal(make_preprocessor(X).fit_transform(X).toarray(), [[0, 1], [1, 0]])


@pytest.mark.parametrize("name", ["german_credit", "hepatitis"])
def test_raw_frames_of_small_sets_go_through_the_preparation(real, name):
    frame = real(name).frame
    found = make_preprocessor(frame).fit_transform(frame)
    values = found.toarray() if sp.issparse(found) else found
    assert np.isfinite(values).all()
    assert values.shape[1] >= frame.shape[1]
