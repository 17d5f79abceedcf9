"""KDD 99: the collapsed cost matrix, attacks in the classes of the cup, encoded categories."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from cssvm.datasets import load
from cssvm.datasets._readers import COST_MATRIX
from cssvm.datasets._registry import find_dataset

# Rows of each class in the training file, kddcup.data_10_percent.
TRAINING_ROWS = (97_278, 4_107, 391_458, 52, 1_126)

ROW = (
    "0,{protocol},{service},SF,181,5450" + ",0" * 16 + ",8,9,0.00,0.00,0.00,0.00,1.00,0.00,0.11" + ",9,9" + ",0.50" * 8
)
TRAIN = [
    ROW.format(protocol="tcp", service="http") + ",normal.",
    ROW.format(protocol="icmp", service="ecr_i") + ",smurf.",
    ROW.format(protocol="udp", service="new_service") + ",rootkit.",
]
TEST = [ROW.format(protocol="tcp", service="telnet") + ",httptunnel."]


def collapsed_costs(matrix=COST_MATRIX, rows=TRAINING_ROWS):
    """``fn_cost, fp_cost`` of class 0 against the rest; `rows` is how often each class occurs."""
    C, counts = np.asarray(matrix, dtype=np.float64), np.asarray(rows, dtype=np.float64)
    shares = counts[1:] / counts[1:].sum()
    return float(shares @ C[0, 1:]), float(shares @ C[1:, 0])


@pytest.fixture
def small(provide):
    contents = {
        part: (f"kdd99/{part}.gz", "".join(f"{line}\n" for line in lines).encode())
        for part, lines in (("train", TRAIN), ("test", TEST))
    }
    return load("kdd99", data_home=provide("kdd99", contents, variant="10_percent"), download=False)


def test_collapsed_costs_are_means_over_attacks_drawn_as_they_occur():
    """By simulation: a predicted attack has the classes of attacks with their frequencies."""
    rng = np.random.default_rng(0)
    matrix, rows = rng.integers(0, 9, (4, 4)).astype(float), np.array([50, 10, 30, 60])
    attacks = np.repeat([1, 2, 3], rows[1:])
    fn_cost, fp_cost = collapsed_costs(matrix, rows)
    assert fn_cost == pytest.approx(np.mean([matrix[0, kind] for kind in attacks]))
    assert fp_cost == pytest.approx(np.mean([matrix[kind, 0] for kind in attacks]))


def test_the_collapsed_costs_of_the_cup():
    n_attacks = 4_107 + 391_458 + 52 + 1_126
    alarm = (4_107 * 1 + (391_458 + 52 + 1_126) * 2) / n_attacks
    passed = (4_107 * 1 + 391_458 * 2 + 52 * 3 + 1_126 * 4) / n_attacks
    assert collapsed_costs() == pytest.approx((alarm, passed))
    for variant in ("10_percent", "full"):
        registered = find_dataset("kdd99", variant)
        assert (registered.fn_cost, registered.fp_cost) == pytest.approx(collapsed_costs(), rel=1e-15)
    # As Elkan printed the matrix, true by answered: normal, probe, dos, u2r, r2l.
    assert np.array(COST_MATRIX)[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert np.array(COST_MATRIX)[0].tolist() == [0, 1, 2, 2, 2]


def test_rows_of_both_files_are_encoded_alike(small):
    assert small.split.tolist() == ["train"] * 3 + ["test"]
    assert small.target.tolist() == [1, 0, 0, 0]
    assert small.labels.tolist() == ["normal", "smurf", "rootkit", "httptunnel"]
    assert [small.categories[k] for k in small.category] == ["normal", "dos", "u2r", "u2r"]
    assert sp.issparse(small.data)
    table = dict(zip(small.feature_names, small.data.toarray().T, strict=True))
    assert table["protocol_type=tcp"].tolist() == [1, 0, 0, 1]
    assert table["service=http"].tolist() == [1, 0, 0, 0]
    assert table["service=telnet"].tolist() == [0, 0, 0, 1]
    assert sum(column for name, column in table.items() if name.startswith("service=")).tolist() == [1, 1, 0, 1]
    assert small.frame["service"].tolist() == ["http", "ecr_i", "new_service", "telnet"]
    assert table["src_bytes"].tolist() == [181] * 4
    assert table["srv_diff_host_rate"].tolist() == [0.11] * 4
    assert small.frame.shape == (4, 41)
    # Costs of single samples, as in the description.
    assert small.cost_matrix[small.category, 0].tolist() == [0, 2, 3, 3]


def test_a_label_that_is_not_the_cups_is_rejected(provide):
    contents = {
        part: (f"kdd99/{part}.gz", (ROW.format(protocol="tcp", service="http") + ",odd.\n").encode())
        for part in ("train", "test")
    }
    with pytest.raises(ValueError, match="kdd99 has the labels odd, which are not the cup's"):
        load("kdd99", data_home=provide("kdd99", contents, variant="10_percent"), download=False)


@pytest.mark.system
def test_the_classes_of_attacks_are_the_cups(real, shared_data):
    bunch = real("kdd99")
    train = bunch.split == "train"
    assert np.bincount(bunch.category[train]).tolist() == list(TRAINING_ROWS)
    # Elkan's counts of the test file.
    assert np.bincount(bunch.category[~train]).tolist() == [60_593, 4_166, 229_853, 228, 16_189]
    assert len(set(bunch.labels[~train]) - set(bunch.labels[train])) == 17
    assert (bunch.fn_cost, bunch.fp_cost) == pytest.approx(collapsed_costs(), rel=1e-15)
    for path, start in (("kddcup.data_10_percent.gz", 0), ("corrected.gz", 494_021)):
        with gzip.open(shared_data / "kdd99" / path, "rt") as file:
            lines = [next(file).rstrip().split(",") for _ in range(300)]
        rows = bunch.data[start : start + 300].toarray()
        numeric = [k for k in range(41) if k not in (1, 2, 3)]
        names = [bunch.frame.columns[k] for k in numeric]
        columns = [bunch.feature_names.index(name) for name in names]
        np.testing.assert_array_equal(rows[:, columns], [[float(line[k]) for k in numeric] for line in lines])
        for k in (1, 2, 3):
            words = [f"{bunch.frame.columns[k]}={line[k]}" for line in lines]
            np.testing.assert_array_equal(rows[np.arange(300), [bunch.feature_names.index(word) for word in words]], 1)
        np.testing.assert_array_equal(bunch.target[start : start + 300], [line[41] == "normal." for line in lines])
    indicators = [k for k, name in enumerate(bunch.feature_names) if "=" in name]
    np.testing.assert_array_equal(bunch.data[:, indicators].sum(axis=1), 3)
