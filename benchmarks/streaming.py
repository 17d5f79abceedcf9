"""Time and memory of ``cssvm predict`` on a table that is read in chunks, with an RBF kernel.

    python -m benchmarks.streaming                  a million rows, 20 columns of numbers and 2 of strings
    python -m benchmarks.streaming --rows 100000    fewer

The table is written to a temporary folder as CSV and as Parquet. Each is predicted in a separate process, whose peak
memory the operating system reports (Linux and macOS).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from cssvm._runtime.format import aligned_table
from cssvm._tables import train_table

ROWS = 1_000_000
TRAINING_ROWS = 4_000
NUMBERS, CATEGORIES = 20, ("north", "south", "east", "west")
CHUNK_ROWS = 100_000
BUDGET_MB = 600
# The peak of a process includes the memory of its parent at the fork, so a small process starts it.
LAUNCHER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
HEAD = ("file", "MB", "rows", "seconds", "peak MB", "")


def rows_of(n_rows: int, seed: int) -> pd.DataFrame:
    """Rows with missing values, strings and a label of two overlapping classes."""
    X, y = make_classification(n_rows, NUMBERS, n_informative=8, flip_y=0.2, random_state=0, shuffle=False)
    order = np.random.default_rng(seed).permutation(n_rows)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(X[order].round(6), columns=[f"x{k}" for k in range(NUMBERS)])
    frame.loc[rng.random(n_rows) < 0.02, "x0"] = np.nan
    for name in ("region", "origin"):
        frame[name] = rng.choice(CATEGORIES, n_rows)
    return frame.assign(label=y[order])


def write_tables(folder: Path, n_rows: int) -> dict[str, Path]:
    """The same rows as CSV and as Parquet, written in parts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = {"CSV": folder / "new.csv", "Parquet": folder / "new.parquet"}
    writer = None
    for seed, start in enumerate(range(0, n_rows, CHUNK_ROWS)):
        part = rows_of(min(CHUNK_ROWS, n_rows - start), seed).drop(columns="label")
        part.to_csv(files["CSV"], mode="a", header=start == 0, index=False)
        rows = pa.Table.from_pandas(part, preserve_index=False)
        writer = pq.ParquetWriter(files["Parquet"], rows.schema) if writer is None else writer
        writer.write_table(rows)
    if writer is not None:
        writer.close()
    return files


def time_prediction(model: Path, data: Path, out: Path) -> dict[str, float]:
    """Seconds and peak memory of a process that predicts a table."""
    start = time.perf_counter()
    verb = ["-m", "cssvm", "predict", str(model), str(data), "--out", str(out), "--quiet"]
    done = subprocess.run([sys.executable, "-c", LAUNCHER, sys.executable, *verb], stdout=subprocess.PIPE, check=True)
    per_mb = 2**20 if sys.platform == "darwin" else 2**10
    return {"seconds": time.perf_counter() - start, "peak_mb": int(done.stdout) / per_mb}


def measure(n_rows: int) -> list[dict[str, Any]]:
    """A record for each kind of file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "model.skops"
        rows, one_point = rows_of(TRAINING_ROWS, seed=0), {"Cs": [1.0], "gammas": [0.02], "cv": 2}
        train_table(rows, target="label", fn_cost=4.0, evaluation=False, out=model, **one_point)
        files = write_tables(folder, n_rows)
        return [
            {
                "file": kind,
                "rows": n_rows,
                "mb": path.stat().st_size / 1e6,
                **time_prediction(model, path, folder / "out.csv"),
            }
            for kind, path in files.items()
        ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--json", type=Path, help="file for the results")
    given = parser.parse_args(arguments)
    records = measure(given.rows)
    rows = [
        [
            record["file"],
            f"{record['mb']:.0f}",
            f"{record['rows']:,}",
            f"{record['seconds']:.1f}",
            f"{record['peak_mb']:.0f}",
            "ok" if record["peak_mb"] <= BUDGET_MB else "miss",
        ]
        for record in records
    ]
    print(aligned_table(rows, HEAD, "<>"))
    if given.json:
        given.json.write_text(json.dumps(records, indent=2))


if __name__ == "__main__":
    main()
