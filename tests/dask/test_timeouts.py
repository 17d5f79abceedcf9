"""Timeouts of tasks, with a fake client and a fake clock."""

from types import SimpleNamespace

import pytest

from cssvm.dask import _session as tasks


class Cluster:
    """A client whose workers are there at given times, and futures that are done or fail at a given time."""

    def __init__(self, monkeypatch, workers):
        self.now, self.workers = 0.0, workers
        # Not that of the module time, which the clusters of other tests in this process go by.
        monkeypatch.setattr(tasks, "time", SimpleNamespace(monotonic=lambda: self.now))

    def nthreads(self):
        return {"worker": 1} if self.workers(self.now) else {}

    def future(self, done, status="finished"):
        return Future(self, done, status)


class Future:
    def __init__(self, cluster, done, status):
        self.cluster, self.done, self.final = cluster, done, status

    @property
    def status(self):
        return self.final if self.cluster.now >= self.done else "pending"

    def exception(self, timeout):
        self.cluster.now += timeout
        if self.status == "pending":
            raise TimeoutError


NEVER = float("inf")
LIMIT = tasks.NO_WORKERS_SECONDS


def test_partitions_that_wait_without_any_worker_are_named_after_the_limit(monkeypatch):
    cluster = Cluster(monkeypatch, workers=lambda now: now < 100)
    futures = [cluster.future(50), cluster.future(NEVER), cluster.future(NEVER)]
    with pytest.raises(RuntimeError, match=r"^b, c: the cluster has had no workers for 300 seconds"):
        tasks.wait_for_workers(cluster, futures, ["a", "b", "c"])
    assert LIMIT <= cluster.now - 100 <= LIMIT + 2 * tasks.LOOK_SECONDS


def test_a_cluster_with_workers_is_waited_for_without_a_limit(monkeypatch):
    cluster = Cluster(monkeypatch, workers=lambda now: True)
    tasks.wait_for_workers(cluster, [cluster.future(20 * LIMIT)], ["a"])
    assert cluster.now >= 20 * LIMIT


def test_workers_that_come_back_in_time_start_the_limit_again(monkeypatch):
    cluster = Cluster(monkeypatch, workers=lambda now: now % (LIMIT + 10) >= LIMIT - 10)
    tasks.wait_for_workers(cluster, [cluster.future(5 * LIMIT)], ["a"])


def test_one_failure_ends_the_wait_for_the_others(monkeypatch):
    cluster = Cluster(monkeypatch, workers=lambda now: False)
    tasks.wait_for_workers(cluster, [cluster.future(NEVER), cluster.future(5, "error")], ["a", "b"])
    assert cluster.now <= 5 + tasks.LOOK_SECONDS
