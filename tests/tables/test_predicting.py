"""`predict_table` writes the predictions of the model, for any file type and chunk size."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveLinearSVC, CostSensitiveSVC, CostThresholdClassifier, positive_class_scores
from cssvm._runtime.parquet import RowGroups
from cssvm._tables import TableError, predict_table, predicting, train_table
from cssvm._tables.output import escape_formula
from cssvm._tables.sources import open_table
from cssvm.deploy import ModelCard, SavedModel, load_model, save_model
from tests.tables.applicants import KINDS, TRAIN, applicants, read_decisions, write


@pytest.fixture(scope="module")
def model(frame, tmp_path_factory):
    """A file with a model whose costs are those of the rows."""
    file = tmp_path_factory.mktemp("model") / "model.skops"
    train_table(frame, fn_cost="0.6*amount", fp_cost="0.1*amount", out=file, currency="EUR", **TRAIN)
    return file


@pytest.fixture(scope="module")
def new():
    """Other rows, without labels, with missing values, unseen categories and one more column."""
    found = applicants(90, seed=1).drop(columns="outcome")
    found.loc[5, "home"] = "houseboat"
    found.loc[7, "zip"] = "00001"
    return found.assign(customer=np.arange(1000, 1090))


def predictions(model, frame, **costs):
    """Labels, scores and probabilities of the positive class, by the methods of the model itself."""
    loaded = load_model(model).model
    X = frame.fillna({"home": ""})[["income", "amount", "home", "zip"]]
    scores = positive_class_scores(loaded, X).values
    probabilities = loaded.predict_proba(X)[:, loaded.classes_.tolist().index("bad")]
    return loaded.predict(X, **costs), scores, probabilities


def costs_of(frame):
    amount = frame["amount"].to_numpy()
    return {"fn_cost": 0.6 * amount, "fp_cost": 0.1 * amount}


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_gets_the_prediction_of_the_model_from_any_file(kind, model, new, tmp_path):
    found = predict_table(model, write(tmp_path, new, kind), tmp_path / "out.csv")
    written = read_decisions(tmp_path / "out.csv")
    labels, scores, probabilities = predictions(model, new, **costs_of(new))
    assert written["label"].tolist() == labels.tolist()
    np.testing.assert_array_equal(written["score"], scores)
    np.testing.assert_array_equal(written["probability"], probabilities)
    np.testing.assert_array_equal(written["cost_of_acting"], (1 - probabilities) * costs_of(new)["fp_cost"])
    np.testing.assert_array_equal(written["cost_of_leaving"], probabilities * costs_of(new)["fn_cost"])
    cheaper = np.where(written["cost_of_acting"] < written["cost_of_leaving"], "bad", "good")
    assert written["label"].tolist() == cheaper.tolist()
    assert (found.n_rows, found.n_positives) == (90, int((labels == "bad").sum()))
    least = np.minimum(written["cost_of_acting"], written["cost_of_leaving"])
    assert found.expected_cost == pytest.approx(least.sum())


@pytest.mark.parametrize("kind", ["csv", "parquet in parts"])
def test_missing_values_and_unseen_categories_are_counted(model, new, tmp_path, kind):
    found = predict_table(model, write(tmp_path, new, kind), tmp_path / "out.csv")
    assert +found.missing == {"income": int(new["income"].isna().sum())}
    assert +found.unseen_categories == {"home": 1, "zip": 1}
    assert found.not_read == ["customer"]


@pytest.mark.parametrize("keep", [(), ("customer",)])
def test_only_needed_columns_of_parquet_are_read(model, new, tmp_path, monkeypatch, keep):
    read, asked = RowGroups.batches, []

    def noted(self, n_rows, stored):
        asked.append(stored)
        return read(self, n_rows, stored)

    monkeypatch.setattr(RowGroups, "batches", noted)
    data = write(tmp_path, new.assign(notes="long text"), "parquet in parts")
    predict_table(model, data, tmp_path / "out.csv", keep=keep)
    assert asked
    assert all(stored == [name for name in new if name != "customer" or keep] for stored in asked)


@pytest.mark.parametrize("kind", ["csv", "parquet in parts"])
def test_the_size_of_chunks_changes_nothing(kind, model, new, tmp_path, monkeypatch):
    data = write(tmp_path, new, kind)
    whole = predict_table(model, data, tmp_path / "whole.csv", keep=["customer", "home"])
    monkeypatch.setattr(predicting, "CHUNK_ROWS", 7)
    seen = []
    chunked = predict_table(model, data, tmp_path / "chunks.csv", keep=["customer", "home"], progress=seen.append)
    written = [pd.DataFrame(read_decisions(tmp_path / name)) for name in ("whole.csv", "chunks.csv")]
    pd.testing.assert_frame_equal(*written, rtol=1e-12)
    assert vars(whole) | {"expected_cost": 0} == vars(chunked) | {"expected_cost": 0}
    assert seen[-1] == 90
    assert len(seen) >= 13


def test_kept_columns_come_first_unchanged(model, new, tmp_path):
    data = write(tmp_path, new, "csv")
    predict_table(model, data, tmp_path / "out.csv", keep=["zip", "customer"])
    first = (tmp_path / "out.csv").read_text().splitlines()[:2]
    assert first[0] == "zip,customer,label,score,probability,cost_of_acting,cost_of_leaving"
    assert first[1].startswith(f"{new['zip'][0]},1000,")
    with pytest.raises(TableError, match="'label' cannot be kept"):
        predict_table(model, new.assign(label=1), tmp_path / "out.csv", keep=["label"])


def test_kept_entries_read_back_unchanged(model, new, tmp_path):
    notes = ["a\rb", "a\nb", "a\r\nb", 'say "no"', "a,b", "\r", "a\u2028b", '5"']
    predict_table(model, new.head(len(notes)).assign(note=notes), tmp_path / "out.csv", keep=["note"])
    again = open_table(tmp_path / "out.csv").whole()
    assert again.rows["note"].to_pylist() == notes
    assert b"\r\n5" not in (tmp_path / "out.csv").read_bytes()


def test_output_with_a_name_in_gz_is_compressed(model, new, tmp_path):
    predict_table(model, new, tmp_path / "out.csv")
    predict_table(model, new, tmp_path / "out.csv.gz")
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()) == (tmp_path / "out.csv").read_bytes()
    with pytest.raises(TableError, match=r"Parquet is compressed already\. Omit \.gz"):
        predict_table(model, new, tmp_path / "out.parquet.gz")


def test_decisions_can_go_to_parquet(model, new, tmp_path):
    predict_table(model, new, tmp_path / "out.parquet", keep=["customer"])
    written = pq.read_table(tmp_path / "out.parquet")
    labels, scores, _ = predictions(model, new, **costs_of(new))
    assert written.schema.field("customer").type == pa.int64()
    assert written["label"].to_pylist() == labels.tolist()
    np.testing.assert_array_equal(np.asarray(written["score"]), scores)


def test_costs_of_new_rows_can_be_given_in_place_of_those_of_training(model, new, tmp_path):
    predict_table(model, new, tmp_path / "out.csv", fn_cost=3, fp_cost="0.01*amount")
    labels, _, probabilities = predictions(model, new, fn_cost=3.0, fp_cost=0.01 * new["amount"].to_numpy())
    written = read_decisions(tmp_path / "out.csv")
    assert written["label"].tolist() == labels.tolist()
    np.testing.assert_array_equal(written["cost_of_leaving"], 3.0 * probabilities)


def test_a_model_with_one_threshold_takes_no_costs_and_has_no_probabilities(frame, new, tmp_path):
    file = tmp_path / "model.skops"
    train_table(frame, fn_cost="amount", out=file, decision="threshold", **TRAIN)
    predict_table(file, new.drop(columns="customer"), tmp_path / "out.csv")
    written = read_decisions(tmp_path / "out.csv")
    assert list(written) == ["label", "score"]
    np.testing.assert_array_equal(written["label"] == "bad", written["score"] >= 0)
    with pytest.raises(TableError, match="ignores costs at prediction time, so fn_cost of new rows cannot be given"):
        predict_table(file, new, tmp_path / "out.csv", fn_cost=3)


def test_models_saved_from_python_predict_tables(frame, tmp_path):
    X, y = frame[["amount", "income"]].fillna(0.0), (frame["outcome"] == "bad").to_numpy().astype(int)
    svm = make_pipeline(StandardScaler(), CostSensitiveSVC(fn_cost=5.0)).fit(X, y)
    bayes = CostThresholdClassifier(make_pipeline(StandardScaler(), CostSensitiveSVC()), fn_cost=5.0).fit(X, y)
    unnamed = make_pipeline(StandardScaler(), CostSensitiveSVC()).fit(X.to_numpy(), y)
    for model, columns in ((svm, X), (bayes, X), (unnamed, X.set_axis(["x0", "x1"], axis=1))):
        save_model(model, tmp_path / "model.skops")
        predict_table(tmp_path / "model.skops", columns, tmp_path / "out.csv")
        written = read_decisions(tmp_path / "out.csv")
        given = columns.to_numpy() if model is unnamed else columns
        assert written["label"].tolist() == [str(label) for label in model.predict(given)]
        np.testing.assert_array_equal(written["score"], model.decision_function(given))
        assert ("probability" in written) == (model is bayes)


def test_failures_leave_what_was_there(model, new, tmp_path, monkeypatch):
    out = tmp_path / "out.csv"
    out.write_text("before")
    broken = new.astype({"income": object})
    broken.loc[80, "income"] = "unknown"
    monkeypatch.setattr(predicting, "CHUNK_ROWS", 7)
    with pytest.raises(TableError, match=r"column 'income' .* got 'unknown' in row 81"):
        predict_table(model, write(tmp_path, broken, "csv"), out)
    with pytest.raises(TableError, match="has no column 'home', 'zip'"):
        predict_table(model, new.drop(columns=["home", "zip"]), out)
    with pytest.raises(TableError, match="takes fn_cost from column 'amount', which this table lacks"):
        predict_table(SavedModel(*_without_amount(model)), new.drop(columns="amount"), out)
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["csv.data", "out.csv"]


def _without_amount(model):
    saved = load_model(model)
    columns = [column for column in saved.card.columns if column.name != "amount"]
    return saved.model, ModelCard.from_model(saved.model, columns=columns, fn_cost="0.6*amount", fp_cost=1.0)


def test_a_model_of_libsvm_rows_predicts_libsvm_rows(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    lines = [f"{label} 1:{rng.normal() + label:.6f} 2:{rng.normal():.6f}" for label in y]
    (tmp_path / "rows").write_text("\n".join(lines))
    options = TRAIN | {"target": None, "pos_label": None, "out": tmp_path / "model.skops"}
    model = train_table(tmp_path / "rows", **options).model
    (tmp_path / "new").write_text("0 1:0.5 7:9\n0 2:1\n0\n")
    found = predict_table(tmp_path / "model.skops", tmp_path / "new", tmp_path / "out.csv")
    written = read_decisions(tmp_path / "out.csv")
    expected = model._predict_all(np.array([[0.5, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    np.testing.assert_allclose(written["score"], expected.scores, rtol=1e-12)
    assert found.n_rows == 3


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-a", "@x", "\t=1", "\r=1", "-1+1", "=\n", "+1e5x", "--5"])
def test_a_string_that_a_spreadsheet_would_evaluate_gets_an_apostrophe(text):
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize("value", ["-5", "+5.25", "-.5e-3", "-", "=", "a=b", "", "1-2", -5, -0.5, None, True])
def test_numbers_and_harmless_strings_are_written_unchanged(value):
    assert escape_formula(value) is value


def test_labels_and_kept_entries_of_parquet_are_never_altered(tmp_path):
    rows = pd.DataFrame({"a": np.arange(8.0), "who": ["=1+1"] * 8})
    model = CostSensitiveLinearSVC(pos_label="=x").fit(rows[["a"]], np.where(rows["a"] > 3, "=x", "ok"))
    saved = SavedModel(model, ModelCard.from_model(model))
    for name, who, label in (("d.parquet", "=1+1", "=x"), ("d.csv", "'=1+1", "'=x")):
        predict_table(saved, rows, tmp_path / name, keep=["who"])
        written = pd.read_parquet(tmp_path / name) if name == "d.parquet" else pd.read_csv(tmp_path / name)
        assert set(written["who"]) == {who}
        assert set(written["label"]) == {label, "ok"}
