"""Time predictions for single samples: `python -m benchmarks.serving`.
from cssvm._runtime.format import aligned_table

A loaded model prepares its support vectors at the first prediction and keeps them. The table has the time per sample
after that, the time including the preparation, the time of scikit-learn's SVC with the same vectors, and that of
onnxruntime on one thread. The last lines are a search with a transformer of data frames, which takes most of the time.
Median and 99th percentile, in milliseconds.
"""

import argparse
import pickle
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
from cssvm._runtime.format import aligned_table
from cssvm.deploy import load_model, save_model, to_onnx

CALLS = 500
FRESH_CALLS = 50  # of slower calls
LIMIT = 1.0  # ms, without the transformer
CASES = (("rbf", 500, 20), ("rbf", 4_000, 20), ("rbf", 8_000, 100), ("poly", 4_000, 20), ("linear", 4_000, 20))
HEAD = ("model", "median", "99 %", "limit", "")


def milliseconds(calls: Iterable[Callable[[], object]]) -> np.ndarray:
    """The time of each call."""
    taken = []
    for call in calls:
        start = time.perf_counter()
        call()
        taken.append(1e3 * (time.perf_counter() - start))
    return np.array(taken)


def line(name: str, taken: np.ndarray, limit: float | None = None) -> list[str]:
    middle = float(np.median(taken))
    verdict = ["", ""] if limit is None else [f"{limit:g}", "ok" if middle <= limit else "miss"]
    return [name, f"{middle:.3f}", f"{np.quantile(taken, 0.99):.3f}", *verdict]


def repeated(decide: Callable[[Any], object], rows: list[Any], calls: int) -> np.ndarray:
    """Times of single samples, after a few to warm up."""
    for row in rows[:10]:
        decide(row)
    return milliseconds(partial(decide, rows[k % len(rows)]) for k in range(calls))


def reloaded(model: Any) -> Any:
    """The model, saved and loaded."""
    with TemporaryDirectory() as folder:
        save_model(model, Path(folder) / "model.skops")
        return load_model(Path(folder) / "model.skops").model


def of_arrays(kernel: str, n: int, d: int, calls: int) -> list[list[str]]:
    """Single samples of an array."""
    X, y = make_classification(n, d, n_informative=min(d, 8), n_redundant=0, flip_y=0.2, random_state=0)
    model = reloaded(CostSensitiveSVC(fn_cost=4.0, kernel=kernel).fit(X, y))
    reference = SVC(C=model.C_, kernel=kernel, gamma=model.gamma_, class_weight={0: 1.0, 1: 4.0}).fit(X, y)
    graph = session(model)
    rows = [X[i : i + 1] for i in range(200)]
    copies = [pickle.loads(pickle.dumps(model)) for _ in range(min(calls, FRESH_CALLS))]
    name = f"{kernel}, {len(model.support_):,} vectors, {d} features"
    return [
        line(name, repeated(model.predict, rows, calls), LIMIT),
        line("  vectors prepared for each sample", milliseconds(partial(each.predict, rows[0]) for each in copies)),
        line("  SVC (scikit-learn)", repeated(reference.predict, rows, calls)),
        line("  onnxruntime", repeated(lambda row: graph.run(None, {"X": row}), rows, calls)),
    ]


def session(model: Any) -> Any:
    """The graph of a model in onnxruntime, on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), options)


def of_frames(n: int, calls: int) -> list[list[str]]:
    """Single rows of a data frame through a search and its preparation."""
    X, y = make_classification(n, 10, n_informative=6, flip_y=0.2, random_state=0)
    frame = pd.DataFrame(X, columns=[f"a{k}" for k in range(10)])
    frame["word"] = pd.Series(np.array(["red", "green", "blue"], dtype=object)[np.arange(n) % 3], dtype=object)
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), [f"a{k}" for k in range(10)]),
        (OneHotEncoder(handle_unknown="ignore"), ["word"]),
    )
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.1], cv=3, fn_cost=4.0, decision="bayes", transformer=prepared)
    model = reloaded(search.fit(frame, y))
    graph, rows = session(model), [frame.iloc[i : i + 1] for i in range(200)]
    fed = [{name: row[[name]].to_numpy() for name in frame.columns} for row in rows]
    features = repeated(model.transformer_.transform, rows, calls)
    return [
        line(f"data frame, {len(model.support_):,} vectors", repeated(model.predict, rows, calls)),
        line("  its features alone", features),
        line("  onnxruntime, features included", repeated(lambda row: graph.run(None, row), fed, calls)),
    ]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks serving", description="Time predictions for single samples."
    )
    parser.add_argument(
        "--calls", type=int, default=CALLS, metavar="N", help="number of timed samples (default %(default)s)"
    )
    parser.add_argument("--quick", action="store_true", help="tiny models, to test that it runs")
    options = parser.parse_args(arguments)
    calls = 5 if options.quick else options.calls

    print(f"one sample at a time, {calls} of them, in milliseconds\n")
    lines = []
    for kernel, n, d in CASES:
        lines += of_arrays(kernel, 200 if options.quick else n, min(d, 5) if options.quick else d, calls)
    print(aligned_table([*lines, *of_frames(200 if options.quick else 2_000, calls)], HEAD, "<>"))


if __name__ == "__main__":
    main()
