"""The server example: its predictions are the model's, it rejects invalid samples, and it stops."""

import contextlib
import http.client
import json
import runpy
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest

from cssvm.deploy import load_model, save_model
from tests.deploy.models import fitted, table

EXAMPLE = Path(__file__).parents[2] / "examples" / "serve.py"
SECONDS = 120


class Server:
    """A process of the example that stops after `n_requests`."""

    def __init__(self, path, n_requests):
        command = [sys.executable, str(EXAMPLE), str(path), "--port", "0", "--seconds", str(SECONDS)]
        self.process = subprocess.Popen([*command, "--requests", str(n_requests)], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def ask(self, path, content=None):
        """Status and JSON of the response; bytes are sent unchanged."""
        body = content if content is None or isinstance(content, bytes) else json.dumps(content).encode()
        try:
            with urllib.request.urlopen(f"{self.address}{path}", data=body, timeout=300) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("serve") / "model.skops"
    save_model(fitted("search, bayes"), path)
    return path


def samples(frame):
    """The rows as JSON objects, null for missing values."""
    return [
        {name: None if value != value else value for name, value in row.items()} for row in frame.to_dict("records")
    ]


@pytest.mark.system
def test_predictions_are_those_of_the_model_and_invalid_samples_are_rejected(saved, request):
    model, frame = load_model(saved).model, table().iloc[:6]
    sent = samples(frame)
    bad = [
        ({**sent[0], "colour": "red"}, "'colour' is not a column of the model"),
        ({name: value for name, value in sent[0].items() if name != "age"}, "'age' is missing"),
        ({**sent[0], "age": "old"}, "'age' must be a number"),
        ({**sent[0], "job": 7}, "'job' must be a string"),
        ({**sent[0], "fn_cost": -1.0}, "fn_cost"),
        ([1, 2], "a sample must be an object"),
        (b"{", "Expecting property name"),
    ]
    server = Server(saved, n_requests=1 + len(sent) + 1 + len(bad) + 2)
    request.addfinalizer(server.process.kill)
    assert server.address.startswith("http://127.0.0.1:")
    assert server.ask("/card")[1]["pos_label"] == "bad"
    for i, sample in enumerate(sent):
        status, answer = server.ask("/decide", sample)
        assert status == 200, answer
        assert answer["label"] == model.predict(frame.iloc[[i]])[0]
        assert answer["score"] == model.decision_function(frame.iloc[[i]])[0]
        assert list(answer["probability"].values()) == model.predict_proba(frame.iloc[[i]])[0].tolist()
    costs = {"fn_cost": 1e6, "fp_cost": 1e-6}
    assert server.ask("/decide", {**sent[0], **costs})[1]["label"] == "bad"
    for content, message in bad:
        status, answer = server.ask("/decide", content)
        assert status == 400
        assert message in answer["error"]
    assert server.ask("/nonsense")[0] == 404
    assert server.ask("/nonsense", {})[0] == 404
    assert server.process.wait(timeout=300) == 0


@pytest.mark.system
def test_silent_clients_delay_neither_other_clients_nor_the_end(saved, request):
    server = Server(saved, n_requests=1)
    request.addfinalizer(server.process.kill)
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))), socket.create_connection((host, int(port))) as begun:
        begun.sendall(b"POST /decide HTTP/1.1\r\nContent-Length: 100\r\n")
        assert server.ask("/card")[0] == 200
        assert server.process.wait(timeout=300) == 0


@pytest.fixture
def serving(saved):
    """The address of the example in this process."""
    example = runpy.run_path(str(EXAMPLE))
    handler = example["handler"](load_model(saved), threading.Semaphore(0))
    with example["ThreadingHTTPServer"](("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(("host", "status"), [("127.0.0.1", 200), ("localhost", 200), ("evil.example", 403)])
def test_a_request_for_another_host_name_is_rejected(serving, host, status):
    """A web page whose host name resolves to this machine sends that name (DNS rebinding)."""
    asked = http.client.HTTPConnection("127.0.0.1", serving, timeout=30)
    asked.request("GET", "/card", headers={"Host": f"{host}:{serving}"})
    assert asked.getresponse().status == status
    asked.close()


def test_the_handler_has_a_timeout(saved):
    example = runpy.run_path(str(EXAMPLE))
    assert 0 < example["handler"](None, None).timeout <= 60


@pytest.mark.system
def test_a_model_of_arrays_is_served(tmp_path, request):
    path = tmp_path / "model.skops"
    model = fitted("cost-sensitive")
    save_model(model, path)
    server = Server(path, n_requests=1)
    request.addfinalizer(server.process.kill)
    row = {"x0": 1.0, "x1": -0.5, "x2": 0.0, "x3": 2.0}
    X = np.array([list(row.values())])
    expected = {"label": int(model.predict(X)[0]), "score": float(model.decision_function(X)[0])}
    assert server.ask("/decide", row) == (200, expected)
    assert server.process.wait(timeout=300) == 0


@pytest.mark.system
def test_the_server_stops_in_time_although_a_client_is_silent(saved, request):
    command = [sys.executable, str(EXAMPLE), str(saved), "--port", "0", "--seconds", "0.5"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    request.addfinalizer(process.kill)
    port = int(process.stdout.readline().split(":")[-1])
    with contextlib.suppress(ConnectionError), socket.create_connection(("127.0.0.1", port)):
        assert process.wait(timeout=300) == 0


@pytest.mark.system
def test_a_damaged_model_is_not_served(tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(b"PK")
    done = subprocess.run([sys.executable, str(EXAMPLE), str(path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "is not a model file of cssvm" in done.stderr
