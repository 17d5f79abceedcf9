"""Clusters that listen on this machine only and stop with the tests."""

import pytest
from distributed import Client, LocalCluster


def start(n_workers, **options):
    options = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "protocol": "tcp://",
        "dashboard_address": "127.0.0.1:0",
        "processes": True,
    } | options
    return LocalCluster(n_workers=n_workers, **options)


@pytest.fixture(scope="session")
def client():
    """Two workers that are threads of this process: what a fit means needs no more."""
    with start(2, processes=False) as cluster, Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture(scope="session")
def processes():
    """Two workers in processes of their own, for tests of what lies between processes."""
    with start(2) as cluster, Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture(scope="session")
def started():
    """A function that starts a cluster."""
    return start


@pytest.fixture
def default_client(client):
    """The cluster as the one that collections and joblib compute on."""
    with Client(client.scheduler.address) as found:
        yield found


@pytest.fixture
def default_processes(processes):
    """The same of the cluster of processes."""
    with Client(processes.scheduler.address) as found:
        yield found


@pytest.fixture(autouse=True)
def many_rows(monkeypatch):
    """The rows of `problems` are many: a sample is solved first, then those near their margin."""
    monkeypatch.setattr("cssvm._solvers.linear.active_set.LEAST_NEAR", 100)
    for module in ("cssvm._solvers.linear.active_set", "cssvm.dask._linear_svc"):
        monkeypatch.setattr(f"{module}.FEW_ROWS", 1000)
