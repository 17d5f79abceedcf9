"""Train and predict on a cluster
==============================

Run with ``python examples/parquet_cluster.py [--rows N] [--data kdd99]``.

A cluster of two worker processes trains a model on a folder of Parquet files, and writes predictions for another folder
to a third. No process holds a whole folder in memory. `train_and_predict` does all the work; the rest generates the
data and computes the costs. ``--data kdd99`` trains on the 494,021 connections of the KDD Cup 1999 and predicts the
311,029 of its test file (`docs/datasets.md` explains how to get them).
"""

import argparse
import logging
import tempfile
import time
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from cssvm.dask import CostSensitiveLinearSVC, predict

ROWS, FILES = 100_000, 4
CALL = 5.0  # EUR, for stopping an honest payment
COLUMNS = ["log_amount", "hour", "distance", "years", "new_shop"]


def train_and_predict(client: Client, past: str, new: str, out: str, label: str, **costs: Any) -> Any:
    """Train on one folder and write another one to `out` with a column of predictions; return the model."""
    # All columns are features, except the label and the costs.
    model = CostSensitiveLinearSVC(scale=True, client=client).fit(past, label, **costs)
    model = model.to_local()  # a scikit-learn pipeline, which needs no cluster
    rows = dd.read_parquet(new)
    rows.assign(predicted=predict(model, rows)).to_parquet(out)
    return model


def write_payments(folder: Path, n_rows: int, seed: int) -> None:
    """Write generated payments (examples/fraud.py) with their amounts, one file at a time."""
    from fraud import make_payments

    folder.mkdir()
    for k in range(FILES):
        payments = make_payments(n_rows // FILES, seed=100 * seed + k)
        frame = pd.DataFrame(payments.X, columns=COLUMNS)
        frame.assign(amount=payments.amount, fraud=payments.fraud).to_parquet(folder / f"part-{k}.parquet")


def write_connections(folder: Path, found: Any, rows: Any) -> None:
    """Write rows of the KDD Cup 1999, one file at a time; label 1 is an attack."""
    folder.mkdir()
    for k, chosen in enumerate(np.array_split(rows, FILES)):
        frame = pd.DataFrame(found.data[chosen].toarray().astype(np.float32), columns=list(found.feature_names))
        frame.assign(attack=1 - found.target[chosen]).to_parquet(folder / f"part-{k}.parquet")


def print_costs(folder: str, label: str, fn_cost: Any, fp_cost: float) -> None:
    """Print the cost of the predictions, and of acting on nobody and on everybody."""
    rows = dd.read_parquet(folder)
    fn_costs, fp_costs = fn_cost(rows) * (rows[label] == 1), fp_cost * (rows[label] == 0)
    acted = rows["predicted"] == 1
    sums = [fn_costs * ~acted, fp_costs * acted, fn_costs, fp_costs, acted, rows[label]]
    missed, alarms, nobody, everybody, n_acted, n_positive = dd.compute(*(each.sum() for each in sums))
    print(f"{n_positive:,.0f} positive among {len(rows):,} rows; acted on {n_acted:,.0f}")
    print(f"cost of the predictions {missed + alarms:,.0f}: {missed:,.0f} missed, {alarms:,.0f} false alarms")
    print(f"cost of acting on nobody {nobody:,.0f}, on everybody {everybody:,.0f}")


def main(n_rows: int, data: str) -> None:
    on_this_machine = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
    with (
        tempfile.TemporaryDirectory() as home,
        LocalCluster(**on_this_machine, silence_logs=logging.ERROR) as cluster,
        Client(cluster) as client,
    ):
        past, new, out = (f"{home}/{name}" for name in ("past", "new", "predicted"))
        if data == "kdd99":
            from cssvm.datasets import load

            found = load("kdd99")
            write_connections(Path(past), found, np.flatnonzero(found.split == "train"))
            write_connections(Path(new), found, np.flatnonzero(found.split == "test"))
            label, costs = (
                "attack",
                {"fn_cost": found.fp_cost, "fp_cost": found.fn_cost},
            )  # its positive class is normal traffic
        else:
            write_payments(Path(past), n_rows, seed=1)
            write_payments(Path(new), n_rows, seed=2)
            label, costs = "fraud", {"fn_cost": "amount", "fp_cost": CALL}
        started = time.perf_counter()
        model = train_and_predict(client, past, new, out, label, **costs)
        print(f"trained and predicted in {time.perf_counter() - started:.0f} s, duality gap {model[-1].dual_gap_:.1g}")
        fn_cost = costs["fn_cost"]
        print_costs(out, label, lambda rows: rows[fn_cost] if isinstance(fn_cost, str) else fn_cost, costs["fp_cost"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS, help="number of payments to generate")
    parser.add_argument("--data", choices=["payments", "kdd99"], default="payments")
    given = parser.parse_args()
    main(given.rows, given.data)
