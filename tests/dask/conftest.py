import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes on this machine, reachable from it alone; they end with the tests."""
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as found:
        yield found


@pytest.fixture
def client(cluster):
    from dask.distributed import Client

    with Client(cluster) as found:
        yield found
