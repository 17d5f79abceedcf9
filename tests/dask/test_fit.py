"""The linear SVM on a cluster: bit-identical to the local solver, and no tasks are left behind."""

import pickle
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline

import cssvm
from cssvm.dask import CostSensitiveLinearSVC
from cssvm.dask import _blocks as blocks
from cssvm.dask import _session as session_module
from cssvm.dask._session import Session
from tests.dask.problems import SIZES, in_partitions, left_behind, local_twin, objectives, rows


@pytest.fixture(scope="module")
def arrays():
    return rows()


@pytest.fixture
def small_blocks(monkeypatch):
    """Chosen rows make several blocks, which stay on the cluster."""
    monkeypatch.setattr("cssvm._solvers.linear.blocks.BLOCK_BYTES", 1 << 13)
    monkeypatch.setattr(blocks, "HERE_BYTES", 0)


def numbers(model):
    return np.array([*model.coef_[0], *model.intercept_, model.primal_objective_, model.dual_objective_])


@pytest.mark.parametrize(
    ("room", "here"),
    [
        pytest.param(0, 1 << 26, id="read in each pass, chosen rows here"),
        pytest.param(1 << 40, 0, id="kept in memory, chosen rows on the cluster"),
        pytest.param(0, 0, id="read in each pass, chosen rows on the cluster", marks=pytest.mark.system),
    ],
)
def test_the_local_solver_given_the_same_blocks_has_the_same_bits(client, arrays, monkeypatch, room, here):
    monkeypatch.setattr("cssvm._solvers.linear.blocks.BLOCK_BYTES", 1 << 13)
    monkeypatch.setattr(blocks, "HERE_BYTES", here)
    monkeypatch.setattr(Session, "room", room)
    X, y, amount = in_partitions(*arrays)
    model = CostSensitiveLinearSVC(fp_cost=3.0, scale=True, client=client).fit(X, y, fn_cost=amount)
    twin = local_twin(model, X, y, fn_cost=amount)
    np.testing.assert_array_equal(model.coef_[0], twin.coef)
    assert model.intercept_[0] == twin.bias
    assert (model.primal_objective_, model.dual_objective_) == (twin.primal_objective, twin.dual_objective)
    assert model.n_iter_ == twin.n_iter


@pytest.mark.system
def test_any_number_of_workers_and_threads_gives_the_same_bits(client, started, arrays, small_blocks, monkeypatch):
    monkeypatch.setattr(Session, "room", 0)
    X, y, amount = in_partitions(*arrays)
    found = [numbers(CostSensitiveLinearSVC(scale=True, client=client).fit(X, y, fn_cost=amount))]
    for n_workers, n_threads in ((1, 1), (4, 1), (1, 3)):
        cluster = started(n_workers, threads_per_worker=n_threads)
        with cluster, Client(cluster, set_as_default=False) as other:
            found.append(numbers(CostSensitiveLinearSVC(scale=True, client=other).fit(X, y, fn_cost=amount)))
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


SETTINGS = {
    "standard": ({}, ()),
    "class costs": ({"C": 3.0, "fn_cost": 5.0, "fp_cost": 2.0, "kappa": 0.3}, ()),
    "everything": ({"C": 0.5}, ("fn_cost", "fp_cost", "kappa", "sample_weight")),
    "tied, the other target": ({"pos_label": 0, "kappa": "tied"}, ("fn_cost", "fp_cost")),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_has_the_optimum_of_the_local_estimator(client, arrays, name):
    (X, y, _), (parameters, names) = arrays, SETTINGS[name]
    columns = np.random.default_rng(2).uniform(0.3, 4.0, (4, len(y)))
    given = dict(zip(("fn_cost", "fp_cost", "kappa", "sample_weight"), columns, strict=True))
    given["sample_weight"][::9] = 0.0
    target = parameters.get("pos_label", 1)
    given["fn_cost"][y != target] = np.nan
    given["fp_cost"][y == target] = np.nan
    given = {key: given[key] for key in names}
    local = cssvm.CostSensitiveLinearSVC(**parameters).fit(X, y, **given)
    dX, dy, *values = in_partitions(X, y, *given.values())
    model = CostSensitiveLinearSVC(client=client, **parameters)
    model.fit(dX, dy, **dict(zip(names, values, strict=True)))
    assert pytest.approx(local.C_, rel=1e-12) == model.C_
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1.1e-6)
    assert model.dual_gap_ <= 1e-6
    assert model.n_features_in_ == X.shape[1]
    assert isinstance(model.to_local(), cssvm.CostSensitiveLinearSVC)
    assert not isinstance(model.to_local(), CostSensitiveLinearSVC)
    np.testing.assert_allclose(model.to_local().decision_function(X), local.decision_function(X), atol=2e-3)


def test_the_certificate_is_true_by_independent_sums(client, arrays):
    X, y, amount = arrays
    dX, dy, cost = in_partitions(X, y, amount)
    model = CostSensitiveLinearSVC(C=0.3, kappa=0.5, fp_cost=2.0, scale=True, client=client).fit(dX, dy, fn_cost=cost)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    upper_bounds, margins = 0.3 * np.where(y == 1, amount, 2.0), np.where(y == 1, 1.0, 0.5)
    true = objectives(model, Z, 2.0 * y - 1.0, margins, upper_bounds)
    assert model.primal_objective_ == pytest.approx(true, rel=1e-10)
    assert 0 <= (true - model.dual_objective_) / true <= 1e-6
    other = cssvm.CostSensitiveLinearSVC(C=0.3, kappa=0.5, fp_cost=2.0, tol=1e-8).fit(Z, y, fn_cost=amount)
    assert model.dual_objective_ <= other.primal_objective_


def test_the_local_model_decides_on_raw_rows_alike_and_without_dask(client, arrays):
    X, y, amount = arrays
    model = CostSensitiveLinearSVC(scale=True, client=client).fit(
        *in_partitions(X, y), fn_cost=in_partitions(amount)[0]
    )
    local = model.to_local()
    assert isinstance(local, Pipeline)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(local.decision_function(X), Z @ model.coef_[0] + model.intercept_, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), local.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(local)).decision_function(X), local.decision_function(X))
    local[-1].coef_[:] = 0.0
    assert model.coef_.any()


def test_clones_keep_the_client_and_files_do_not(client, arrays):
    model = CostSensitiveLinearSVC(fn_cost=2.0, scale=True, client=client)
    assert clone(model).client is client
    assert clone(model).fn_cost == 2.0
    model.fit(*in_partitions(*arrays[:2]))
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    np.testing.assert_array_equal(again.predict(arrays[0]), model.predict(arrays[0]))


def test_without_a_client_the_last_one_started_is_taken_and_none_is_rejected(client, arrays):
    X, y = in_partitions(*arrays[:2])
    with pytest.raises(ValueError, match="there is none"):
        CostSensitiveLinearSVC().fit(X, y)
    with client.as_current():
        assert CostSensitiveLinearSVC().fit(X, y).dual_gap_ <= 1e-6
    with pytest.raises(ValueError, match="client must be a connected"):
        CostSensitiveLinearSVC(client="tcp://127.0.0.1:1").fit(X, y)


def test_progress_shows_the_gap_so_far(client, arrays, capsys):
    CostSensitiveLinearSVC(verbose=1, scale=True, client=client).fit(*in_partitions(*arrays[:2]))
    printed = capsys.readouterr().out
    assert f"{sum(SIZES):,} rows of 6 columns in 7 partitions" in printed
    assert "relative gap" in printed
    assert "converged after" in printed


def test_few_rows_in_many_partitions_are_a_small_problem(client):
    X, y, _ = rows(300)
    model = CostSensitiveLinearSVC(client=client).fit(da.from_array(X, chunks=(30, 6)), da.from_array(y, chunks=30))
    local = cssvm.CostSensitiveLinearSVC().fit(X, y)
    assert model.primal_objective_ == pytest.approx(local.primal_objective_, rel=1e-9)


def test_a_fit_leaves_no_tasks_behind(client, arrays, small_blocks):
    CostSensitiveLinearSVC(scale=True, client=client).fit(*in_partitions(*arrays[:2]))
    assert left_behind(client) == []


PHASES = ("survey", "subsample", "predict", "totals", "measure", "reach", "margin_histogram", "near_margin")


@pytest.mark.parametrize("phase", PHASES)
def test_an_interrupted_fit_leaves_no_tasks_and_the_estimator_as_it_was(
    client, arrays, small_blocks, monkeypatch, phase
):
    X, y = in_partitions(*arrays[:2])
    model = CostSensitiveLinearSVC(scale=True, client=client)
    model.earlier = 1
    before, submit = dict(vars(model)), Session.submit

    def interrupted(self, tasks):
        futures = submit(self, tasks)
        if any(f"cssvm-{phase}" in future.key for future in futures):
            raise KeyboardInterrupt
        return futures

    monkeypatch.setattr(Session, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert vars(model) == before
    assert left_behind(client) == []


@pytest.mark.system
@pytest.mark.parametrize(("every", "grows"), [(3, False), (10**6, True)])
def test_checkpoints_keep_what_a_state_depends_on_short(client, arrays, small_blocks, monkeypatch, every, grows):
    """Without them all iterations would have to be repeated for a worker that dies in the last one."""
    monkeypatch.setattr(blocks, "CHECKPOINT_EVERY", every)
    monkeypatch.setattr("cssvm._solvers.linear.active_set.FEW_ROWS", 10**6)
    monkeypatch.setattr("cssvm.dask._linear_svc.FEW_ROWS", 0)
    known, move = [], blocks.DaskBlocks._update_states

    def counted(self, function, step):
        yield from move(self, function, step)
        time.sleep(0.05)  # for the scheduler to forget
        known.append(client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)))

    monkeypatch.setattr(blocks.DaskBlocks, "_update_states", counted)
    CostSensitiveLinearSVC(tol=1e-9, scale=True, client=client).fit(*in_partitions(*arrays[:2]))
    assert len(known) >= 10
    assert (known[-1] > 2 * max(known[:4])) == grows


@pytest.mark.system
def test_states_are_sent_in_parts_that_fit(client, arrays, small_blocks, monkeypatch):
    X, y = in_partitions(*arrays[:2])
    first = CostSensitiveLinearSVC(scale=True, client=client).fit(X, y)
    monkeypatch.setattr(blocks, "CHECKPOINT_BYTES", 1 << 15)
    monkeypatch.setattr(blocks, "CHECKPOINT_EVERY", 1)
    np.testing.assert_array_equal(numbers(CostSensitiveLinearSVC(scale=True, client=client).fit(X, y)), numbers(first))


@pytest.mark.system
def test_a_step_keeps_no_more_than_one_state_for_each_block(client, arrays, small_blocks, monkeypatch):
    """Beside those of the blocks that are under way."""
    monkeypatch.setattr("cssvm._solvers.linear.active_set.FEW_ROWS", 10**6)
    monkeypatch.setattr("cssvm.dask._linear_svc.FEW_ROWS", 0)
    monkeypatch.setattr(blocks.DaskBlocks, "at_once", lambda self, n_cores: 2)
    move, kept = blocks.DaskBlocks._update_states, []

    def counted(self, function, step):
        for answer in move(self, function, step):
            kept.append((sum("_first-" in key for key in client.futures), len(self._states)))
            yield answer

    monkeypatch.setattr(blocks.DaskBlocks, "_update_states", counted)
    CostSensitiveLinearSVC(scale=True, client=client).fit(*in_partitions(*arrays[:2]))
    assert max(n_blocks for _, n_blocks in kept) >= 6
    assert all(n_states <= n_blocks + 2 for n_states, n_blocks in kept)


def test_a_feature_map_travels_once_and_not_with_every_task(client, monkeypatch):
    X, y, _ = rows(400)
    sizes, make = {}, session_module._delayed

    def weighed(name, function, given):
        if isinstance(function, session_module.Task):
            sizes[name] = max(sizes.get(name, 0), len(pickle.dumps(function)))
        return make(name, function, given)

    monkeypatch.setattr(session_module, "_delayed", weighed)
    monkeypatch.setattr(Session, "room", 0)
    monkeypatch.setattr("cssvm.dask._linear_svc.FEW_ROWS", 0)
    feature_map = Nystroem(n_components=60, gamma=0.05, random_state=0)
    model = CostSensitiveLinearSVC(feature_map=feature_map, tol=1e-2, scale=True, client=client)
    model.fit(*in_partitions(X, y, sizes=(200, 200)))
    assert len(pickle.dumps(model._preparation)) > 60 * 60 * 8
    assert {"survey", "totals", "reader", "measure"} <= set(sizes)
    assert max(sizes.values()) < 10_000


def test_answers_come_in_order_and_few_are_computed_ahead(client):
    with Session(client) as session:
        submitted = []
        monkey = session.submit
        session.submit = lambda several: submitted.append(len(several)) or monkey(several)
        given = [(k,) for k in range(23)].__getitem__
        task, names = session_module.Task(pow, {"exp": 2}), [str(k) for k in range(23)]
        answers = session.map_ordered("square", task, given, names, 6)
        assert next(answers) == 0
        assert sum(submitted) == 6
        assert list(answers) == [k**2 for k in range(1, 23)]


def test_the_first_partition_that_fails_is_named_though_another_fails_sooner(client):
    def fails(seconds):
        time.sleep(seconds)
        raise ValueError("got none.")

    with Session(client) as session:
        answers = session.map_ordered(
            "fails", session_module.Task(fails), [(0.5,), (0.0,)].__getitem__, ["one", "other"], 4
        )
        with pytest.raises(ValueError, match=r"^one: got none"):
            next(answers)


def test_its_own_methods_are_lazy_on_collections(client, default_client, arrays):
    X, y, _ = in_partitions(*arrays)
    model = CostSensitiveLinearSVC(scale=True, client=client).fit(X, y)
    for method in ("decision_function", "predict"):
        lazy, known = getattr(model, method)(X), getattr(model.to_local(), method)(arrays[0])
        assert hasattr(lazy, "dask")
        np.testing.assert_allclose(lazy.compute().astype(float), known.astype(float), rtol=1e-12, atol=1e-12)
