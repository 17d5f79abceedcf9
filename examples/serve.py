"""Decide single cases over HTTP
=============================

On this machine only: run with ``python examples/serve.py model.skops [--port 8000]``, then::

    curl -s http://127.0.0.1:8000/card
    curl -s http://127.0.0.1:8000/decide -d '{"amount": 5000, "income": null, "housing": "rent"}'

A request is one case: the columns of the model's card, and `fn_cost` and `fp_cost` beside them for a model that decides
by the costs of each case. The answer holds the label, the score, and the probabilities of both classes where the model
has them. The server ends by itself, after so many seconds or requests, whatever its clients do. It answers only to the
names of this machine, so that no page of a browser can reach it under another name. A real one would stand behind
something that knows who may ask.
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pandas as pd

from cssvm.deploy import Column, SavedModel, load_model

LARGEST_REQUEST = 1 << 20  # bytes
PATIENCE = 10.0  # seconds that a client may be silent
COSTS = ("fn_cost", "fp_cost")


def value_of(column: Column, case: dict[str, Any]) -> Any:
    """The entry of a column as the model knows it; null is a gap."""
    if column.name not in case:
        raise ValueError(f"column {column.name!r} is missing; null means that its value is not known")
    value = case[column.name]
    if column.kind == "category":
        if value is None:
            return "" if "" in (column.categories or ()) else np.nan
        if not isinstance(value, str):
            raise ValueError(f"column {column.name!r} must be a word in quotes or null; got {value!r}")
        return value
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"column {column.name!r} must be a number or null; got {value!r}")
    return float(value)


def decide(saved: SavedModel, case: Any) -> dict[str, Any]:
    """The decision on one case."""
    if not isinstance(case, dict):
        raise ValueError("a case must be an object with a value for each column")
    model, columns = saved.model, saved.card.columns
    unknown = sorted(case.keys() - {column.name for column in columns} - {*COSTS})
    if unknown:
        raise ValueError(f"column {unknown[0]!r} is not one that the model reads")
    values = {column.name: value_of(column, case) for column in columns}
    if hasattr(model, "feature_names_in_"):
        # A gap alone would make a column of numbers, whatever it is a column of.
        kinds = {column.name: object if column.kind == "category" else np.float64 for column in columns}
        row = pd.DataFrame({name: pd.Series([value], dtype=kinds[name]) for name, value in values.items()})
    else:
        row = np.array([list(values.values())])
    costs = {name: [float(case[name])] for name in COSTS if name in case and name not in values}
    answer = {"label": model.predict(row, **costs)[0], "score": model.decision_function(row)[0]}
    if hasattr(model, "predict_proba"):
        answer["probability"] = dict(zip(map(str, model.classes_), model.predict_proba(row)[0].tolist(), strict=True))
    return {name: each.item() if isinstance(each, np.generic) else each for name, each in answer.items()}


def handler(saved: SavedModel, answered: threading.Semaphore) -> type[BaseHTTPRequestHandler]:
    """What answers the requests for this model, and counts the answers."""

    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE

        def parse_request(self) -> bool:
            """Read the head of a request, and refuse one for another host."""
            if not super().parse_request():
                return False
            port = self.server.server_address[1]
            known = self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
            if not known:
                self.answer(403, {"error": f"ask for http://127.0.0.1:{port}"})
            return known

        def do_GET(self) -> None:
            if self.path == "/card":
                self.answer(200, json.loads(saved.card.to_json()))
            else:
                self.answer(404, {"error": "ask for GET /card or POST /decide"})

        def do_POST(self) -> None:
            stated = self.headers.get("Content-Length", "")
            length = int(stated) if stated.isdecimal() else 0
            if self.path != "/decide" or not 0 < length <= LARGEST_REQUEST:
                self.answer(404, {"error": f"ask for POST /decide with up to {LARGEST_REQUEST} bytes"})
                return
            try:
                self.answer(200, decide(saved, json.loads(self.rfile.read(length))))
            except (TypeError, ValueError) as error:
                self.answer(400, {"error": str(error)})

        def answer(self, status: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            answered.release()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def main() -> None:
    parser = argparse.ArgumentParser(description="Decide single cases over HTTP, on this machine only.")
    parser.add_argument("model", help="a file that save_model or `cssvm train` wrote")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=600.0, help="end after so long (default %(default)s)")
    parser.add_argument("--requests", type=int, default=None, help="end after so many")
    options = parser.parse_args()

    saved = load_model(options.model)
    end, left, answered = time.monotonic() + options.seconds, options.requests, threading.Semaphore(0)
    # A thread for each client, none of which is waited for: one that says nothing holds up neither others nor the end.
    with ThreadingHTTPServer(("127.0.0.1", options.port), handler(saved, answered)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        while left != 0 and answered.acquire(timeout=max(0.0, end - time.monotonic())):
            left = None if left is None else left - 1
        server.shutdown()


if __name__ == "__main__":
    main()
