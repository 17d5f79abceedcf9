"""Clusters that listen on this machine only and stop with the tests.

This folder is not called dask, as pytest would take it for the package of that name.
"""

import pytest
from distributed import Client, LocalCluster


def start(n_workers, **options):
    options = {
        "threads_per_worker": 1,
        "host": "127.0.0.1",
        "protocol": "tcp://",
        "dashboard_address": None,
        "processes": True,
    } | options
    return LocalCluster(n_workers=n_workers, **options)


@pytest.fixture(scope="session")
def client():
    """A cluster of two workers that are threads of this process."""
    with start(2, processes=False) as cluster, Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture(scope="session")
def started():
    """A function that starts a cluster of processes."""
    return start


@pytest.fixture(scope="session")
def processes(started):
    """A cluster of two worker processes."""
    with started(2) as cluster, Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture
def default_client(client):
    """The cluster as the one that collections and joblib compute on."""
    with Client(client.scheduler.address) as found:
        yield found


@pytest.fixture
def default_processes(processes):
    """The cluster of processes as the one that collections and joblib compute on."""
    with Client(processes.scheduler.address) as found:
        yield found
