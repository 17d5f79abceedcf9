"""The KDD98 experiment: incomes by hand, no leakage of donations, the paper's table, files of the cup."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from cssvm.datasets import load
from study import Cell, Grids, Outcome, Results, SetPlan, Study, kdd98
from study.pages import income_table
from study.summary import paper_figures

LETTER = 0.68
COLUMNS = ["OSOURCE", "STATE", "ZIP", "AGE", "LASTGIFT", "RFA_2", "CONTROLN", "RFA_2F"]
ROWS = {"train": 260, "test": 140}


def cup_rows(n, rng, first):
    """Rows of the cup's layout: blanks for missing values, ZIP codes with a dash, donations in the last column."""
    often, last = rng.integers(1, 5, n), rng.integers(3, 40, n)
    gave = rng.random(n) < 0.02 + 0.1 * often
    age = [str(value) if rng.random() < 0.8 else " " for value in rng.integers(20, 80, n)]
    return pd.DataFrame(
        {
            "OSOURCE": rng.choice(["GRI", "BOA", " "], n),
            "STATE": rng.choice(["CA", "IL", "NC", "TX"], n),
            "ZIP": [f"{value}-" for value in rng.integers(10_000, 99_999, n)],
            "AGE": age,
            "LASTGIFT": last,
            "RFA_2": [f"L{value}E" for value in often],
            "CONTROLN": np.arange(first, first + n),
            "RFA_2F": often,
            "TARGET_B": gave.astype(int),
            "TARGET_D": np.where(gave, np.round(0.2 * last + rng.gamma(2.0, 1.0, n), 2), 0.0),
        }
    )


def zipped(name, table):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, table.to_csv(index=False, lineterminator="\r\n"))
    return buffer.getvalue()


@pytest.fixture
def cup(provide):
    """A folder with small files of the cup's layout, and the rows of the validation file with their answers."""
    rng = np.random.default_rng(0)
    learning, validation = cup_rows(ROWS["train"], rng, 1), cup_rows(ROWS["test"], rng, 5001)
    answers = validation[["CONTROLN", "TARGET_B", "TARGET_D"]].sample(frac=1, random_state=0)
    folder = provide(
        "kdd98",
        {
            "train": (
                "kdd98/cup98lrn.zip",
                zipped("cup98LRN.txt", learning[[*COLUMNS[:6], "TARGET_B", "TARGET_D", *COLUMNS[6:]]]),
            ),
            "test": ("kdd98/cup98val.zip", zipped("cup98VAL.txt", validation[COLUMNS])),
            "answers": ("kdd98/valtargt.txt", answers.to_csv(index=False, lineterminator="\r\n").encode()),
        },
        variant="full",
    )
    return str(folder), validation


def mailing(donation, weight):
    donation = np.array(donation, float)
    return kdd98.Mailing(
        pd.DataFrame(index=range(len(donation))), np.zeros((len(donation), 1)), donation, np.array(weight)
    )


def test_income_by_hand():
    """Letters to a donor of 10, to one of 0.32 and to a non-donor of weight 3: 9.32 - 0.36 - 3 x 0.68 = 6.92."""
    rows = mailing([10.0, 0.0, 0.32, 25.0], [1.0, 3.0, 1.0, 1.0])
    written = np.array([True, True, True, False])
    assert kdd98.earned(rows, written) == pytest.approx(6.92)
    assert kdd98.income_per_mailing(rows, written) == pytest.approx(6.92 / 6 * 96_367)
    assert kdd98.earned(rows, np.zeros(4, bool)) == 0.0


def test_sample_costs_are_the_letter_and_the_donation_less_the_letter():
    rows = mailing([10.0, 0.0, 0.32], [1.0, 3.0, 1.0])
    np.testing.assert_allclose(rows.fn_cost, [9.32, 0.0, 0.0])
    assert rows.fit_params["fp_cost"] == LETTER
    assert rows.gave.tolist() == [1, 0, 1]
    assert rows.unit == pytest.approx(5 / (9.32 + 3 * 0.68))


def test_incomes_of_folds_sum_to_that_of_all_rows(shared_data):
    """Every row is in one test fold: the income of writing to everybody is that of all rows."""
    folds = [kdd98.make_mailing(3, fold, 0, str(shared_data)) for fold in range(3)]
    total = sum(kdd98.earned(new, np.ones(len(new.donation), bool)) for _, new in folds)
    assert total == pytest.approx(75_668.70 - LETTER * 95_412, abs=0.01)
    for train, new in folds:
        assert len(train.donation) + len(new.donation) == 19_372
        assert not set(train.frame.index) & set(new.frame.index)


def test_files_of_the_cup_are_the_two_parts(cup):
    folder, validation = cup
    train, new = kdd98.make_cup(folder)
    assert (len(train.donation), len(new.donation)) == (ROWS["train"], ROWS["test"])
    np.testing.assert_allclose(new.donation, validation["TARGET_D"])  # found by control number
    assert (train.weight == 1.0).all()
    assert not {"TARGET_B", "TARGET_D", "CONTROLN"} & set(new.frame.columns)
    assert isinstance(train.features, np.ndarray)
    assert np.isfinite(train.features).all()
    assert np.isfinite(new.features).all()


def test_preprocessing_is_fitted_on_the_learning_file_only(cup):
    folder, _ = cup
    train, _ = kdd98.make_cup(folder)
    standardised = np.abs(train.features.mean(axis=0)) < 1e-12
    found = load("kdd98", variant="full", subset="train", data_home=folder, download=False)
    n_numbers = (found.data.dtypes != "category").sum()
    assert standardised.sum() >= n_numbers


@pytest.mark.parametrize("method", kdd98.METHODS)
def test_predictions_do_not_depend_on_the_donations_of_the_test_samples(cup, method):
    train, new = kdd98.make_cup(cup[0])
    shuffled = new._replace(donation=np.random.default_rng(1).permutation(new.donation) + 7.0)
    with threadpool_limits(1, "openmp"):  # faster on few samples
        written, _ = kdd98.METHODS[method](train, new, 0)
        again, _ = kdd98.METHODS[method](train, shuffled, 0)
    assert written.dtype == bool
    assert written.shape == new.donation.shape
    np.testing.assert_array_equal(written, again)


def test_the_validation_file_is_scored_with_its_answers(cup):
    folder, validation = cup
    everybody, detail = kdd98.score_validation("Null Classifier", data_home=folder)
    assert everybody == pytest.approx(validation["TARGET_D"].sum() - LETTER * ROWS["test"])
    assert detail["letters"] == ROWS["test"]
    often = validation[validation["RFA_2F"] > 1]
    found, detail = kdd98.score_validation("answered twice lately", data_home=folder)
    assert found == pytest.approx((often["TARGET_D"] - LETTER).sum())
    assert detail["letters"] == len(often)


def test_a_model_trained_on_the_learning_file_earns_on_the_validation_file(cup):
    """One in five gives several dollars here, so that writing to somebody has a positive income."""
    folder, validation = cup
    found, detail = kdd98.score_validation("DCSM", data_home=folder)
    possible = (validation["TARGET_D"] - LETTER)[validation["TARGET_D"] > LETTER].sum()
    assert 0.0 < found <= possible
    assert 0 < detail["letters"] <= ROWS["test"]


def test_unknown_methods_are_rejected(cup):
    with pytest.raises(ValueError, match=r"There is no method 'C4\.5' for kdd98; there are FAR, DCSM"):
        kdd98.score_validation("C4.5", data_home=cup[0])


@pytest.fixture
def study():
    plan = SetPlan("kdd98", folds=2, repeats=1, inner=2)
    return Study("small", 0, (5.0, 1.0), (), Grids((1.0,), (1.0,), (1.0,), (1.0,)), (plan,))


def results(study, incomes):
    cells = [
        (Cell("kdd98", method, "income", 0, fold), Outcome(value, 1.0, {"n_train": 9686, "n_test": 9686}))
        for method, values in incomes.items()
        for fold, value in enumerate(values)
    ]
    return Results(study, cells)


def test_every_row_of_the_papers_income_table_is_listed(study):
    incomes = {name: (10_000.0 + k, 12_000.0 + k) for k, name in enumerate(kdd98.METHODS)}
    table = income_table(results(study, incomes))
    rows = {row[1]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    printed = {method: figure for (_, _, method, measure), figure in paper_figures().items() if measure == "income"}
    assert len(printed) == 13
    assert [row[1] for row in table.rows][:13] == list(printed)
    for method, figure in printed.items():
        row = rows[method]
        assert row["paper, $"] == f"{figure.value:,.0f}"
        assert (row["remark"] == "published only") == (row["ours, $"] == "-") == (method in kdd98.PUBLISHED_ONLY)
    assert set(rows) == set(printed) | set(kdd98.METHODS)
    assert all(rows[method]["paper, $"] == "-" for method in set(kdd98.METHODS) - set(printed))


def test_methods_not_run_are_not_marked_as_published_only(study):
    table = income_table(results(study, {"Null Classifier": (10_000.0, 12_000.0), "DCSM": (13_000.0, 14_000.0)}))
    rows = {row[1]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert rows["FAR"]["remark"] == "not run"
    assert rows["Res-DIPOL"]["remark"] == "published only"
    assert rows["DCSM"]["ours less writing to everybody, $"].startswith("2,500 [")  # paired: 3,000 and 2,000
