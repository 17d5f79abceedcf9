"""With workers killed during the passes, the coefficients are bit-identical to an undisturbed fit."""

import os
import signal
import time

import dask
import numpy as np
import pytest
from distributed import Client

from cssvm.dask import CostSensitiveLinearSVC
from cssvm.dask import _blocks as blocks
from cssvm.dask import _session as tasks
from cssvm.dask._session import Session
from tests.dask.problems import in_partitions, left_behind, rows

pytestmark = pytest.mark.system


@pytest.fixture
def fragile(started):
    """A cluster of its own, whose workers may die and come back."""
    with started(2) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def collections():
    return in_partitions(*rows())


@pytest.fixture
def on_the_cluster(monkeypatch):
    """All rows are read in each pass; chosen ones and their states stay on the cluster, in several blocks."""
    monkeypatch.setattr(Session, "room", 0)
    monkeypatch.setattr("cssvm._solvers.linear.blocks.BLOCK_BYTES", 1 << 13)
    monkeypatch.setattr(blocks, "HERE_BYTES", 0)
    monkeypatch.setattr(blocks, "CHECKPOINT_EVERY", 3)


def fitted(client, collections):
    X, y, amount = collections
    return CostSensitiveLinearSVC(fp_cost=3.0, tol=1e-4, scale=True, client=client).fit(X, y, fn_cost=amount)


@pytest.fixture
def undisturbed(processes, collections, on_the_cluster, found={}):  # noqa: B006 - the same for all tests
    if not found:
        found["model"] = fitted(processes, collections)
    return found["model"]


def kill_one(client):
    """SIGKILL to the first worker; returns its process."""
    worker, pid = min(client.run(os.getpid, on_error="ignore").items())  # one may have been killed just now
    os.kill(pid, signal.SIGKILL)
    return worker


PASSES = [
    ("survey", "subsample", "predict"),
    ("totals", "measure", "near_margin"),
    ("join", "reach", "margin_histogram"),
    ("restore", "keep", "reader"),
]


@pytest.mark.parametrize("passes", PASSES, ids=", ".join)
def test_a_worker_killed_in_each_of_these_passes_changes_no_bit(fragile, collections, undisturbed, monkeypatch, passes):
    if "keep" in passes:
        monkeypatch.setattr(Session, "room", 1 << 40)
    submit, killed = Session.submit, {}

    def with_a_death(self, tasks):
        futures = submit(self, tasks)
        for each in passes:
            if each not in killed and any(f"cssvm-{each}" in future.key for future in futures):
                killed[each] = kill_one(fragile)
        return futures

    monkeypatch.setattr(Session, "submit", with_a_death)
    disturbed = fitted(fragile, collections)
    assert set(killed) == set(passes)
    np.testing.assert_array_equal(disturbed.coef_, undisturbed.coef_)
    assert disturbed.intercept_ == undisturbed.intercept_
    assert disturbed.dual_objective_ == undisturbed.dual_objective_
    assert left_behind(fragile) == []


def test_a_partition_that_kills_its_worker_is_named(started, collections):
    X, y, _ = collections

    def deadly(block, block_info=None):
        if block_info and block_info[0]["chunk-location"][0] == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),  # one death is enough
        started(1) as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(RuntimeError, match="partition 4: every worker that computed it died, 1 in a row"),
    ):
        CostSensitiveLinearSVC(client=client).fit(X.map_blocks(deadly, dtype=float), y)


def test_a_cluster_that_has_lost_all_workers_ends_the_fit(started, collections, monkeypatch):
    monkeypatch.setattr(tasks, "NO_WORKERS_SECONDS", 0.0)
    X, y, _ = collections
    submit = Session.submit

    with started(1) as cluster, Client(cluster, set_as_default=False) as client:

        def without_workers(self, several):
            cluster.scale(0)
            while client.nthreads():
                time.sleep(0.05)
            return submit(self, several)

        monkeypatch.setattr(Session, "submit", without_workers)
        with pytest.raises(RuntimeError, match=r"^partition 0.*: the cluster has had no workers for 0 seconds"):
            CostSensitiveLinearSVC(client=client).fit(X, y)
