"""Predictions over HTTP
=====================

A small server for the local machine: run with ``python examples/serve.py model.skops [--port 8000]``, then::

    curl -s http://127.0.0.1:8000/card
    curl -s http://127.0.0.1:8000/decide -d '{"amount": 5000, "income": null, "housing": "rent"}'

A request is one sample: a value for each column of the model card and, for a model that uses the costs of each sample,
`fn_cost` and `fp_cost`. The response has the predicted label, the score and, if the model has them, the probabilities
of both classes. The server stops after a number of seconds or requests, whatever its clients do. It rejects requests
for other host names than those of this machine, so that web pages cannot reach it by DNS rebinding. In production, add
authentication.
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

MAX_REQUEST_BYTES = 1 << 20
CLIENT_TIMEOUT = 10.0  # seconds
COSTS = ("fn_cost", "fp_cost")


def value_of(column: Column, sample: dict[str, Any]) -> Any:
    """The value of a column in a sample; null is a missing value."""
    if column.name not in sample:
        raise ValueError(f"column {column.name!r} is missing; use null for a missing value")
    value = sample[column.name]
    if column.kind == "category":
        if value is None:
            return "" if "" in (column.categories or ()) else np.nan
        if not isinstance(value, str):
            raise ValueError(f"column {column.name!r} must be a string or null; got {value!r}")
        return value
    if value is None:
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"column {column.name!r} must be a number or null; got {value!r}")
    return float(value)


def predict(saved: SavedModel, sample: Any) -> dict[str, Any]:
    """The response to one sample."""
    if not isinstance(sample, dict):
        raise ValueError("a sample must be an object with a value for each column")
    model, columns = saved.model, saved.card.columns
    unknown = sorted(sample.keys() - {column.name for column in columns} - {*COSTS})
    if unknown:
        raise ValueError(f"column {unknown[0]!r} is not a column of the model")
    values = {column.name: value_of(column, sample) for column in columns}
    if hasattr(model, "feature_names_in_"):
        # A missing value alone would make the column numeric.
        kinds = {column.name: object if column.kind == "category" else np.float64 for column in columns}
        row = pd.DataFrame({name: pd.Series([value], dtype=kinds[name]) for name, value in values.items()})
    else:
        row = np.array([list(values.values())])
    costs = {name: [float(sample[name])] for name in COSTS if name in sample and name not in values}
    answer = {"label": model.predict(row, **costs)[0], "score": model.decision_function(row)[0]}
    if hasattr(model, "predict_proba"):
        answer["probability"] = dict(zip(map(str, model.classes_), model.predict_proba(row)[0].tolist(), strict=True))
    return {name: each.item() if isinstance(each, np.generic) else each for name, each in answer.items()}


def handler(saved: SavedModel, answered: threading.Semaphore) -> type[BaseHTTPRequestHandler]:
    """A request handler for this model, which releases `answered` after each response."""

    class Handler(BaseHTTPRequestHandler):
        timeout = CLIENT_TIMEOUT

        def parse_request(self) -> bool:
            """Read the headers of a request; reject one for another host."""
            if not super().parse_request():
                return False
            port = self.server.server_address[1]
            known = self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
            if not known:
                self.answer(403, {"error": f"request http://127.0.0.1:{port}"})
            return known

        def do_GET(self) -> None:
            if self.path == "/card":
                self.answer(200, json.loads(saved.card.to_json()))
            else:
                self.answer(404, {"error": "request GET /card or POST /decide"})

        def do_POST(self) -> None:
            stated = self.headers.get("Content-Length", "")
            length = int(stated) if stated.isdecimal() else 0
            if self.path != "/decide" or not 0 < length <= MAX_REQUEST_BYTES:
                self.answer(404, {"error": f"request POST /decide with up to {MAX_REQUEST_BYTES} bytes"})
                return
            try:
                self.answer(200, predict(saved, json.loads(self.rfile.read(length))))
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
    parser = argparse.ArgumentParser(description="Serve predictions over HTTP, on this machine only.")
    parser.add_argument("model", help="model file, written by save_model or `cssvm train`")
    parser.add_argument("--port", type=int, default=8000, help="0 chooses a free port (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=600.0, help="stop after this time (default: %(default)s)")
    parser.add_argument("--requests", type=int, default=None, help="stop after this number of requests")
    options = parser.parse_args()

    saved = load_model(options.model)
    end, left, answered = time.monotonic() + options.seconds, options.requests, threading.Semaphore(0)
    # Each client has a daemon thread, so that a silent client delays neither other clients nor the end.
    with ThreadingHTTPServer(("127.0.0.1", options.port), handler(saved, answered)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
        while left != 0 and answered.acquire(timeout=max(0.0, end - time.monotonic())):
            left = None if left is None else left - 1
        server.shutdown()


if __name__ == "__main__":
    main()
