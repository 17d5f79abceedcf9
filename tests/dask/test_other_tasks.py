"""Other tasks of a client are not affected by fits and predictions that end, fail or are interrupted."""

import dask.array as da
import numpy as np
import pytest
from distributed import futures_of
from sklearn.preprocessing import FunctionTransformer

from cssvm._tables.cluster import map_parts
from cssvm.dask import CostSensitiveLinearSVC
from cssvm.dask._session import Session
from tests.dask.problems import left_behind

N_ROWS, N_PARTITIONS = 1600, 16


@pytest.fixture
def collections():
    """X, whose logarithm is not finite in one row of partition 1, and labels."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 2.0, size=(N_ROWS, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=N_ROWS) > 1.5
    X[N_ROWS // N_PARTITIONS + 2, 1] = -1.0
    return [da.from_array(each, chunks=(N_ROWS // N_PARTITIONS, *each.shape[1:])) for each in (X, y)]


@pytest.fixture
def held(client):
    """A persisted collection and a future of the user's; at the end they are as they were, and all that is known."""
    mine, other = client.persist(da.ones((100, 3), chunks=(10, 3))), client.submit(pow, 2, 5)
    client.gather([*futures_of(mine), other])
    keys = sorted(str(future.key) for future in [*futures_of(mine), other])
    yield
    assert left_behind(client, but=keys) == keys
    assert {future.status for future in [*futures_of(mine), other]} == {"finished"}
    assert client.compute(mine.sum()).result() == 300.0
    assert other.result() == 32


def test_a_fit_that_fails_in_a_late_pass_leaves_other_work_alone(client, held, collections, monkeypatch):
    monkeypatch.setattr("cssvm.dask._linear_svc.MAP_ROWS", 1000)  # not all, and not that row
    model = CostSensitiveLinearSVC(feature_map=FunctionTransformer(np.log), client=client)
    with pytest.raises(ValueError, match="partition 1: feature_map and scaling must give finite numbers"):
        model.fit(*collections)


@pytest.mark.parametrize("phase", ["survey", "subsample", "measure", "predict"])
def test_a_fit_that_is_interrupted_leaves_other_work_alone(client, held, collections, monkeypatch, phase):
    monkeypatch.setattr("cssvm.dask._blocks.HERE_BYTES", 0)
    submit = Session.submit

    def interrupted(self, tasks):
        futures = submit(self, tasks)
        if any(f"cssvm-{phase}" in future.key for future in futures):
            raise KeyboardInterrupt
        return futures

    monkeypatch.setattr(Session, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        CostSensitiveLinearSVC(scale=True, client=client).fit(*collections)


def test_parts_that_fail_or_are_not_requested_leave_other_work_alone(client, held):
    with pytest.raises(ZeroDivisionError):
        list(map_parts(client, divmod, 7, [(k - 3,) for k in range(20)]))
    parts = map_parts(client, divmod, 7, [(k + 1,) for k in range(20)])
    assert next(parts) == (7, 0)
    parts.close()
