"""With and without a cluster, a table has the same features and the estimator the same parameters."""

import inspect

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import cssvm
from cssvm._tables import train_on_cluster, train_table
from cssvm.dask import CostSensitiveLinearSVC
from cssvm.datasets import make_preprocessor

N_ROWS = 90


@pytest.fixture(scope="module")
def table():
    """All kinds of columns, with and without missing values; the second half alone has the category c."""
    rng = np.random.default_rng(0)
    letters = rng.choice(["a", "b"], N_ROWS)
    letters[60:] = "c"
    frame = pd.DataFrame(
        {
            "flag": rng.random(N_ROWS) < 0.5,
            "amount": rng.lognormal(3, 1, N_ROWS),
            "letter": letters,
            "age": rng.integers(18, 80, N_ROWS),
            "maybe": pd.Series(rng.random(N_ROWS) < 0.5).astype("boolean").mask(rng.random(N_ROWS) < 0.2),
            "city": pd.Categorical(rng.choice(["graz", "wien"], N_ROWS)),
            "weight": rng.integers(0, 3, N_ROWS),
            "label": rng.integers(0, 2, N_ROWS),
        }
    )
    frame.loc[rng.random(N_ROWS) < 0.2, "amount"] = np.nan
    frame.loc[rng.random(N_ROWS) < 0.2, "letter"] = None
    return frame


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    found = tmp_path_factory.mktemp("table")
    for k in range(3):
        table[30 * k : 30 * (k + 1)].to_parquet(found / f"{k}.parquet")
    return found


def test_train_here_train_on_a_cluster_the_dask_estimator_and_make_preprocessor_make_the_same_features(
    client, table, folder
):
    X, counted = table.drop(columns=["weight", "label"]), table["weight"] > 0
    named = {"target": "label", "weight": "weight"}
    on_dask = CostSensitiveLinearSVC(scale=True, client=client)
    on_dask.fit(dd.from_pandas(table, npartitions=4), "label", sample_weight="weight")
    transformers = {
        "train": train_table(folder, **named, Cs=[1.0], gammas=[0.1], cv=2, evaluation=False).model.transformer_,
        "train --scheduler": train_on_cluster(folder, client, **named).model[0],
        "dask": on_dask.to_local()[0],
        "make_preprocessor": make_preprocessor(X).fit(X[counted]),
    }
    amount, age = (table[name].to_numpy(float) for name in ("amount", "age"))
    filled = np.where(np.isnan(amount), np.nanmean(amount[counted]), amount)
    expected = {
        "numbers__amount": (filled - filled[counted].mean()) / filled[counted].std(),
        "numbers__age": (age - age[counted].mean()) / age[counted].std(),
        "missing__missingindicator_amount": np.isnan(amount),
        "categories__flag_False": ~table["flag"],
        "categories__flag_True": table["flag"],
        "categories__letter_": table["letter"].isna(),
        **{f"categories__letter_{each}": table["letter"] == each for each in "abc"},
        "categories__maybe_": table["maybe"].isna(),
        "categories__maybe_False": table["maybe"].eq(False).fillna(False),
        "categories__maybe_True": table["maybe"].eq(True).fillna(False),
        "categories__city_graz": table["city"] == "graz",
        "categories__city_wien": table["city"] == "wien",
    }
    values = np.column_stack([np.asarray(column, dtype=float) for column in expected.values()])
    for name, transformer in transformers.items():
        assert transformer.get_feature_names_out().tolist() == list(expected), name
        found = transformer.transform(X)
        found = found.toarray() if hasattr(found, "toarray") else found
        np.testing.assert_allclose(found, values, rtol=0, atol=1e-12, err_msg=name)


def test_parameters_are_those_of_the_local_estimator_with_the_same_defaults_and_order():
    local, distributed = (
        inspect.signature(each).parameters for each in (cssvm.CostSensitiveLinearSVC, CostSensitiveLinearSVC)
    )
    assert [name for name in distributed if name in local] == list(local)
    for name, parameter in local.items():
        assert (distributed[name].default, distributed[name].kind) == (parameter.default, parameter.kind), name
    *_, last = distributed
    assert last == "client"
    assert distributed["client"].kind is inspect.Parameter.KEYWORD_ONLY


def test_by_default_numbers_are_taken_as_they_are_as_by_the_local_estimator(client, table):
    frame = table[["age", "weight", "label"]]
    model = CostSensitiveLinearSVC(client=client).fit(dd.from_pandas(frame, npartitions=2), "label")
    local = cssvm.CostSensitiveLinearSVC().fit(frame[["age", "weight"]], frame["label"])
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=2e-6)
    assert type(model.to_local()) is cssvm.CostSensitiveLinearSVC
