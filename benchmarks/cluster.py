"""The linear SVM on a Dask cluster of this machine: time and memory compared with the local fit, and a memory test.

    python -m benchmarks.cluster                    all sizes; half an hour
    python -m benchmarks.cluster memory             data of twice the memory of all workers
    python -m benchmarks.cluster memory --quick     tiny data, to test that it runs

The data is written to Parquet files in a temporary folder, with one row group each, which are the partitions. The peak
memory of a worker is that of its process (Linux). The certificate is checked by sums over the files in NumPy, without
code of the solver.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, KilledWorker, LocalCluster
from sklearn.preprocessing import StandardScaler

from benchmarks import memory, report
from cssvm import CostSensitiveLinearSVC
from cssvm._runtime.format import aligned_table
from cssvm.dask import CostSensitiveLinearSVC as DaskLinearSVC
from cssvm.dask._session import Session

ROWS, FEATURES, WORKERS = (50_000, 200_000, 800_000), (20, 100), (1, 2)
PARTITIONS = 16
MEMORY_ROWS, MEMORY_FEATURES, MEMORY_PARTITION_ROWS = 5_800_000, 60, 25_000
MEMORY_LIMIT_MB = 640  # of each of two workers
FN_COST, FP_COST, TOL = 8.0, 1.0, 1e-6
MEGABYTE = 2**20
HEAD = (
    "rows",
    "features",
    "MB",
    "workers",
    "seconds",
    "local, s",
    "times",
    "peak MB",
    "difference",
)


def write_rows(folder: Path, n_rows: int, n_features: int, partition_rows: int) -> Path:
    """Two overlapping classes, one of them rare, with features of different scales."""
    folder.mkdir(parents=True)
    names = [f"x{k}" for k in range(n_features)]
    direction = np.random.default_rng(0).normal(size=n_features) / np.sqrt(n_features)
    units, centres = np.logspace(-2, 2, n_features), np.linspace(-3, 3, n_features)
    for number, first in enumerate(range(0, n_rows, partition_rows)):
        rng = np.random.default_rng([1, number])
        Z = rng.normal(size=(min(partition_rows, n_rows - first), n_features))
        label = (Z @ direction + 0.7 * rng.normal(size=len(Z)) > 2.0).astype(np.int8)
        columns = dict(zip(names, ((Z + centres) * units).T, strict=True)) | {"label": label}
        pq.write_table(pa.table(columns), folder / f"{number:05d}.parquet", compression="none", use_dictionary=False)
    return folder


def iter_files(folder: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """X and labels of each file."""
    for path in sorted(folder.glob("*.parquet")):
        frame = pd.read_parquet(path)
        yield frame.drop(columns="label").to_numpy(), frame["label"].to_numpy()


def true_primal(folder: Path, model: Any) -> float:
    """The primal objective of a model: means and variances in two passes over the files, then the losses."""
    n = sum(len(y) for _, y in iter_files(folder))
    mean = sum(X.sum(axis=0) for X, _ in iter_files(folder)) / n
    deviation = np.sqrt(sum(np.square(X - mean).sum(axis=0) for X, _ in iter_files(folder)) / n)
    w, b = model.coef_[0], model.intercept_[0]
    loss = 0.0
    for X, y in iter_files(folder):
        f = (X - mean) / deviation @ w + b
        loss += FN_COST * np.maximum(0.0, 1.0 - f)[y == 1].sum() + FP_COST * np.maximum(0.0, 1.0 + f)[y == 0].sum()
    return float(0.5 * w @ w + model.C_ * loss)


def cluster(n_workers: int, **options: Any) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, processes=True, **options
    )


def fit_on(client: Client, folder: Path, **options: Any) -> tuple[Any, float]:
    """The fitted model and the seconds."""
    start = time.perf_counter()
    model = DaskLinearSVC(fn_cost=FN_COST, fp_cost=FP_COST, tol=TOL, scale=True, client=client, **options).fit(
        folder, "label"
    )
    return model, time.perf_counter() - start


def fit_locally(folder: Path) -> tuple[Any, float]:
    """The same fit in this process and its seconds, including reading and scaling."""
    start = time.perf_counter()
    X, y = (np.concatenate(each) for each in zip(*iter_files(folder), strict=True))
    Z = StandardScaler(copy=False).fit_transform(X)
    model = CostSensitiveLinearSVC(fn_cost=FN_COST, fp_cost=FP_COST, tol=TOL).fit(Z, y)
    return model, time.perf_counter() - start


@contextmanager
def counted_rounds() -> Iterator[list[dict[str, Any]]]:
    """Collect the rounds, blocks, seconds and bytes of the results for each kind of task of a session."""
    found: dict[str, dict[str, Any]] = {}

    def counted(method: Any) -> Any:
        def asked(self: Any, name: str, ask: Any, given: Any, names: Any, at_once: int) -> Iterator[Any]:
            own = found.setdefault(name, {"name": name, "rounds": 0, "blocks": 0, "seconds": 0.0, "bytes": 0})
            own["rounds"] += 1
            own["blocks"] += len(names)
            begun = time.perf_counter()
            for answer in method(self, name, ask, given, names, at_once):
                own["bytes"] += len(pickle.dumps(answer[1] if method is pairs else answer))
                yield answer
            own["seconds"] += time.perf_counter() - begun

        return asked

    answers, pairs = Session.map_ordered, Session.map_pairs
    Session.map_ordered, Session.map_pairs = counted(answers), counted(pairs)  # type: ignore[method-assign]
    rounds: list[dict[str, Any]] = []
    try:
        yield rounds
    finally:
        Session.map_ordered, Session.map_pairs = answers, pairs  # type: ignore[method-assign]
        rounds.extend(found.values())


def peaks_mb(client: Client) -> list[float]:
    return [round((each or 0) / MEGABYTE, 1) for each in client.run(memory.peak).values()]


def measure_times(home: Path, rows: tuple[int, ...], features: tuple[int, ...]) -> list[dict[str, Any]]:
    warm = write_rows(home / "warm", 30_000, 5, 5_000)
    fit_locally(warm)
    records = []
    for n_features in features:
        for n_rows in rows:
            folder = write_rows(home / f"{n_rows}-{n_features}", n_rows, n_features, -(-n_rows // PARTITIONS))
            local, local_seconds = fit_locally(folder)
            for n_workers in WORKERS:
                with cluster(n_workers) as workers, Client(workers, set_as_default=False) as client:
                    fit_on(client, warm)
                    client.run(memory.reset_peak)
                    model, seconds = fit_on(client, folder)
                    records.append(
                        {
                            "rows": n_rows,
                            "features": n_features,
                            "data_mb": 8 * n_rows * n_features / MEGABYTE,
                            "workers": n_workers,
                            "seconds": seconds,
                            "local_seconds": local_seconds,
                            "peaks_mb": peaks_mb(client),
                            "iterations": model.n_iter_,
                            "gap": model.dual_gap_,
                            "difference": abs(model.primal_objective_ / local.primal_objective_ - 1.0),
                        }
                    )
    return records


def line(record: dict[str, Any]) -> list[str]:
    return [
        f"{record['rows']:,}",
        f"{record['features']}",
        f"{record['data_mb']:.0f}",
        f"{record['workers']}",
        f"{record['seconds']:.1f}",
        f"{record['local_seconds']:.1f}",
        f"{record['seconds'] / record['local_seconds']:.1f}",
        f"{max(record['peaks_mb']):.0f}",
        f"{record['difference']:.0e}",
    ]


def read_all(paths: list[str]) -> int:
    """Read all rows into the memory of one worker."""
    return sum(len(each) for each in [pq.read_table(path) for path in paths])


def one_worker_is_killed(folder: Path, limit_mb: int) -> bool:
    """Whether one worker with this limit is killed when it reads all data."""
    paths = [str(path) for path in sorted(folder.glob("*.parquet"))]
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        cluster(1, memory_limit=limit_mb * MEGABYTE) as one,
        Client(one, set_as_default=False) as client,
    ):
        try:
            client.submit(read_all, paths).result()
        except KilledWorker:
            return True
    return False


def measure_memory(home: Path, n_rows: int, limit_mb: int) -> dict[str, Any]:
    folder = write_rows(home / "memory", n_rows, MEMORY_FEATURES, MEMORY_PARTITION_ROWS)
    data_mb = 8 * n_rows * MEMORY_FEATURES / MEGABYTE
    with cluster(2, memory_limit=limit_mb * MEGABYTE) as workers, Client(workers, set_as_default=False) as client:
        with counted_rounds() as rounds:
            model, seconds = fit_on(client, folder, verbose=1)
        peaks, n_alive = peaks_mb(client), len(client.nthreads())
    true = true_primal(folder, model)
    local, _ = fit_locally(folder)
    return {
        "rows": n_rows,
        "features": MEMORY_FEATURES,
        "data_mb": data_mb,
        "partitions": -(-n_rows // MEMORY_PARTITION_ROWS),
        "limits_mb": [limit_mb] * 2,
        "limits_below_half": 2 * limit_mb < data_mb / 2,
        "seconds": seconds,
        "iterations": model.n_iter_,
        "rounds": rounds,
        "peaks_mb": peaks,
        "workers_at_the_end": n_alive,
        "primal_stated": model.primal_objective_,
        "primal_true": true,
        "dual_stated": model.dual_objective_,
        "gap_true": (true - model.dual_objective_) / true,
        "certificate_is_true": abs(true / model.primal_objective_ - 1) < 1e-9
        and (true - model.dual_objective_) / true <= TOL * (1 + 1e-6)
        and model.dual_objective_ <= local.primal_objective_ * (1 + 1e-12)
        and local.dual_objective_ <= true * (1 + 1e-12),
        "one_worker_dies_of_all_rows": one_worker_is_killed(folder, limit_mb),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks cluster", description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=("times", "memory"), default="times")
    parser.add_argument("--quick", action="store_true", help="tiny data, to test that it runs")
    parser.add_argument("--rows", type=int, metavar="N", help="of the memory test")
    parser.add_argument("--json", type=Path, metavar="PATH", help="file to which the results are added")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as home:
        if options.what == "times":
            sizes = ((2_000, 30_000), (5,)) if options.quick else (ROWS, FEATURES)
            found: Any = measure_times(Path(home), *sizes)
            print(aligned_table([line(record) for record in found], HEAD, "<>"))
        else:
            n_rows = options.rows or (80_000 if options.quick else MEMORY_ROWS)
            found = measure_memory(Path(home), n_rows, 600 if options.quick else MEMORY_LIMIT_MB)
            print("\n".join(f"{name:28} {value}" for name, value in found.items()))
    if options.json is not None:
        before = json.loads(options.json.read_text()) if options.json.exists() else {}
        written = before | {options.what: report.describe_run() | {"cases": found}}
        options.json.write_text(json.dumps(written, indent=2) + "\n")


if __name__ == "__main__":
    main()
