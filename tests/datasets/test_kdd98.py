"""KDD 98: donors, amounts and weights of the real tables, and small files in the layout of the cup."""

import gzip
import io
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline

from cssvm.datasets import load, make_preprocessor
from cssvm.metrics import income

# Some columns of the files of the cup. LRN has the target columns between two of them.
COLUMNS = [
    "ODATEDW",
    "OSOURCE",
    "TCODE",
    "STATE",
    "ZIP",
    "MAILCODE",
    "PVASTATE",
    "DOB",
    "NOEXCH",
    "RECINHSE",
    "DOMAIN",
    "AGE",
    "RAMNT_3",
    "RFA_2",
]
LAST = ["CONTROLN", "HPHONE_D", "CLUSTER2", "GEOCODE2"]
ROWS = [
    "8901,GRI,0,IL,61081,A, ,3712,0, ,T2,  ,10,L4E",
    "9401,BOA,1,CA,91326-,B, ,5202,0,X,S1,46, ,L2G",
    "9001,AMH,1,NC,27017, , ,0,X, ,R2, ,5.5,L4E",
]
LRN = [
    ",".join([*COLUMNS, "TARGET_B", "TARGET_D", *LAST]),
    ROWS[0] + ",0,0,95515,0,39,C",
    ROWS[1] + ",1,12.5,148535,0,1,A",
    ROWS[2] + ",1,0.5,15078,1,60, ",
]
VAL = [
    ",".join([*COLUMNS, *LAST]),
    ROWS[2] + ",9,1,60,A",
    ROWS[0] + ",3,0,39,B",
]
VALTARGT = ["CONTROLN,TARGET_B,TARGET_D", "3,0,0", "9,1,0.32"]


def zipped(name, lines):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, "\r\n".join(lines) + "\r\n")
    return buffer.getvalue()


@pytest.fixture
def cup(provide):
    def write(val=VAL, valtargt=VALTARGT):
        return provide(
            "kdd98",
            {
                "train": ("kdd98/cup98lrn.zip", zipped("cup98LRN.txt", LRN)),
                "test": ("kdd98/cup98val.zip", zipped("cup98VAL.txt", val)),
                "answers": ("kdd98/valtargt.txt", ("\r\n".join(valtargt) + "\r\n").encode()),
            },
            variant="full",
        )

    return write


def test_the_cups_files_are_read_with_answers_found_by_control_number(cup):
    bunch = load("kdd98", variant="full", data_home=cup(), download=False)
    assert bunch.split.tolist() == ["train"] * 3 + ["test"] * 2
    assert bunch.target.tolist() == [0, 1, 1, 1, 0]
    assert bunch.amounts.tolist() == [0, 12.5, 0.5, 0.32, 0]
    assert bunch.control_number.tolist() == [95515, 148535, 15078, 9, 3]
    assert bunch.feature_names == [*COLUMNS, *LAST[1:]]
    np.testing.assert_allclose(bunch.fn_cost, [0, 12.5 - 0.68, 0, 0, 0])
    assert bunch.fp_cost == 0.68
    assert bunch.data is bunch.frame


def test_categories_and_numbers_of_the_cup_are_distinguished(cup):
    frame = load("kdd98", variant="full", data_home=cup(), download=False).frame
    assert frame["ZIP"].tolist() == ["61081", "91326", "27017", "27017", "61081"]
    assert frame["NOEXCH"].tolist() == ["0", "0", "X", "X", "0"]
    assert frame["MAILCODE"].tolist() == ["A", "B", "", "", "A"]
    assert frame["RECINHSE"].tolist() == ["", "X", "", "", ""]  # all blank in one of the files
    assert frame["GEOCODE2"].tolist() == ["C", "A", "", "A", "B"]
    assert str(frame["TCODE"].dtype) == "category"  # a code, though it looks like a number
    np.testing.assert_array_equal(frame["AGE"], [np.nan, 46, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(frame["RAMNT_3"], [10, np.nan, 5.5, 5.5, 10])
    assert "TARGET_B" not in frame
    assert "TARGET_D" not in frame
    assert "CONTROLN" not in frame


def test_a_part_of_the_cups_files_is_read_alone(cup):
    folder = cup()
    (folder / "kdd98/cup98val.zip").unlink()
    train = load("kdd98", variant="full", subset="train", data_home=folder, download=False)
    assert train.target.tolist() == [0, 1, 1]
    folder = cup()
    (folder / "kdd98/cup98lrn.zip").unlink()
    test = load("kdd98", variant="full", subset="test", data_home=folder, download=False)
    assert test.amounts.tolist() == [0.32, 0]


@pytest.mark.parametrize("answers", [VALTARGT[:2], [*VALTARGT, "12,0,0"], [*VALTARGT[:2], "10,1,0.32"]])
def test_answers_that_do_not_belong_to_the_rows_are_rejected(cup, answers):
    with pytest.raises(ValueError, match="does not answer the rows"):
        load("kdd98", variant="full", data_home=cup(valtargt=answers), download=False)


def test_mailing_everybody_is_scored_on_files_of_the_cups_layout(cup):
    test = load("kdd98", variant="full", subset="test", data_home=cup(), download=False)
    earned = income(test.target, np.ones(2, int), tp_cost=test.fp_cost - test.amounts, fp_cost=test.fp_cost)
    assert earned == pytest.approx(0.32 - 2 * 0.68)


def test_donors_are_all_of_the_learning_files_and_weights_restore_its_prior(real, shared_data):
    bunch = real("kdd98")
    assert bunch.variant == "donors"
    assert bunch.frame.shape == (19_372, 47)
    assert bunch.target.sum() == 4_843
    assert bunch.amounts.sum() == pytest.approx(75_668.70, abs=0.005)
    assert ((bunch.amounts > 0) == (bunch.target == 1)).all()
    assert bunch.sample_weight.sum() == pytest.approx(95_412)
    assert bunch.sample_weight[bunch.target == 0].sum() == pytest.approx(90_569)
    np.testing.assert_allclose(bunch.fn_cost[bunch.target == 1], bunch.amounts[bunch.target == 1] - 0.68)
    assert not {"TARGET_B", "TARGET_D", "CONTROL_NUMBER"} & set(bunch.frame.columns)
    with gzip.open(shared_data / "kdd98/donor_raw_data.csv.gz", "rt") as file:
        head, *lines = [next(file).rstrip("\r\n").split(",") for _ in range(200)]
    assert list(bunch.frame.columns) == head[3:]
    for k, name in enumerate(head[3:]):
        cells = [line[3 + k] for line in lines]
        if bunch.frame[name].dtype.kind == "f":
            expected = [float(cell) if cell else np.nan for cell in cells]
            np.testing.assert_array_equal(bunch.frame[name][:199], expected)
        else:
            assert bunch.frame[name][:199].tolist() == cells
    assert (bunch.frame.dtypes == "category").sum() == 7


def test_the_categorical_columns_have_the_amounts_of_the_same_rows(real):
    bunch, donors = real("kdd98", variant="categorical"), real("kdd98")
    assert bunch.frame.shape == (95_412, 31)
    assert bunch.target.sum() == 4_843
    assert sorted(bunch.amounts[bunch.target == 1]) == sorted(donors.amounts[donors.target == 1])
    # Donors by frequency of earlier gifts, in both extracts: rows and amounts belong together.
    by_frequency = [int(bunch.target[bunch.frame["RFA_2"].str[1] == str(k)].sum()) for k in (1, 2, 3, 4)]
    other = [int(donors.target[donors.frame["FREQUENCY_STATUS_97NK"] == k].sum()) for k in (1, 2, 3, 4)]
    assert by_frequency == other == [1794, 1056, 1003, 990]


def test_the_answers_alone_have_no_features(real):
    answers = real("kdd98", variant="validation")
    assert answers.data is None
    assert answers.feature_names == []
    assert answers.target.sum() == 4_873
    assert answers.amounts.sum() == pytest.approx(76_089.64, abs=0.005)
    assert answers.fn_cost.min() == 0.0  # a donation of 32 cents among them


@pytest.mark.system
@pytest.mark.parametrize("variant", ["donors", "categorical"])
def test_a_pipeline_learns_from_the_raw_frame_fold_by_fold(real, variant):
    bunch = real("kdd98", variant=variant)
    rows = np.random.default_rng(0).permutation(len(bunch.target))[:4000]
    X, y = bunch.data.iloc[rows], bunch.target[rows]
    model = make_pipeline(make_preprocessor(X), LogisticRegression(C=0.01, max_iter=500))
    scores = cross_val_predict(model, X, y, cv=3, method="decision_function")
    assert np.isfinite(scores).all()
