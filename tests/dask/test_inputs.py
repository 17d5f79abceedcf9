"""Invalid partitions: handled, or rejected with the partition in the message and the estimator unchanged."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import FunctionTransformer

import cssvm
from cssvm.dask import CostSensitiveLinearSVC
from tests.dask.problems import left_behind, rows


@pytest.fixture(scope="module")
def arrays():
    return rows(600)


def rejected(client, match, X, y, **given):
    parameters = given.pop("parameters", {})
    model = CostSensitiveLinearSVC(**{"scale": True, "client": client} | parameters)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(X, y, **given)
    assert vars(model) == before
    assert left_behind(client) == []


def cut(array, *sizes):
    return da.from_array(array, chunks=(sizes or (200, 200, 200), *array.shape[1:]))


def test_empty_partitions_and_partitions_of_one_class_are_handled(client, arrays):
    X, y, _ = arrays
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    sizes = (0, 100, 100, 0, 400, 0)
    model = CostSensitiveLinearSVC(client=client).fit(cut(X, *sizes), cut(y, *sizes))
    local = cssvm.CostSensitiveLinearSVC().fit(X, y)
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)


def test_unknown_chunk_sizes_are_handled(client, arrays):
    X, y, amount = (cut(each) for each in arrays)
    kept = amount > 3.0
    model = CostSensitiveLinearSVC(client=client).fit(X[kept], y[kept], fn_cost=amount[kept])
    X, y, amount = arrays
    kept = amount > 3.0
    local = cssvm.CostSensitiveLinearSVC().fit(X[kept], y[kept], fn_cost=amount[kept])
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)


def test_chunks_of_columns_and_other_chunks_of_values_are_aligned(client, arrays):
    X, y, amount = arrays
    dX = da.from_array(X, chunks=(150, 2))
    model = CostSensitiveLinearSVC(client=client).fit(dX, cut(y, 600), fn_cost=cut(amount, 1, 599))
    local = cssvm.CostSensitiveLinearSVC().fit(X, y, fn_cost=amount)
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)


def test_persisted_collections_are_used_where_they_are(client, arrays):
    X, y = client.persist([cut(arrays[0]), cut(arrays[1])])
    model = CostSensitiveLinearSVC(client=client).fit(X, y)
    local = cssvm.CostSensitiveLinearSVC().fit(*arrays[:2])
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)


def test_integers_and_float32_are_numbers(client, arrays):
    X, y, _ = arrays
    whole = np.round(10 * X).astype(np.int32)
    local = cssvm.CostSensitiveLinearSVC().fit(whole, y)
    for dtype in (np.int32, np.float32):
        model = CostSensitiveLinearSVC(client=client).fit(cut(whole.astype(dtype)), cut(y))
        assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)


def test_nan_in_one_partition_is_rejected(client, arrays):
    X = arrays[0].copy()
    X[450, 2] = np.nan
    rejected(client, r"^partition 2: X contains nan in row 50 of the partition, column 2", cut(X), cut(arrays[1]))


def test_rows_in_errors_are_counted_with_those_of_weight_0(client, arrays):
    X, y = arrays[0].copy(), arrays[1]
    X[20, 3] = np.nan
    weight = np.where(np.arange(len(y)) < 10, 0.0, 1.0)
    chunked = [da.from_array(each, chunks=(len(y), *each.shape[1:])) for each in (X, y, weight)]
    with pytest.raises(ValueError, match="nan in row 20 of the partition, column 3"):
        CostSensitiveLinearSVC(scale=True, client=client).fit(*chunked[:2], sample_weight=chunked[2])


def test_a_feature_map_finds_the_columns_of_a_frame_by_name(client, arrays):
    X, y, _ = arrays
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(y=y)
    feature_map = Nystroem(n_components=20, gamma=0.05, random_state=0)
    model = CostSensitiveLinearSVC(feature_map=feature_map, tol=1e-3, client=client)
    local = model.fit(dd.from_pandas(frame, npartitions=3), "y").to_local()
    mixed = frame[["y", *frame.columns[-2::-1]]].head(500)
    Z = local[:-2].transform(frame.head(500)) if len(local) > 2 else X[:500]
    expected = local[-2].transform(Z) @ model.coef_[0] + model.intercept_
    np.testing.assert_allclose(local.decision_function(mixed), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(Z, X[:500])


def test_invalid_costs_are_rejected(client, arrays):
    X, y, amount = arrays
    wrong = np.where(np.arange(600) == 300, -1.0, amount)
    wrong[y == 0] = 1.0
    wrong[300], y = -1.0, np.where(np.arange(600) == 300, 1, y)
    rejected(
        client, r"^partition 1: fn_cost must be finite and non-negative.*sample 100", cut(X), cut(y), fn_cost=cut(wrong)
    )
    rejected(client, "one value for each of the 600 rows", cut(X), cut(y), fn_cost=cut(amount[:599], 599))
    unknown = cut(X)[cut(y) > -1]
    rejected(client, "partition [12]: y must hold one label for each row", unknown, cut(y, 200, 100, 300))
    rejected(client, "must have the partitions of X, 3; got 1", unknown, cut(y, 600))
    rejected(client, "fn_cost must be a number, the name of a column", cut(X), cut(y), fn_cost=amount)
    rejected(client, "y must be the name of a column of a frame, or a dask array or series", cut(X), y)
    rejected(client, "fn_cost must be finite and non-negative", cut(X), cut(y), fn_cost=-1.0)
    rejected(client, "kappa must be finite and positive", cut(X), cut(y), kappa=0.0)
    rejected(client, r"fn_cost must be positive on at least one sample.*all \d+ of them", cut(X), cut(y), fn_cost=0.0)
    rejected(client, "both classes must be present", cut(X), cut(y), sample_weight=cut(y.astype(float)))
    rejected(client, "must be a dask array or a number", cut(X), cut(y), fn_cost="amount")


def test_labels_must_be_of_two_classes(client, arrays):
    X, y, _ = arrays
    rejected(client, r"y has 3 classes", cut(X), cut(np.where(np.arange(600) > 590, 2, y)))
    rejected(client, "one class only", cut(X), cut(np.zeros(600, dtype=int)))
    rejected(client, "Unknown label type", cut(X), cut(y + 0.5 * X[:, 0]))
    missing = y.astype(float)
    missing[599] = np.nan
    missing[401:404] = np.nan
    rejected(
        client, "^partition 2: y contains missing values: 4 labels are missing. Drop these rows", cut(X), cut(missing)
    )
    strings = np.where(y == 1, "yes", "no")
    rejected(client, "pos_label is required if labels are strings", cut(X), cut(strings), fn_cost=5.0)
    rejected(
        client, "pos_label of CostSensitiveLinearSVC must be", cut(X), cut(strings), parameters={"pos_label": "maybe"}
    )
    model = CostSensitiveLinearSVC(pos_label="no", client=client).fit(cut(X), cut(strings), fn_cost=5.0)
    local = cssvm.CostSensitiveLinearSVC(pos_label="no").fit(X, strings, fn_cost=5.0)
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)
    assert model.to_local().predict(X).tolist() == local.predict(X).tolist()


def test_rows_in_memory_and_wrong_parameters_are_rejected(client, arrays):
    X, y, _ = arrays
    rejected(client, "For rows in memory use cssvm.CostSensitiveLinearSVC", X, y)
    rejected(client, "X must have two dimensions", cut(y), cut(y))
    rejected(client, "scale of CostSensitiveLinearSVC", cut(X), cut(y), parameters={"scale": 1})
    rejected(client, "feature_map of CostSensitiveLinearSVC", cut(X), cut(y), parameters={"feature_map": "rbf"})
    rejected(client, "C of CostSensitiveLinearSVC", cut(X), cut(y), parameters={"C": -1})
    wide = FunctionTransformer(_widened)
    rejected(client, "at most 3,000 features", cut(X), cut(y), parameters={"feature_map": wide})
    broken = FunctionTransformer(np.log)
    rejected(client, "must give finite numbers", cut(X), cut(y), parameters={"feature_map": broken})


def _widened(X):
    return np.tile(X, 600)


def test_an_error_inside_a_collection_names_the_partition(client, arrays):
    def broken(block, block_info=None):  # a local function is pickled by value
        if block_info and block_info[0]["chunk-location"][0] == 1:
            raise ValueError("no such currency")
        return block

    X, y = cut(arrays[0]), cut(arrays[1])
    rejected(client, r"^partition 1: no such currency", X.map_blocks(broken, dtype=float), y)


@pytest.mark.system
def test_workers_without_this_version_of_the_library_are_rejected(processes, arrays, monkeypatch):
    monkeypatch.setattr(cssvm, "__version__", "99.0")
    rejected(processes, "all workers must have cssvm 99.0", cut(arrays[0]), cut(arrays[1]))


def frame(**columns):
    n = 40
    base = {"a": np.arange(n, dtype=float), "label": np.arange(n) % 2}
    return pd.DataFrame(base | columns)


def test_columns_of_frames_must_be_there_and_of_one_kind(client, tmp_path):
    days = pd.date_range("2026-01-01", periods=40)
    rejected(client, "column 'a' is missing", _parquet(tmp_path / "1", frame(), frame().drop(columns="a")), "label")
    mixed = _parquet(tmp_path / "2", frame(), frame(a=["x"] * 40))
    rejected(
        client, r"partition 1 .*1\.parquet, row group 0\): column 'a' holds categories, but numbers", mixed, "label"
    )
    rejected(
        client,
        "column 'when' must hold numbers, strings or booleans; got datetime",
        _parquet(tmp_path / "3", frame(when=days)),
        "label",
    )
    many = _parquet(tmp_path / "4", *(frame(word=[f"{k}-{i}" for i in range(40)]) for k in range(26)))
    rejected(client, "partition 25 .*at most 1000 categories", many, "label")
    endless = _parquet(tmp_path / "5", frame(), frame(a=np.full(40, np.inf)))
    rejected(client, "partition 1 .*column 'a' contains infinity", endless, "label")
    rejected(client, "y='lable' must be a column of X", many, "lable")
    rejected(client, "features='b' must be a column", many, "label", features=["b"])
    rejected(client, "name of a column where X is a path", many, "label", fn_cost=da.ones(3))
    rejected(client, "must be a Parquet file or a folder", tmp_path / "nowhere", "label")
    missing = _parquet(tmp_path / "6", frame(), frame(label=[None] * 40))
    rejected(client, "partition 1 .*40 labels are missing", missing, "label")


def test_columns_without_values_are_left_out_with_a_warning(client, tmp_path):
    path = _parquet(tmp_path / "empty", frame(b=[None] * 40), frame(b=np.full(40, np.nan)))
    with pytest.warns(UserWarning, match=r"without any entry are left out: \['b'\]"):
        model = CostSensitiveLinearSVC(scale=True, client=client).fit(path, "label")
    assert model.coef_.shape == (1, 1)
    assert len(model.predict(frame(b=[None] * 40)[["a", "b"]])) == 40


def test_categories_that_are_missing_in_a_whole_partition_are_categories(client, tmp_path):
    values = np.array(["x", "y"] * 20)
    path = _parquet(
        tmp_path / "missing", frame(w=np.full(40, np.nan)), frame(w=values), frame(w=pd.Categorical(values))
    )
    model = CostSensitiveLinearSVC(C=10.0, scale=True, client=client).fit(path, "label")
    assert model.to_local()[0].get_feature_names_out()[1:].tolist() == [
        f"categories__w_{value}" for value in ("", "x", "y")
    ]


def test_a_series_of_other_rows_is_rejected(client):
    table = frame()
    X = dd.from_pandas(table, npartitions=2)
    other = dd.from_pandas(table.set_index(table.index + 1)["a"], npartitions=2)
    rejected(client, "fn_cost must have the index of X", X[["a"]], X["label"], fn_cost=other)


def _parquet(folder, *frames):
    folder.mkdir()
    for k, each in enumerate(frames):
        each.to_parquet(folder / f"{k:02d}.parquet")
    return folder
