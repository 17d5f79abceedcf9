"""Time to the first result: after installation, when everything is compiled, and in a later process.

Each figure is that of a process of its own with an empty folder for compiled code, imports not counted: the first fit,
the first search, and a fit in a process that finds what the other two have compiled.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from benchmarks.tables import Column, table

COLUMNS: tuple[Column, ...] = (("first result", 34), ("seconds", 9), ("target", 8), ("", 6))
ROWS = 400
PROGRAM = f"""
import json, time
begun = time.perf_counter()
import numpy as np
from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
imported = time.perf_counter()
X = np.random.default_rng(0).normal(size=({ROWS}, 5))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
{{model}}.fit(X, y)
print(json.dumps({{{{"import": imported - begun, "seconds": time.perf_counter() - imported}}}}))
"""
FIT, SEARCH = "CostSensitiveSVC(fn_cost=4)", "CostSensitiveSVCCV(fn_cost=4)"


class First(NamedTuple):
    """What is timed: a model, and whether its process finds compiled code."""

    name: str
    model: str
    compiled: bool
    target: float


FIRSTS = (
    First("fit after installation", FIT, False, 3.0),
    First("search after installation", SEARCH, False, 6.0),
    First("fit in a later process", FIT, True, 0.25),
)


def seconds_of(model: str, cache: str) -> dict[str, float]:
    """Times of a process that fits `model`, with compiled code kept in the folder `cache`."""
    program = PROGRAM.format(model=model)
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure() -> list[dict[str, Any]]:
    """A record for each of `FIRSTS`."""
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for first in FIRSTS:
            cache = os.path.join(folder, "compiled" if first.compiled else first.name)
            if first.compiled:
                seconds_of(first.model, cache)
            found = seconds_of(first.model, cache)
            records.append({"name": first.name, "target": first.target, **found})
    return records


def verdict(record: dict[str, Any]) -> str:
    return "ok" if record["seconds"] <= record["target"] else "miss"


def first_table(records: list[dict[str, Any]]) -> str:
    """The printed table."""
    rows = [
        [record["name"], f"{record['seconds']:.2f}", f"<={record['target']:g}", verdict(record)] for record in records
    ]
    return "\n".join(table(COLUMNS, rows))
