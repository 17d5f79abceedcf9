"""Costs and weights of a table: the same for training, prediction, metrics and reports, and their errors."""

import numpy as np
import pandas as pd
import pytest

from cssvm._tables import TableError, evaluate_table, predict_table, report_table, sources, train_table
from cssvm._tables.cost_spec import CostSpec, read_weight_column
from cssvm._tables.training_data import TrainingData
from cssvm.deploy import SavedModel
from tests.tables.applicants import TRAIN, read_decisions

COSTS = {"fn_cost": "miss", "fp_cost": "alarm", "drop": ["miss", "alarm"]}


@pytest.fixture(scope="module")
def priced(frame):
    """Applicants with a column for each cost; the third has no label."""
    amount = frame["amount"]
    return frame.assign(miss=0.6 * amount, alarm=0.1 * amount, outcome=frame["outcome"].where(frame.index != 2))


@pytest.fixture(scope="module")
def models(priced):
    """One that decides by the costs of each row, and one that does not."""
    found = {decision: train_table(priced, decision=decision, **COSTS, **TRAIN) for decision in ("bayes", "threshold")}
    return {decision: SavedModel(trained.model, trained.card) for decision, trained in found.items()}


def with_entry(table, column, label, value, nth=3):
    """The table with another entry in the nth row of this label, and the number of that row."""
    row = np.flatnonzero(table["outcome"] == label)[nth]
    changed = table.copy()
    changed.loc[row, column] = value
    return changed, row + 1


def verbs(model, out):
    """What reads labelled rows with a saved model, by name."""
    return {
        "evaluate": lambda table: evaluate_table(model, table, n_resamples=1),
        "report": lambda table: report_table(model, table, n_resamples=1),
        "predict": lambda table: predict_table(model, table, out),
    }


@pytest.mark.parametrize(("column", "name"), [("miss", "fn_cost"), ("alarm", "fp_cost")])
@pytest.mark.parametrize("label", ["bad", "good"])
def test_a_negative_cost_is_rejected_by_every_verb_wherever_it_stands(column, name, label, priced, models, tmp_path):
    wrong, row = with_entry(priced, column, label, -5.0)
    said = rf"column '{column}' of the data frame, the {name}, must not be negative; got -5 in row {row}\."
    with pytest.raises(TableError, match=said):
        train_table(wrong, **COSTS, **TRAIN)
    for verb in verbs(models["bayes"], tmp_path / "out.csv").values():
        with pytest.raises(TableError, match=said):
            verb(wrong)


@pytest.mark.parametrize(("column", "name", "label"), [("miss", "fn_cost", "bad"), ("alarm", "fp_cost", "good")])
def test_a_missing_cost_that_is_used_is_rejected_by_training_and_evaluation(
    column, name, label, priced, models, tmp_path
):
    wrong, row = with_entry(priced, column, label, np.nan)
    said = rf"the {name}, is empty in row {row}, where it is used"
    with pytest.raises(TableError, match=said):
        train_table(wrong, **COSTS, **TRAIN)
    for name, verb in verbs(models["threshold"], tmp_path / "out.csv").items():
        if name == "predict":
            assert verb(wrong).n_rows == len(wrong)  # it decides without costs
            continue
        with pytest.raises(TableError, match=said):
            verb(wrong)


def test_a_missing_cost_elsewhere_stops_only_decisions_by_the_costs_of_rows(priced, models, tmp_path):
    table, row = with_entry(priced, "miss", "good", np.nan)
    trained = train_table(table, **COSTS, **TRAIN)
    # A held-out row is decided by both of its costs; the mean of the class that has the cost stands for a missing one.
    mean = priced.loc[priced["outcome"] == "bad", "miss"].mean()
    expected = train_table(table.assign(miss=table["miss"].fillna(mean)), **COSTS, **TRAIN)
    X = priced[["income", "amount", "home", "zip"]].fillna({"home": ""})
    np.testing.assert_array_equal(trained.model.predict_proba(X), expected.model.predict_proba(X))
    for verb in verbs(models["threshold"], tmp_path / "out.csv").values():
        verb(table)
    said = rf"the fn_cost, is empty in row {row}, and the model decides by the costs of each row"
    for verb in verbs(models["bayes"], tmp_path / "out.csv").values():
        with pytest.raises(TableError, match=said):
            verb(table)
    with pytest.raises(TableError, match=said):  # before any search
        train_table(table, **COSTS, **(TRAIN | {"evaluation": True}))
    train_table(table, **COSTS, **(TRAIN | {"evaluation": True, "decision": "threshold"}))


def test_rows_keep_the_numbers_of_the_file_in_every_chunk(priced, models, monkeypatch, tmp_path):
    wrong, row = with_entry(priced, "miss", "bad", -5.0, nth=10)
    assert row > 14
    monkeypatch.setattr(sources, "CHUNK_ROWS", 7)
    wrong.to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(TableError, match=rf"got -5 in row {row}\."):
        evaluate_table(models["bayes"], tmp_path / "table.csv")


@pytest.mark.parametrize(("value", "said"), [(-2.0, "must not be negative; got -2"), (np.nan, "is empty")])
def test_weights_are_at_least_0_and_there_on_every_row(value, said, priced, models):
    wrong, row = with_entry(priced.assign(weight=1.0), "weight", "good", value)
    for verb in (
        lambda: train_table(wrong, weight="weight", **TRAIN),
        lambda: evaluate_table(models["bayes"], wrong, weight="weight"),
        lambda: report_table(models["bayes"], wrong, weight="weight"),
    ):
        with pytest.raises(TableError, match=rf"column 'weight' .* the weight, {said} in row {row}"):
            verb()


@pytest.mark.parametrize("given", [-5, "-5", float("inf"), "nan"])
def test_a_number_that_is_not_a_cost_is_rejected(given, priced, models, tmp_path):
    for verb in (
        lambda: train_table(priced, **(COSTS | {"fn_cost": given}), **TRAIN),
        lambda: predict_table(models["bayes"], priced, tmp_path / "out.csv", fn_cost=given),
        lambda: evaluate_table(models["threshold"], priced, fn_cost=given),
    ):
        with pytest.raises(TableError, match="fn_cost must be finite and non-negative"):
            verb()


def test_rows_that_cost_nothing_are_not_acted_on_and_counted(priced, models, tmp_path):
    free, row = with_entry(priced, "miss", "bad", 0.0)
    free.loc[row - 1, "alarm"] = 0.0
    before = predict_table(models["bayes"], priced, tmp_path / "before.csv")
    found = predict_table(models["bayes"], free, tmp_path / "after.csv")
    assert (before.n_free, found.n_free) == (0, 1)
    decided = {name: read_decisions(tmp_path / f"{name}.csv")["label"] for name in ("before", "after")}
    assert decided["after"][row - 1] == "good"
    others = np.arange(len(free)) != row - 1
    np.testing.assert_array_equal(decided["before"][others], decided["after"][others])
    for verb in verbs(models["bayes"], tmp_path / "out.csv").values():
        verb(free)
    evaluate_table(models["threshold"], free, n_resamples=1)


def test_columns_of_costs_and_those_to_keep_are_not_among_those_not_read(priced, models, tmp_path):
    table = priced.assign(customer=1, note="x")
    found = predict_table(models["bayes"], table, tmp_path / "out.csv", keep=["customer"])
    assert found.not_read == ["outcome", "note"]


def test_a_cost_that_is_both_a_number_and_a_column_is_rejected_and_can_be_written_otherwise():
    with pytest.raises(TableError, match=r"fn_cost 2023 is a number and also a column .* 1\*2023 .* \+2023"):
        CostSpec.parse("fn_cost", "2023", ["2023", "y"])
    assert CostSpec.parse("fn_cost", "+2023", ["2023"]) == CostSpec("fn_cost", 2023.0)
    assert CostSpec.parse("fn_cost", 2023, ["2023"]) == CostSpec("fn_cost", 2023.0)
    column = CostSpec.parse("fn_cost", "1*2023", ["2023", "y"])
    assert column == CostSpec("fn_cost", 1.0, "2023")
    assert CostSpec.parse("fn_cost", column.text, ["2023", "y"]) == column  # as a card keeps it


def test_a_misspelt_column_is_met_with_the_one_that_is_close(frame):
    with pytest.raises(TableError, match="Did you mean 'amount'"):
        CostSpec.parse("fn_cost", "0.6*amuont", list(frame.columns))
    with pytest.raises(TableError, match=r"has no column 'Outcom'; .* Did you mean 'outcome'"):
        train_table(frame, **{**TRAIN, "target": "Outcom"})
    with pytest.raises(TableError) as found:
        train_table(frame, **{**TRAIN, "target": "zzz"})
    assert "mean" not in str(found.value)


def test_a_missing_cost_column_is_named(priced, models, tmp_path):
    for verb in verbs(models["bayes"], tmp_path / "out.csv").values():
        with pytest.raises(TableError, match="the model takes fn_cost from column 'miss', which this table lacks"):
            verb(priced.drop(columns="miss"))


@pytest.mark.parametrize("absent", [0.0, np.nan])
@pytest.mark.parametrize("label", ["bad", "good"])
def test_a_cost_that_is_missing_on_every_row_of_one_class_is_rejected_as_a_feature(label, absent, priced):
    known = priced["outcome"] != label
    leaking = priced.assign(miss=priced["miss"].where(known, absent).where(priced.index != np.argmax(known), 0.0))
    name = "fn_cost" if label == "good" else "fp_cost"
    costs = {name: "miss"}
    with pytest.raises(TableError, match=r"'miss', the .*, is 0 or missing on every row of one class, .*--drop miss"):
        train_table(leaking, **costs, **TRAIN)
    TrainingData.read(leaking, **reading(costs, drop=["miss"]))
    TrainingData.read(priced, **reading(costs))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (lambda bad, n: np.where(bad, 1.0, np.nan), "it is missing on every row of one class"),
        (lambda bad, n: np.where(bad & (n % 2 == 0), "x", ""), "it is missing on every row of one class"),
        (lambda bad, n: np.where(bad, 5.0 + n, -n), "AUC 1"),
        (lambda bad, n: np.where(bad, -5.0 - n, np.where(n % 2, n, np.nan)), "AUC 1"),
        (lambda bad, n: np.where(n % 7 == 0, np.nan, n % 5), None),
    ],
)
def test_a_column_that_alone_tells_the_classes_apart_is_noted(column, said, frame):
    n = np.arange(len(frame))
    task = TrainingData.read(frame.assign(leak=column((frame["outcome"] == "bad").to_numpy(), n)), **reading())
    notes = [note for note in task.notes if "alone tells the classes apart" in note]
    assert [f"column 'leak' alone tells the classes apart: {said}" in note for note in notes] == [True] * bool(said)


@pytest.mark.parametrize("missing", ["", None])
def test_rows_without_a_group_are_groups_of_their_own(missing, frame):
    task = TrainingData.read(frame.assign(customer=["a", "b", missing, missing] * 40), **reading(group="customer"))
    groups = task.fit_params["groups"]
    assert len(np.unique(groups)) == 2 + 80
    assert "80 rows have no entry in 'customer', the group: each is a group of its own" in task.notes


def reading(costs=None, **given):
    """Arguments of `TrainingData.read`."""
    costs = {"fn_cost": 1.0, "fp_cost": 1.0, **(costs or {})}
    none = {"weight": None, "group": None, "drop": (), "category": (), "decided_by_costs": False}
    return {"target": "outcome", "pos_label": "bad", "costs": costs, **none, **given}


def test_the_error_about_negative_weights_does_not_advise_to_leave_them_empty():
    rows = sources.open_table(pd.DataFrame({"w": [1.0, -2.0]})).whole()
    with pytest.raises(TableError, match=r"the weight, must not be negative; .* in row 2\. .*leave out the rows\.$"):
        read_weight_column(rows, "w")
