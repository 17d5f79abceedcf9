"""A small table as practitioners have it, and the file formats it comes in."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TRAIN = {"target": "outcome", "pos_label": "bad", "Cs": [0.1, 1.0], "gammas": [0.05, 0.5], "cv": 3, "evaluation": False}


def applicants(n, seed=0):
    """A table of two overlapping classes with every type of column."""
    rng = np.random.default_rng(seed)
    income, amount = rng.gamma(4.0, 700.0, n).round(2), rng.lognormal(7.0, 0.6, n).round(-1)
    home = rng.choice(["own", "rent", "with parents, for now"], n)
    zip_code = rng.choice(["01234", "04711", "81000", "99999"], n)
    bad = rng.random(n) < 1 / (1 + np.exp(2.0 + income / 1500 - amount / 700 - 0.8 * (home == "rent")))
    home = np.where(rng.random(n) < 0.1, None, home)
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, income),
            "amount": amount,
            "home": home,
            "zip": zip_code,
            "outcome": np.where(bad, "bad", "good"),
        }
    )


def as_csv(frame, sep=",", newline="\n", bom=False):
    """The bytes of a CSV file."""
    text = io.StringIO()
    frame.to_csv(text, index=False, sep=sep, lineterminator=newline)
    return (b"\xef\xbb\xbf" if bom else b"") + text.getvalue().encode()


def write(folder, frame, kind):
    """The table in a file, or folder, of this kind; its path."""
    path = folder / f"{kind.replace(' ', '_')}.data"
    if kind.startswith("parquet"):
        rows = pa.Table.from_pandas(frame, preserve_index=False)
        if kind == "parquet":
            pq.write_table(rows, path)
        else:
            path.mkdir()
            half = len(frame) // 2
            pq.write_table(rows.slice(0, half), path / "part-0.parquet")
            pq.write_table(rows.slice(half), path / "part-1.parquet")
        return path
    content = {
        "csv": lambda: as_csv(frame),
        "csv of Windows": lambda: as_csv(frame, newline="\r\n", bom=True),
        "csv with semicolons": lambda: as_csv(frame, sep=";"),
        "csv with tabs": lambda: as_csv(frame, sep="\t"),
        "csv packed": lambda: gzip.compress(as_csv(frame)),
    }[kind]()
    path.write_bytes(content)
    return path


def read_decisions(path):
    """The columns of a CSV written by `predict_table`: strings, and numbers with all digits."""
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    numbers = ("score", "probability", "cost_of_acting", "cost_of_leaving")
    return {name: np.array(values, dtype=float if name in numbers else object) for name, values in columns.items()}


KINDS = (
    "csv", "csv of Windows", "csv with semicolons", "csv with tabs", "csv packed", "parquet", "parquet in parts",
)  # fmt: skip
