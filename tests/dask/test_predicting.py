"""Predictions on dask collections equal those of the model, for any blocks."""

import sys

import cloudpickle
import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import (
    BoundaryMovementSVC,
    CostSensitiveLinearSVC,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    MetaCostClassifier,
)
from cssvm.dask import decision_function, predict, predict_proba

N_NEW = 500
# Sums of a row may be taken in another order in a block of another size: a few units in the last place, of scores of
# the size of 1.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def rows():
    """Training rows, their labels and costs; new rows and their costs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200 + N_NEW, 4))
    y = np.where(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=len(X)) > 1.5, "fraud", "honest")
    amount = rng.lognormal(3.0, 1.0, len(X))
    return X[:200], y[:200], amount[:200], X[200:], amount[200:]


def bayes():
    return CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], decision="bayes", pos_label="fraud", fp_cost=5.0, fn_cost=30.0)


MODELS = {
    "kernel": CostSensitiveSVC(),
    "laplacian": CostSensitiveSVC(kernel="laplacian"),
    "moved": BoundaryMovementSVC(pos_label="fraud", fn_cost=4.0),
    "linear": CostSensitiveLinearSVC(),
    "search": bayes(),
    "search, zero": CostSensitiveSVCCV(Cs=[0.1, 1.0], gammas=[0.1], decision="zero"),
    "pipeline": make_pipeline(StandardScaler(), CostSensitiveSVC()),
    "grid": GridSearchCV(CostSensitiveLinearSVC(), {"C": [0.1, 1.0]}, cv=2),
    "threshold": CostThresholdClassifier(LogisticRegression(), pos_label="fraud", fn_cost=9.0),
    "metacost": MetaCostClassifier(LogisticRegression(), n_estimators=10, random_state=0, pos_label="fraud"),
}


@pytest.fixture(scope="module", params=MODELS)
def model(request, rows):
    return MODELS[request.param].fit(*rows[:2])


@pytest.fixture(scope="module")
def deciding(rows):
    """A model that decides by the costs of new rows."""
    return bayes().fit(*rows[:2])


def as_frame(X, **columns):
    return pd.DataFrame(X, columns=list("abcd"), index=np.arange(len(X)) * 10).assign(**columns)


@pytest.mark.parametrize("chunks", [(N_NEW, 4), (77, 4), (200, 3), (1, 4), ((0, 300, 0, 200), 4)], ids=str)
def test_predictions_on_blocks_are_those_on_all_rows(model, rows, chunks):
    X = rows[3] if chunks[0] != 1 else rows[3][:20]
    blocks = da.from_array(X, chunks=chunks)
    for question in (predict, decision_function, predict_proba):
        if not hasattr(model, question.__name__):
            with pytest.raises(AttributeError):
                question(model, blocks)
            continue
        found, expected = question(model, blocks), getattr(model, question.__name__)(X)
        assert isinstance(found, da.Array)
        assert found.shape == expected.shape
        assert found.dtype == expected.dtype
        assert found.chunks[0] == blocks.chunks[0]
        values = found.compute(scheduler="sync")
        assert values.dtype == expected.dtype
        if question is predict:
            np.testing.assert_array_equal(values, expected)
        else:
            np.testing.assert_allclose(values, expected, rtol=0, atol=ROUNDING)


def test_frames_keep_their_index_and_divisions(model, rows):
    frame = as_frame(rows[3])
    parts = dd.from_pandas(frame, npartitions=4)
    for question in (predict, decision_function, predict_proba):
        if not hasattr(model, question.__name__):
            continue
        found, expected = question(model, parts), getattr(model, question.__name__)(frame.to_numpy())
        assert found.divisions == parts.divisions
        values = found.compute(scheduler="sync")
        pd.testing.assert_index_equal(values.index, frame.index)
        if expected.ndim == 2:
            assert list(values.columns) == list(found.columns) == list(model.classes_)
        if question is predict:
            assert values.tolist() == expected.tolist()
        else:
            np.testing.assert_allclose(values.to_numpy(), expected, rtol=0, atol=ROUNDING)


def test_the_types_promised_are_the_types_computed(deciding, rows):
    parts = dd.from_pandas(as_frame(rows[3]), npartitions=3)
    for found in (predict(deciding, parts), decision_function(deciding, parts), predict_proba(deciding, parts)):
        dd.utils.assert_eq(found, found.compute(scheduler="sync"), scheduler="sync")


@pytest.mark.parametrize("kind", [np.str_, object])
@pytest.mark.parametrize("svm", [CostSensitiveLinearSVC, CostSensitiveSVC])
def test_decisions_in_strings_can_be_written_as_parquet(rows, tmp_path, svm, kind):
    X, y, _, new, _ = rows
    model, frame = svm().fit(X, y.astype(kind)), as_frame(new)
    frame.to_parquet(tmp_path / "new.parquet")
    blocks = da.from_array(new, chunks=(120, 4))
    from_array = dd.from_dask_array(blocks, columns=list("abcd"))
    lazy = [(each, each) for each in (dd.read_parquet(tmp_path / "new.parquet"), dd.from_pandas(frame, npartitions=3))]
    for number, (parts, given) in enumerate([*lazy, (from_array, blocks)]):
        out = tmp_path / str(number)
        parts.assign(decided=predict(model, given)).to_parquet(out)
        assert pd.read_parquet(out)["decided"].tolist() == model.predict(new).tolist()


def test_costs_of_rows_decide_in_every_form(deciding, rows):
    X, amount = rows[3], rows[4]
    expected = deciding.predict(X, fn_cost=amount, fp_cost=7.0)
    assert len(np.unique(expected)) == 2
    assert (expected != deciding.predict(X)).any()
    blocks, costs = da.from_array(X, chunks=(120, 4)), da.from_array(amount, chunks=120)
    frame = as_frame(X, amount=amount, note="x")
    parts = dd.from_pandas(frame, npartitions=3)
    of_unknown_size = parts[list("abcd")].to_dask_array()
    for data, cost in (
        (blocks, costs),
        (blocks, da.from_array(amount, chunks=99)),  # as many rows in other chunks
        (blocks, amount),
        (of_unknown_size, parts["amount"].to_dask_array()),
        (of_unknown_size, parts["amount"]),
        (parts[list("abcd")], parts["amount"]),
        (parts[list("abcd")], parts["amount"].to_dask_array()),
        (parts[[*"abcd", "amount"]], "amount"),
    ):
        found = predict(deciding, data, fn_cost=cost, fp_cost=7.0).compute(scheduler="sync")
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_the_last_step_of_a_pipeline_gets_the_costs(rows):
    X, y, _, new, amount = rows
    model = make_pipeline(StandardScaler(), bayes()).fit(X, y)
    scaled = model[0].transform(new)
    found = predict(model, da.from_array(new, chunks=(90, 4)), fn_cost=da.from_array(amount, chunks=90))
    np.testing.assert_array_equal(found.compute(scheduler="sync"), model[1].predict(scaled, fn_cost=amount))


def test_a_model_of_named_columns_takes_them_by_name(rows):
    X, y, _, new, amount = rows
    model = bayes().fit(as_frame(X), y)
    frame = as_frame(new, amount=amount, case="c")
    parts = dd.from_pandas(frame[["amount", "case", "d", "b", "a", "c"]], npartitions=3)
    found = predict(model, parts, fn_cost="amount").compute(scheduler="sync")
    np.testing.assert_array_equal(found, model.predict(frame[list("abcd")], fn_cost=amount))
    with pytest.raises(ValueError, match="X has no column 'b'"):
        predict(model, parts[["a", "c", "d"]])


def test_a_cost_that_is_also_a_feature_is_both(rows):
    X, y, amount, new, new_amount = rows
    model = bayes().fit(as_frame(X, amount=amount), y)
    frame = as_frame(new, amount=new_amount)
    found = predict(model, dd.from_pandas(frame, npartitions=2), fn_cost="amount").compute(scheduler="sync")
    np.testing.assert_array_equal(found, model.predict(frame, fn_cost=new_amount))


def test_a_series_of_costs_belongs_to_rows_by_its_index(deciding, rows):
    X, amount = rows[3], rows[4]
    frame = as_frame(X)
    order = np.random.default_rng(0).permutation(N_NEW)
    parts = dd.from_pandas(frame, npartitions=1)
    shuffled = dd.from_pandas(pd.Series(amount, index=frame.index).iloc[order], npartitions=1, sort=False)
    found = predict(deciding, parts, fn_cost=shuffled).compute(scheduler="sync")
    np.testing.assert_array_equal(found, deciding.predict(X, fn_cost=amount))


def test_sparse_blocks_are_taken_as_they_are(rows):
    X, y = sp.csr_array(np.maximum(rows[0], 0)), rows[1]
    model, new = CostSensitiveSVC().fit(X, y), np.maximum(rows[3], 0)
    blocks = da.from_array(new, chunks=(100, 4)).map_blocks(sp.csr_array, dtype=float, meta=sp.csr_array((0, 4)))
    found = decision_function(model, blocks).compute(scheduler="sync")
    np.testing.assert_allclose(found, model.decision_function(sp.csr_array(new)), rtol=0, atol=ROUNDING)


def test_empty_partitions_of_a_frame_stay_empty(deciding, rows):
    frame = as_frame(rows[3])
    parts = dd.from_pandas(frame, npartitions=4)
    few = parts.map_partitions(lambda part: part[part.index < 1000], meta=parts._meta)  # rows in the first alone
    for question in (predict, decision_function, predict_proba):
        found = question(deciding, few).compute(scheduler="sync")
        expected = getattr(deciding, question.__name__)(frame[frame.index < 1000].to_numpy())
        assert np.asarray(found).tolist() == expected.tolist()
    assert len(predict(deciding, parts[parts["a"] > 1e9]).compute(scheduler="sync")) == 0


@pytest.mark.parametrize(
    ("X", "cost", "kind", "said"),
    [
        ("array", da.ones(N_NEW - 1), ValueError, "one value for each of the 500 rows"),
        ("array", da.ones((N_NEW, 1)), TypeError, "fn_cost must be a number, or a dask array"),
        ("array", "amount", TypeError, "got 'amount'"),
        ("frame", "amounts", ValueError, "must be a number or a column of X; got 'amounts'"),
        ("frame", np.ones(N_NEW), TypeError, "X.assign"),
        ("frame", da.ones(N_NEW, chunks=100), ValueError, "as many blocks as X, 4; got 5"),
        ("frame", dd.from_pandas(pd.Series(np.ones(N_NEW)), npartitions=3), ValueError, "as X, 4; got 3"),
        ("frame", dd.from_pandas(pd.Series(np.ones(N_NEW)), npartitions=4), ValueError, "the divisions of X"),
        ("unknown", da.ones(N_NEW, chunks=100), ValueError, "as many blocks as X, 4; got 5"),
    ],
)  # fmt: skip
def test_costs_that_do_not_fit_the_rows_are_rejected_before_anything_is_computed(deciding, rows, X, cost, kind, said):
    parts = dd.from_pandas(as_frame(rows[3]), npartitions=4)
    data = {"array": da.from_array(rows[3], chunks=(100, 4)), "frame": parts, "unknown": parts.to_dask_array()}[X]
    with pytest.raises(kind, match=said):
        predict(deciding, data, fn_cost=cost)


def test_blocks_of_unknown_size_that_differ_are_rejected_when_computed(deciding, rows):
    parts = dd.from_pandas(as_frame(rows[3]), npartitions=4)
    lazy = predict(deciding, parts.to_dask_array(), fn_cost=da.ones(N_NEW, chunks=((100, 100, 100, 200),)))
    with pytest.raises(ValueError, match=r"a block of 125 rows came with (100|200)"):
        lazy.compute(scheduler="sync")


def test_an_array_of_costs_that_does_not_fit_a_filtered_frame_is_named_when_computed(deciding, rows):
    parts = dd.from_pandas(as_frame(rows[3]), npartitions=4)
    lazy = predict(deciding, parts[parts["a"] > 0.0], fn_cost=da.ones(N_NEW, chunks=125))
    with pytest.raises(ValueError, match=r"fn_cost must hold one value for each row of X; .* came with 125"):
        lazy.compute(scheduler="sync")


def test_what_cannot_work_is_rejected_at_once(deciding, rows):
    X = da.from_array(rows[3], chunks=(100, 4))
    with pytest.raises(TypeError, match=r"X must be a dask array of shape .* got ndarray of shape"):
        predict(deciding, rows[3])
    with pytest.raises(TypeError, match="got a dask series"):
        predict(deciding, dd.from_pandas(pd.Series([1.0, 2.0]), npartitions=1))
    with pytest.raises(ValueError, match="must be a fitted classifier"):
        predict(CostSensitiveSVC(), X)
    with pytest.raises(ValueError, match="X has 3 features, but CostSensitiveSVCCV was trained on 4"):
        predict(deciding, X[:, :3])
    with pytest.raises(ValueError, match="CostSensitiveSVC ignores per-sample costs at prediction time; got fn_cost"):
        predict(CostSensitiveSVC().fit(*rows[:2]), X, fn_cost=2.0)


def test_nothing_is_computed_before_it_is_requested(deciding):
    def explode(block):
        raise AssertionError("computed")

    X = da.ones((10, 4), chunks=(5, 4)).map_blocks(explode, dtype=float, meta=np.empty((0, 4)))
    assert predict(deciding, X).shape == (10,)


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_the_model_is_in_the_graph_once(deciding, rows, kind):
    parts = dd.from_pandas(as_frame(rows[3]), npartitions=20)
    data = da.from_array(rows[3], chunks=(25, 4)) if kind == "array" else parts
    size = len(cloudpickle.dumps(deciding))
    (found,) = dask.optimize(predict(deciding, data))
    tasks = [len(cloudpickle.dumps(task)) for task in dict(found.__dask_graph__()).values()]
    assert sum(length > size / 2 for length in tasks) == 1


def counted():
    """A class of models that a process counts as often as it unpickles one; local, as workers cannot import tests."""

    class Counted(CostSensitiveLinearSVC):
        def __setstate__(self, state):
            sys.n_unpickled = getattr(sys, "n_unpickled", 0) + 1
            super().__setstate__(state)

    return Counted


@pytest.mark.system
def test_the_model_reaches_every_worker_once(default_processes, rows):
    model, blocks = counted()().fit(*rows[:2]), da.from_array(rows[3], chunks=(10, 4))
    default_processes.wait_for_workers(2)
    np.testing.assert_array_equal(predict(model, blocks).compute(), model.predict(rows[3]))
    times = default_processes.run(lambda: getattr(sys, "n_unpickled", 0))
    assert sum(times.values()) <= 2, times  # for 50 blocks


def test_a_cluster_predicts_as_the_model_does(default_client, deciding, rows):
    frame = as_frame(rows[3], amount=rows[4])
    found = predict(deciding, dd.from_pandas(frame, npartitions=5), fn_cost="amount").compute()
    np.testing.assert_array_equal(found, deciding.predict(rows[3], fn_cost=rows[4]))
