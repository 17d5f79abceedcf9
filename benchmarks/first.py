"""Time to the first result: after installation, when everything is compiled, and in a later process.

Each time is measured in a separate process with an empty Numba cache, imports not included: the first fit, the first
search, and a fit in a process that finds compiled code.
"""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, NamedTuple

from cssvm._runtime.format import aligned_table

HEAD = ("first result", "seconds", "goal", "")
ROWS = 400
PROGRAM = f"""
import json, time
start = time.perf_counter()
import numpy as np
from cssvm import CostSensitiveSVC, CostSensitiveSVCCV
imported = time.perf_counter()
X = np.random.default_rng(0).normal(size=({ROWS}, 5))
y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
{{model}}.fit(X, y)
print(json.dumps({{{{"import": imported - start, "seconds": time.perf_counter() - imported}}}}))
"""
FIT, SEARCH = "CostSensitiveSVC(fn_cost=4)", "CostSensitiveSVCCV(fn_cost=4)"


class FirstResult(NamedTuple):
    """A model to time, and whether its process finds compiled code."""

    name: str
    model: str
    compiled: bool
    goal: float


FIRST_RESULTS = (
    FirstResult("fit after installation", FIT, False, 3.0),
    FirstResult("search after installation", SEARCH, False, 6.0),
    FirstResult("fit in a later process", FIT, True, 0.25),
)


def seconds_of(model: str, cache: str) -> dict[str, float]:
    """Times of a process that fits `model`, with compiled code kept in the folder `cache`."""
    program = PROGRAM.format(model=model)
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def measure() -> list[dict[str, Any]]:
    """A record for each of `FIRST_RESULTS`."""
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for first in FIRST_RESULTS:
            cache = os.path.join(folder, "compiled" if first.compiled else first.name)
            if first.compiled:
                seconds_of(first.model, cache)
            found = seconds_of(first.model, cache)
            records.append({"name": first.name, "goal": first.goal, **found})
    return records


def verdict(record: dict[str, Any]) -> str:
    return "ok" if record["seconds"] <= record["goal"] else "miss"


def first_table(records: list[dict[str, Any]]) -> str:
    """The printed table."""
    rows = [
        [record["name"], f"{record['seconds']:.2f}", f"<={record['goal']:g}", verdict(record)] for record in records
    ]
    return aligned_table(rows, HEAD, "<>")
