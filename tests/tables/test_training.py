"""`train_table` equals the same steps in Python: the same model and the same costs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from cssvm import CostSensitiveSVCCV, CostThresholdClassifier, evaluate
from cssvm._tables import TableError, train_table
from cssvm.deploy import load_model
from tests.tables.applicants import TRAIN, applicants, write


def by_hand():
    return make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), ["income", "amount"]),
        (MissingIndicator(features="all"), ["income"]),
        (OneHotEncoder(handle_unknown="ignore"), ["home", "zip"]),
    )


@pytest.fixture(scope="module")
def prepared(frame):
    """Features as one would read them with pandas, and the labels."""
    X = frame.drop(columns="outcome").astype({"zip": object})
    return X.assign(home=X["home"].fillna("").astype(object)), frame["outcome"].to_numpy()


def search(**options):
    return CostSensitiveSVCCV(
        transformer=by_hand(), decision="bayes", pos_label="bad", Cs=[0.1, 1.0], gammas=[0.05, 0.5], cv=3, **options
    )


def test_the_model_and_its_money_are_those_of_the_steps_done_by_hand(frame, prepared, tmp_path):
    X, y = prepared
    costs = {"fn_cost": 0.6 * frame["amount"].to_numpy(), "fp_cost": 0.1 * frame["amount"].to_numpy()}
    options = TRAIN | {"evaluation": True}
    trained = train_table(
        write(tmp_path, frame, "csv of Windows"), fn_cost="0.6*amount", fp_cost="0.1*amount", currency="EUR", **options
    )
    expected = search().fit(X, y, **costs)
    np.testing.assert_array_equal(trained.model.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(trained.model.predict_proba(X), expected.predict_proba(X))
    tuned = CostThresholdClassifier(make_pipeline(by_hand(), SVC()), method="tuned", cv=3, pos_label="bad")
    table = evaluate(search(), X, y, **costs, cv=3, compare={"tuned threshold": tuned})
    for policy in table.policies:
        assert trained.evaluation[policy.name] == policy
    assert list(trained.card.measures) == [
        "cost per row",
        "cost per row, act on nobody",
        "cost per row, act on everybody",
        "cost per row, cost-blind SVC",
        "cost per row, logistic, row costs",
        "cost per row, tuned threshold",
    ]
    assert trained.card.measures["cost per row"] == table.model.cost._asdict()


def test_weights_groups_and_folds_reach_the_search(frame, prepared):
    X, y = prepared
    rng = np.random.default_rng(0)
    weights, customers = rng.integers(1, 4, len(y)).astype(float), rng.integers(0, 40, len(y))
    with_columns = frame.assign(weight=weights, customer=customers)
    options = TRAIN | {"weight": "weight", "group": "customer", "fn_cost": 3}
    expected = search(fn_cost=3.0).fit(X, y, sample_weight=weights, groups=customers.astype(str))
    found = train_table(with_columns, **options).model
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(found.cv_results_["split0_test_score"], expected.cv_results_["split0_test_score"])


@pytest.mark.parametrize(
    ("options", "cv"),
    [
        ({"random_state": 7}, StratifiedKFold(3, shuffle=True, random_state=7)),
        ({"cv": TimeSeriesSplit(2)}, TimeSeriesSplit(2)),
    ],
)
def test_the_seed_and_splitters_set_the_folds(options, cv, frame, prepared):
    X, y = prepared
    found = train_table(frame, **(TRAIN | options)).model
    expected = search().set_params(cv=cv).fit(X, y)
    np.testing.assert_array_equal(found.cv_results_["split0_test_score"], expected.cv_results_["split0_test_score"])


def test_the_card_describes_the_training_table(frame, tmp_path):
    noted = frame.assign(id=[f"no {k}" for k in range(len(frame))], nothing=None)
    noted.loc[:4, "outcome"] = None
    file = tmp_path / "model.skops"
    train_table(write(tmp_path, noted, "csv"), fn_cost="0.6*amount", currency="EUR", out=file, **TRAIN)
    card = load_model(file).card
    assert (card.target, card.classes, card.pos_label) == ("outcome", ["bad", "good"], "bad")
    assert (card.fn_cost, card.fp_cost, card.currency) == ("0.6*amount", 1.0, "EUR")
    assert (card.n_rows, card.n_positives) == (155, int((noted["outcome"] == "bad").sum()))
    assert [(each.name, each.kind) for each in card.columns] == [
        ("income", "number"),
        ("amount", "number"),
        ("home", "category"),
        ("zip", "category"),
    ]
    assert card.columns[3].categories == ["01234", "04711", "81000", "99999"]
    assert card.certificate["status"] == "converged"
    assert len(card.notes) == 3
    assert card.notes[2] == "5 rows without a label were left out"


def test_labels_may_be_numbers_strings_or_booleans(frame):
    rest = frame[["income", "amount"]]
    for labels, positive, expected in (
        (np.where(frame["outcome"] == "bad", 2, 1), "2", 2),
        (np.where(frame["outcome"] == "bad", 1.0, 0.0), None, 1),
        (frame["outcome"] == "bad", "True", "True"),
        (frame["outcome"], "bad", "bad"),
    ):
        trained = train_table(rest.assign(y=labels), **(TRAIN | {"target": "y", "pos_label": positive}))
        assert trained.card.pos_label == expected
        assert trained.card.n_positives == int((frame["outcome"] == "bad").sum())


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array([18446744073709551615, 0], dtype=np.uint64), ["0", "18446744073709551615"]),
        (np.array([1.0, 1e20]), ["1.0", "1e+20"]),
    ],
)
def test_labels_are_never_other_numbers_than_those_of_the_table(labels, words, frame, tmp_path):
    bad = (frame["outcome"] == "bad").to_numpy()
    table = frame.assign(outcome=labels[bad.astype(int)])
    options = TRAIN | {"pos_label": str(labels[1])}
    trained = train_table(write(tmp_path, table, "csv"), **options)
    assert (trained.card.classes, trained.card.n_positives) == (words, bad.sum())
    assert {*trained.model.predict(table.drop(columns="outcome").fillna({"home": ""}))} == {*words}
    with pytest.raises(TableError, match=r"integers up to 2\*\*53 as labels"):
        train_table(table, **options)
    assert train_table(table, category=["outcome"], **options).card.n_positives == bad.sum()


def test_labels_may_be_numbers_and_strings_together(frame, tmp_path):
    rare = np.arange(len(frame)) % 12 == 0
    data = write(tmp_path, frame.assign(outcome=np.where(rare, "yes", "0")), "csv")
    for options in ({}, {"category": ["outcome"]}):
        trained = train_table(data, **options, **(TRAIN | {"pos_label": " yes "}))
        assert (trained.card.classes, trained.card.pos_label) == (["0", "yes"], "yes")
        assert trained.card.n_positives == rare.sum()


def test_two_numbers_that_are_not_whole_are_rejected_as_labels_unless_they_are_a_category(frame, tmp_path):
    data = write(tmp_path, frame.assign(outcome=np.where(frame["outcome"] == "bad", 0.1, 0.2)), "csv")
    with pytest.raises(TableError, match=r"as labels; got 0\.1, 0\.2\. Convert amounts to classes, or make"):
        train_table(data, **(TRAIN | {"pos_label": "0.1"}))
    assert train_table(data, category=["outcome"], **(TRAIN | {"pos_label": "0.1"})).card.classes == ["0.1", "0.2"]


def test_a_cost_that_gives_the_label_away_must_be_dropped(frame):
    loss = np.where(frame["outcome"] == "bad", frame["amount"], np.nan)
    told = frame.assign(loss=loss)
    with pytest.raises(TableError, match=r"column 'loss', the fn_cost, .* tells the model the label"):
        train_table(told, fn_cost="loss", **TRAIN)
    trained = train_table(told, fn_cost="loss", drop=["loss"], **TRAIN)
    assert "loss" not in [column.name for column in trained.card.columns]
    assert trained.card.fn_cost == "loss"
    with pytest.raises(TableError, match="'loss'"):
        train_table(frame.assign(loss=np.where(frame["outcome"] == "bad", 0.0, 5.0)), fp_cost="loss", **TRAIN)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"target": None}, "column of labels must be named"),
        ({"target": "nonsense"}, "has no column 'nonsense'"),
        ({"pos_label": "ugly"}, "label 'ugly' does not occur .* labels are 'bad', 'good'"),
        ({"pos_label": None, "fn_cost": 5}, r"strings, 'bad' and 'good'.*--positive bad or --positive good"),
        ({"fn_cost": "home"}, "column 'home' .* must hold finite numbers"),
        ({"fn_cost": "price"}, "fn_cost must be a number, a column of the table, or number.column; got 'price'"),
        ({"fn_cost": "2*price"}, "got '2.price'"),
        ({"fn_cost": -1}, "fn_cost"),
        ({"weight": "nonsense"}, "has no column 'nonsense'"),
        ({"weight": "home"}, "column 'home'"),
        ({"drop": ["nonsense"]}, "has no column 'nonsense'"),
        ({"target": "home"}, "two classes; got 3 different labels, 'own', 'rent', 'with parents, for now'"),
        ({"target": "amount"}, "two classes; got .* different labels"),
        ({"decision": "dice"}, "decision must be"),
        ({"kernel": "dice"}, "kernel"),
    ],
)
def test_what_cannot_be_trained_is_rejected_with_the_reason(options, said, frame):
    with pytest.raises(ValueError, match=said):
        train_table(frame, **(TRAIN | options))


def test_one_class_is_rejected(frame):
    with pytest.raises(TableError, match="one class only"):
        train_table(frame.assign(outcome="good"), **TRAIN)


def test_a_place_that_cannot_be_written_is_rejected_before_any_work(frame, tmp_path):
    for out, said in ((tmp_path, "is a folder"), (tmp_path / "no" / "model.skops", "there is no folder")):
        with pytest.raises(OSError, match=said):
            train_table("no such table", out=out, **TRAIN)


def test_libsvm_text_trains_a_model_on_sparse_rows(tmp_path):
    frame = applicants(120, seed=3)
    lines = [
        f"{'+1' if bad else '-1'} 1:{income:g} 3:{amount:g}"
        for bad, income, amount in zip(
            frame["outcome"] == "bad", frame["income"].fillna(0), frame["amount"], strict=True
        )
    ]
    (tmp_path / "rows").write_text("\n".join(lines))
    trained = train_table(tmp_path / "rows", **(TRAIN | {"target": None, "pos_label": "+1"}))
    assert [column.name for column in trained.card.columns] == ["1", "2", "3"]
    assert trained.card.pos_label == 1
    assert trained.model.n_features_in_ == 3


def test_a_frame_of_polars_trains_the_same_model(frame):
    polars = pytest.importorskip("polars")
    X = pd.DataFrame(frame.drop(columns="outcome")).fillna({"home": ""})
    expected = train_table(frame, **TRAIN).model.decision_function(X)
    np.testing.assert_array_equal(train_table(polars.from_pandas(frame), **TRAIN).model.decision_function(X), expected)
