"""Frames and Parquet: numbers with missing values, categories, columns by name; preprocessing in one pass."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import StandardScaler

import cssvm
from cssvm._tables import train_on_cluster
from cssvm.dask import CostSensitiveLinearSVC
from cssvm.deploy import load_model, save_model
from tests.dask.problems import in_partitions, local_twin, rows

COUNTRIES = np.array(["at", "be", "ch", "zz"], dtype=object)


def payments(n=3000, seed=0):
    """Amounts with missing values, countries of which one is in the last rows only, a flag, and string labels."""
    rng = np.random.default_rng(seed)
    country = rng.integers(0, 3, n)
    country[-200:] = 3
    amount, age = rng.lognormal(3, 1, n), rng.integers(18, 80, n)
    score = np.log(amount) - 3 + (country == 1) + rng.normal(size=n)
    frame = pd.DataFrame(
        {"amount": amount, "age": age, "country": COUNTRIES[country], "night": rng.uniform(size=n) < 0.2}
    )
    frame.loc[rng.uniform(size=n) < 0.1, "amount"] = np.nan
    frame.loc[rng.uniform(size=n) < 0.05, "country"] = None
    return frame.assign(label=np.where(score > 1.2, "fraud", "fine"), cost=np.exp(score), weight=rng.integers(0, 3, n))


def by_hand(frame):
    """The features, made of a frame by pandas alone from the rows of positive weight."""
    numbers, counted = frame[["amount", "age"]], frame["weight"] > 0
    filled = numbers.fillna(numbers[counted].mean())
    scaled = (filled - filled[counted].mean()) / filled[counted].std(ddof=0)
    gaps = [frame[name].isna() for name in ("amount", "country")]
    words = [frame["country"] == each for each in COUNTRIES]
    return np.column_stack([scaled, *gaps, *words, ~frame["night"], frame["night"]]).astype(float)


@pytest.fixture(scope="module")
def table():
    return payments()


@pytest.fixture(scope="module")
def folder(table, tmp_path_factory):
    """Three files, the first of them with two row groups."""
    home = tmp_path_factory.mktemp("payments")
    table[:1400].to_parquet(home / "a.parquet", row_group_size=800)
    table[1400:2800].to_parquet(home / "b.parquet")
    table[2800:].to_parquet(home / "c.parquet")
    return home


GIVEN = {"fn_cost": "cost", "fp_cost": 2.0, "sample_weight": "weight"}


def test_parquet_and_frames_are_prepared_as_by_hand(client, table, folder):
    model = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(folder, "label", **GIVEN)
    Z = by_hand(table)
    numbers = {"fn_cost": table["cost"].to_numpy(), "fp_cost": 2.0, "sample_weight": table["weight"].to_numpy()}
    local = cssvm.CostSensitiveLinearSVC(pos_label="fraud", tol=1e-8).fit(Z, table["label"], **numbers)
    assert pytest.approx(local.C_, rel=1e-12) == model.C_
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=2e-6)
    assert model.classes_.tolist() == ["fine", "fraud"]
    assert model.feature_names_in_.tolist() == ["amount", "age", "country", "night"]
    np.testing.assert_allclose(model.coef_, local.coef_, atol=2e-3)
    raw = table[["amount", "age", "country", "night"]]
    np.testing.assert_allclose(model.decision_function(raw), Z @ model.coef_[0] + model.intercept_, atol=1e-12)
    strings = raw.assign(country=raw["country"].astype("str").where(raw["country"].notna(), np.nan))
    np.testing.assert_array_equal(model.decision_function(strings), model.decision_function(raw))
    frame = dd.from_pandas(table, npartitions=3)
    again = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(frame, "label", **GIVEN)
    assert again.primal_objective_ == pytest.approx(model.primal_objective_, rel=2e-6)


def test_a_dask_frame_with_the_partitions_of_the_files_gives_the_same_bits(client, folder):
    frame = dd.read_parquet(folder, split_row_groups=True)
    assert frame.npartitions == 4
    both = [
        CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(X, "label", **GIVEN)
        for X in (folder, frame)
    ]
    np.testing.assert_array_equal(both[0].coef_, both[1].coef_)
    values = {"fn_cost": frame["cost"], "fp_cost": 2.0, "sample_weight": frame["weight"]}
    X = frame.drop(columns=["label", "cost", "weight"])
    beside = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(X, frame["label"], **values)
    np.testing.assert_array_equal(both[0].coef_, beside.coef_)


def test_local_models_from_tables_can_be_saved(client, table, folder, tmp_path):
    model = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(
        str(folder), "label", fn_cost="cost"
    )
    save_model(model.to_local(), tmp_path / "model.cssvm")
    loaded = load_model(tmp_path / "model.cssvm").model
    np.testing.assert_array_equal(loaded.predict(table), model.to_local().predict(table))


def test_features_are_chosen_and_named_columns_are_not_among_them(client, folder):
    model = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(
        folder, "label", features=["age", "night"]
    )
    assert model.feature_names_in_.tolist() == ["age", "night"]
    assert model.coef_.shape == (1, 3)


def test_numbers_without_scaling_and_without_missing_values_need_no_preparation(client, table, folder):
    model = CostSensitiveLinearSVC(pos_label="fraud", client=client)
    local = model.fit(folder, "label", features=["age", "weight"]).to_local()
    assert isinstance(local, cssvm.CostSensitiveLinearSVC)
    assert local.feature_names_in_.tolist() == ["age", "weight"]
    filled = model.fit(folder, "label", features=["age", "amount"]).to_local()
    raw = table[["age", "amount"]]
    f = raw.fillna(raw.mean()).to_numpy() @ model.coef_[0, :2] + raw["amount"].isna() * model.coef_[0, 2]
    np.testing.assert_allclose(filled.decision_function(raw), f + model.intercept_[0], atol=1e-9)


def test_folders_named_after_values_are_columns(client, table, tmp_path):
    for country, part in table.groupby("country"):
        (tmp_path / f"country={country}").mkdir()
        part.drop(columns="country").to_parquet(tmp_path / f"country={country}" / "part.parquet")
    model = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(tmp_path, "label", fn_cost="cost")
    assert "country" in model.feature_names_in_
    assert any("country_be" in name for name in model.to_local()[:-1].get_feature_names_out())


@pytest.mark.parametrize("kind", ["boolean", object])
def test_booleans_with_missing_values_are_categories_in_parquet_and_in_frames(client, table, tmp_path, kind):
    night = table["night"].astype("boolean").mask(table["amount"].isna())
    rare = (table["night"] | (table.index % 10 == 0)) ^ (table["age"] > 75)
    frame = table[["age"]].assign(night=night.astype(kind).where(night.notna(), None), rare=rare)
    frame[:1500].to_parquet(tmp_path / "0.parquet")
    frame[1500:].to_parquet(tmp_path / "1.parquet")
    given = (tmp_path, dd.read_parquet(tmp_path))
    fits = [CostSensitiveLinearSVC(fn_cost=3.0, scale=True, client=client).fit(X, "rare") for X in given]
    assert np.abs(fits[0].coef_[0, 1:]).min() > 0.1  # missing, day and night
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    scores = fits[0].decision_function(frame.assign(night=night.astype(str).replace("<NA>", "")))
    np.testing.assert_array_equal(fits[0].decision_function(frame), scores)
    np.testing.assert_array_equal(fits[0].decision_function(given[1]).compute(scheduler="sync"), scores)
    by_table = train_on_cluster(tmp_path, client, target="rare", pos_label="True", fn_cost=3.0).model
    np.testing.assert_array_equal(by_table[-1].coef_, fits[0].coef_)


def test_an_unnamed_pandas_index_is_not_a_feature(client, table, tmp_path):
    """Rows that are sorted by their labels before they are written would give these away by their numbers."""
    frame = table[["age", "night", "label"]].sort_values("label")
    frame[::2].to_parquet(tmp_path / "0.parquet")
    frame[1::2].to_parquet(tmp_path / "1.parquet")
    model = CostSensitiveLinearSVC(pos_label="fraud", scale=True, client=client).fit(tmp_path, "label")
    assert model.feature_names_in_.tolist() == ["age", "night"]
    later = dd.read_parquet(tmp_path)
    np.testing.assert_array_equal(
        model.predict(later).compute(scheduler="sync"), model.predict(pd.read_parquet(tmp_path))
    )
    with pytest.raises(ValueError, match=r"fn_cost='__index_level_0__' must be a column of X; it has \['age', 'night'"):
        model.fit(tmp_path, "label", fn_cost="__index_level_0__")


@pytest.mark.parametrize("feature_map", [RBFSampler, Nystroem])
def test_a_feature_map_is_applied_in_tasks_and_in_the_local_model(client, feature_map):
    X, y, amount = rows()
    dX, dy, cost = in_partitions(X, y, amount)
    feature_map = feature_map(gamma=0.1, n_components=40, random_state=0)
    model = CostSensitiveLinearSVC(feature_map=feature_map, tol=1e-4, scale=True, client=client).fit(
        dX, dy, fn_cost=cost
    )
    twin = local_twin(model, dX, dy, fn_cost=cost)
    np.testing.assert_array_equal(model.coef_[0], twin.coef)
    local = model.to_local()
    assert [name for name, _ in local.steps] == ["columns", "map", "svm"]
    np.testing.assert_allclose(local[0].mean_, X.mean(axis=0), rtol=1e-12)
    Z = local[1].transform(StandardScaler().fit_transform(X))
    f = Z @ model.coef_[0] + model.intercept_[0]
    loss = model.C_ * np.where(y == 1, amount, 1.0) @ np.maximum(0, 1 - (2 * y - 1) * f)
    assert model.primal_objective_ == pytest.approx(0.5 * model.coef_[0] @ model.coef_[0] + loss, rel=1e-9)
    assert model.dual_gap_ <= 1e-4


def test_constant_columns_and_columns_far_from_zero_do_no_harm(client):
    X, y, _ = rows()
    far = np.column_stack([X, np.full(len(X), 7.0), X[:, 0] + 1e6])
    for scale in (True, False):
        model = CostSensitiveLinearSVC(scale=scale, client=client).fit(*in_partitions(far, y))
        Z = StandardScaler().fit_transform(far) if scale else far
        local = cssvm.CostSensitiveLinearSVC().fit(Z, y)
        assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=2e-6)
        np.testing.assert_array_equal(model.predict(far) == y, local.predict(Z) == y)
