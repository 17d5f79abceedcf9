"""Every data set has the documented rows, features and classes, and a description of its changes."""

import bz2
import csv
import gzip
import io

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial import KDTree
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

from cssvm import CostSensitiveSVC
from cssvm.datasets import load
from cssvm.datasets._registry import DATASETS

# name: rows, columns of `data`, positives; counted in the raw files, the paper's figures where it has them.
COUNTED = {
    "german_credit": (1000, 24, 300),
    "heart": (270, 13, 120),
    "breast_cancer_diagnostic": (569, 30, 212),
    "breast_cancer_original": (699, 9, 241),
    "diabetes": (768, 8, 268),
    "echocardiogram": (131, 9, 43),
    "liver": (345, 6, 145),
    "sonar": (208, 60, 111),
    "tic_tac_toe": (958, 27, 332),
    "webspam": (500, 254, 202),
    "breast_cancer_prognostic": (198, 32, 47),
    "hepatitis": (155, 19, 32),
    "isolet": (7797, 617, 300),
    "siam1": (28_596, 500, 15),
    "siam11": (28_596, 500, 40),
    "survival": (306, 3, 81),
    "german_credit_authors": (1000, 24, 300),
}
LARGE = {
    "kdd99": (805_050, 38 + 3 + 71 + 11, 157_871),
    "covertype": (581_012, 54, 2_747),
    "ijcnn": (141_691, 22, 13_565),
    "mnist": (70_000, 784, 6_313),
}
ALL = [*COUNTED, *(pytest.param(name, marks=pytest.mark.system) for name in LARGE)]


@pytest.mark.parametrize("name", ALL)
def test_rows_features_and_classes_are_those_counted(real, name):
    bunch = real(name)
    n_rows, n_columns, n_positives = (COUNTED | LARGE)[name]
    assert bunch.data.shape == (n_rows, n_columns)
    assert bunch.target.shape == (n_rows,)
    assert bunch.target.dtype == np.int64
    assert np.bincount(bunch.target).tolist() == [n_rows - n_positives, n_positives]
    assert len(bunch.feature_names) == len(set(bunch.feature_names)) == n_columns
    assert len(bunch.target_names) == 2
    entry = DATASETS[name][0]
    assert (entry.n_rows, entry.n_positives) == (n_rows, n_positives)
    described = bunch.data if bunch.frame is None or name == "german_credit" else bunch.frame
    assert entry.n_features == described.shape[1]
    for field in (bunch.split, bunch.groups, *((bunch.frame,) if bunch.frame is not None else ())):
        assert field is None or len(field) == n_rows


def text(folder, path):
    """The file's text, unpacked."""
    content = (folder / path).read_bytes()
    return (gzip.decompress(content) if path.endswith(".gz") else content).decode()


def split_rows(folder, path, delimiter=","):
    lines = [line for line in text(folder, path).splitlines() if line.strip()]
    return [line.split() if delimiter is None else next(csv.reader([line])) for line in lines]


def as_number(cell):
    return float("nan") if cell.strip() == "?" else float(cell)


# name: file, column of the class, its value for the positive class, columns that are features.
TABLES = {
    "german_credit": ("german_credit/german.data-numeric", 24, "2", range(24)),
    "heart": ("heart_statlog/heart.dat", 13, "2", range(13)),
    "breast_cancer_diagnostic": ("wdbc/wdbc.data", 1, "M", range(2, 32)),
    "breast_cancer_original": ("wbc_original/breast-cancer-wisconsin.data", 10, "4", range(1, 10)),
    "diabetes": ("pima_diabetes/pima-indians-diabetes.data", 8, "1", range(8)),
    "echocardiogram": ("echocardiogram/echocardiogram.data", 1, "1", [2, 3, 4, 5, 6, 7, 8, 9, 11]),
    "liver": ("liver_bupa/bupa.data", 6, "1", range(6)),
    "sonar": ("sonar/sonar.all-data", 60, "M", range(60)),
    "breast_cancer_prognostic": ("wpbc/wpbc.data", 1, "R", range(3, 35)),
    "hepatitis": ("hepatitis/hepatitis.data", 0, "1", range(1, 20)),
    "survival": ("haberman/haberman.data", 3, "2", range(3)),
}


@pytest.mark.parametrize("name", TABLES)
def test_all_rows_of_a_table_are_those_of_its_file(real, shared_data, name):
    bunch = real(name)
    path, label, target, columns = TABLES[name]
    rows = split_rows(shared_data, path, None if name in ("german_credit", "heart") else ",")
    rows = [row for row in rows if row[label] != "?"]
    np.testing.assert_array_equal(bunch.data, [[as_number(row[column]) for column in columns] for row in rows])
    np.testing.assert_array_equal(bunch.target, [row[label] == target for row in rows])
    if name != "german_credit":
        np.testing.assert_array_equal(bunch.frame.to_numpy(), bunch.data)
        assert list(bunch.frame.columns) == bunch.feature_names


def test_the_raw_frame_of_german_credit_is_its_other_file(real, shared_data):
    bunch = real("german_credit")
    rows = split_rows(shared_data, "german_credit/german.data", None)
    assert bunch.frame.shape == (1000, 20)
    for k, name in enumerate(bunch.frame.columns):
        column = [row[k] for row in rows]
        expected = column if column[0].startswith("A") else [float(cell) for cell in column]
        assert bunch.frame[name].tolist() == expected
    # The names given to the numeric columns say what they are.
    frame = bunch.frame
    for k, name in enumerate(bunch.feature_names):
        if "=" in name:
            source, word = name.split("=")
            np.testing.assert_array_equal(bunch.data[:, k], frame[source] == word)
        elif name == "amount_in_hundreds":
            np.testing.assert_array_equal(bunch.data[:, k], np.round(frame["amount"] / 100))
        elif frame[name].dtype.kind == "f":
            np.testing.assert_array_equal(bunch.data[:, k], frame[name])
        else:
            assert len({(number, word) for number, word in zip(bunch.data[:, k], frame[name], strict=True)}) == len(
                set(frame[name])
            )


def test_known_costs_are_five_to_one_for_credit_and_heart(real):
    for name in ("german_credit", "german_credit_authors", "heart"):
        bunch = real(name)
        assert (bunch.fn_cost, bunch.fp_cost) == (5.0, 1.0)
        assert bunch.experiment == "CSA"
    unknown = real("sonar")
    assert unknown.fn_cost is None
    assert unknown.fp_cost is None


def test_the_authors_split_is_a_permutation_of_german_credit_scaled_over_all_rows(real):
    authors, credit = real("german_credit_authors"), real("german_credit")
    assert np.unique(authors.split, return_counts=True)[1].tolist() == [200, 800]
    low, high = credit.data.min(axis=0), credit.data.max(axis=0)
    scaled = np.column_stack([(credit.data - low) / (high - low), 10 * credit.target])
    distance, row = KDTree(scaled).query(np.column_stack([authors.data, 10 * authors.target]))
    assert distance.max() < 2e-5  # the file has five digits
    assert len(set(row)) == 1000


def test_breast_cancer_diagnostic_is_scikit_learns(real):
    bunch, theirs = real("breast_cancer_diagnostic"), load_breast_cancer()
    np.testing.assert_array_equal(bunch.data, theirs.data)
    np.testing.assert_array_equal(bunch.target, 1 - theirs.target)


@pytest.mark.parametrize(
    ("name", "n_missing"),
    [("breast_cancer_original", 16), ("breast_cancer_prognostic", 4), ("hepatitis", 167), ("diabetes", 0)],
)
def test_missing_numbers_are_nan_and_counted(real, name, n_missing):
    bunch = real(name)
    assert np.isnan(bunch.data).sum() == n_missing
    assert n_missing == 0 or f"{n_missing} values" in bunch.DESCR


def test_leaking_columns_are_left_out_with_a_warning(real):
    for name, leaks in (("echocardiogram", ("survival", "alive_at_1")), ("breast_cancer_prognostic", ("time",))):
        bunch = real(name)
        assert not set(leaks) & set(bunch.feature_names)
        assert all(f"`{leak}`" in bunch.DESCR for leak in leaks)


def test_squares_of_tic_tac_toe_are_three_indicators_each(real, shared_data):
    bunch = real("tic_tac_toe")
    rows = split_rows(shared_data, "tic_tac_toe/tic-tac-toe.data")
    expected = [[float(cell == word) for cell in row[:9] for word in "box"] for row in rows]
    np.testing.assert_array_equal(bunch.data, expected)
    np.testing.assert_array_equal(bunch.target, [row[9] == "negative" for row in rows])
    assert bunch.frame.to_numpy().tolist() == [row[:9] for row in rows]


def parse_libsvm(lines, n_features, base=1):
    """Dense rows and labels, written out plainly."""
    X, y = np.zeros((len(lines), n_features)), []
    for row, line in enumerate(lines):
        label, *cells = line.split()
        y.append(float(label))
        for cell in cells:
            index, value = cell.split(":")
            if int(index) >= base:
                X[row, int(index) - base] = float(value)
    return X, np.array(y)


def test_rows_of_libsvm_files_are_those_of_the_text(real, shared_data):
    bunch, pages = real("german_credit_authors"), real("webspam")
    train = parse_libsvm(text(shared_data, "german_credit_authors/german.train").splitlines(), 24)
    test = parse_libsvm(text(shared_data, "german_credit_authors/german.test").splitlines(), 24)
    np.testing.assert_array_equal(bunch.data, np.vstack([train[0], test[0]]))
    np.testing.assert_array_equal(bunch.target, np.concatenate([train[1], test[1]]) > 0)
    np.testing.assert_array_equal(real("german_credit_authors", subset="test").data, test[0])
    X, y = parse_libsvm(text(shared_data, "webspam/webspam_wc_normalized_unigram.svm0.test").splitlines(), 254)
    np.testing.assert_array_equal(pages.data.toarray(), X)
    np.testing.assert_array_equal(pages.target, y == 0)
    np.testing.assert_allclose(sp.linalg.norm(pages.data, axis=1), 1.0, atol=1e-4)


@pytest.mark.parametrize("name", ["webspam", "siam11", pytest.param("kdd99", marks=pytest.mark.system)])
def test_sparse_rows_are_such_that_scikit_learns_svms_take_them(real, name):
    bunch = real(name, **({"subset": "test"} if name != "webspam" else {}))
    rows = np.concatenate([np.flatnonzero(bunch.target == label)[:50] for label in (0, 1)])
    assert bunch.data.format == "csr"
    assert bunch.data.indices.dtype == bunch.data.indptr.dtype == np.int32
    for estimator in (SVC(), CostSensitiveSVC()):
        assert estimator.fit(bunch.data[rows], bunch.target[rows]).predict(bunch.data[rows]).shape == rows.shape


def test_ijcnn_begins_as_its_file_does(real, shared_data):
    train = real("ijcnn", subset="train")
    assert train.data.shape == (49_990, 22)
    assert train.target.sum() == 4_853
    assert set(train.split) == {"train"}
    with bz2.open(shared_data / "ijcnn1/ijcnn1.trn.bz2", "rt") as file:
        X, y = parse_libsvm([next(file) for _ in range(200)], 22)
    np.testing.assert_array_equal(train.data[:200], X)
    np.testing.assert_array_equal(train.target[:200], y > 0)


def test_isolet_keeps_its_groups_of_speakers_and_ucis_split(real, shared_data):
    bunch = real("isolet")
    with np.load(shared_data / "isolet/isolet_int16.derived.npz") as saved:
        np.testing.assert_array_equal(bunch.data, saved["X_times_10000"] / 10_000)
        np.testing.assert_array_equal(bunch.target, saved["y"] == 11)
    assert np.bincount(bunch.groups).tolist() == [0, 1560, 1560, 1560, 1558, 1559]
    np.testing.assert_array_equal(bunch.split == "test", bunch.groups == 5)
    assert np.bincount(bunch.letter)[1:].min() >= 298
    assert real("isolet", subset="test").data.shape == (1559, 617)


@pytest.mark.system
def test_isolet_can_be_had_from_ucis_text_files_which_are_compared_row_by_row(real, tmp_path):
    bunch = real("isolet")
    (tmp_path / "isolet").mkdir()
    rng = np.random.default_rng(0)
    for part, name in (("train", "isolet1+2+3+4"), ("test", "isolet5")):
        rows = rng.permutation(np.flatnonzero(bunch.split == part))
        lines = [", ".join([*(f"{value:.4f}" for value in bunch.data[row]), f"{bunch.letter[row]}."]) for row in rows]
        (tmp_path / f"isolet/{name}.data").write_text("\n".join(lines) + "\n")
    found = load("isolet", variant="uci", subset="test", data_home=tmp_path, download=False)
    assert found.data.shape == (1559, 617)
    assert sorted(map(tuple, found.data)) == sorted(map(tuple, bunch.data[bunch.split == "test"]))
    assert found.target.sum() == bunch.target[bunch.split == "test"].sum()
    one_less = (tmp_path / "isolet/isolet5.data").read_text().splitlines()[1:]
    (tmp_path / "isolet/isolet5.data").write_text("\n".join(one_less))
    with pytest.raises(ValueError, match="do not hold the rows of ISOLET"):
        load("isolet", variant="uci", data_home=tmp_path, download=False)


@pytest.mark.parametrize(
    ("name", "labels", "n_train", "n_test"), [("siam1", {1, 6, 7, 11}, 11, 4), ("siam11", {11, 12}, 30, 10)]
)
def test_siam_positive_classes_are_exact_sets_of_the_official_labels(real, shared_data, name, labels, n_train, n_test):
    bunch = real(name)
    official = []
    for path in ("TrainCategoryMatrix", "TestTruth"):
        for line in text(shared_data, f"siam_tmc2007/{path}.csv.gz").replace("\r", "\n").split():
            official.append({k for k, cell in enumerate(line.split(",")) if cell == "1"})
    np.testing.assert_array_equal(bunch.target, [own == labels for own in official])
    assert bunch.target[bunch.split == "train"].sum() == n_train
    assert bunch.target[bunch.split == "test"].sum() == n_test
    assert (bunch.split == "train").sum() == 21_519
    lengths = sp.linalg.norm(bunch.data, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1.0)
    lines = text(shared_data, "siam_tmc2007/tmc2007-500-train.arff.gz").split("@data")[1].split("\n")
    first = {int(cell.split()[0]) for cell in lines[1].strip("{}").split(",")}
    assert set(bunch.data[[0]].indices) == {k for k in first if k < 500}
    assert {k for k in np.flatnonzero(bunch.labels[0])} == {k - 500 for k in first if k >= 500}


@pytest.mark.system
def test_covertype_begins_and_ends_as_its_file_does(real, shared_data):
    bunch = real("covertype")
    lines = text(shared_data, "covertype/covtype.csv.gz").splitlines()
    head = lines[0].split(",")
    assert bunch.feature_names == head[:-1]
    for place, chosen in ((slice(0, 50), lines[1:51]), (slice(-50, None), lines[-50:])):
        cells = np.array([[float(cell) for cell in line.split(",")] for line in chosen])
        np.testing.assert_array_equal(bunch.data[place], cells[:, :-1])
        np.testing.assert_array_equal(bunch.cover_type[place], cells[:, -1])
    assert np.bincount(bunch.cover_type)[1:].tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]


@pytest.mark.system
def test_mnist_is_the_bytes_of_its_files(real, shared_data):
    bunch = real("mnist")
    assert np.bincount(bunch.digit).tolist() == [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    content = gzip.decompress((shared_data / "mnist/t10k-images-idx3-ubyte.gz").read_bytes())[16:]
    assert bunch.data[bunch.split == "test"].astype(np.uint8).tobytes() == content
    # The last pixel that is ever inked is LIBSVM's 780th feature.
    assert np.flatnonzero(bunch.data.any(axis=0))[-1] + 1 == 780


def test_files_with_and_without_a_header_give_the_same_cover_types(provide):
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.integers(0, 3000, (6, 54)), [1, 4, 7, 2, 4, 2]])
    lines = [",".join(map(str, row)) for row in table]
    for head in ([], [",".join(["feature"] * 54 + ["Cover_Type"])]):
        folder = provide("covertype", {"table": ("covertype/rows.csv.gz", "\n".join([*head, *lines]).encode())})
        bunch = load("covertype", data_home=folder, download=False)
        np.testing.assert_array_equal(bunch.data, table[:, :-1])
        assert bunch.target.tolist() == [0, 1, 0, 0, 1, 0]


def test_a_file_that_is_not_an_idx_file_is_rejected(provide):
    contents = {
        f"{part} {kind}": (f"{part}-{kind}.gz", b"nonsense" * 4)
        for part in ("train", "test")
        for kind in ("images", "labels")
    }
    folder = provide("mnist", contents)
    with pytest.raises(ValueError, match="is not an idx file"):
        load("mnist", data_home=folder, download=False)


def test_a_table_with_another_number_of_columns_is_rejected(provide):
    folder = provide("survival", {"table": ("haberman.data", b"30,64,1,1\n30,62,3\n")})
    with pytest.raises(ValueError, match=r"rows of \[3, 4\] cells, expected 4"):
        load("survival", data_home=folder, download=False)


def test_a_description_has_positive_class_costs_source_and_checksums(real):
    text = real("heart").DESCR
    for part in ("presence, 120 rows (1 : 1.25)", "A false negative costs 5", "10.24432/C57303", "f5f3b4204c285baf"):
        assert part in text
    assert max(len(line) for line in io.StringIO(text) if not line.startswith("    ")) <= 100
