"""The serving example as a real process: it decides as the model does, refuses what is no case, and ends by itself."""

import json
import subprocess
import sys
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
    """The example, serving a model until so many requests have been answered."""

    def __init__(self, path, n_requests):
        command = [sys.executable, str(EXAMPLE), str(path), "--port", "0", "--seconds", str(SECONDS)]
        self.process = subprocess.Popen([*command, "--requests", str(n_requests)], stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().split()[-1]

    def ask(self, path, content=None):
        """Status and answer; text is sent as it is."""
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


def cases(frame):
    """Rows as JSON would have them."""
    return [
        {name: None if value != value else value for name, value in row.items()} for row in frame.to_dict("records")
    ]


@pytest.mark.system
def test_single_cases_are_decided_as_by_the_model_and_others_are_refused(saved, request):
    model, frame = load_model(saved).model, table().iloc[:6]
    sent = cases(frame)
    bad = [
        ({**sent[0], "colour": "red"}, "'colour' is not one that the model reads"),
        ({name: value for name, value in sent[0].items() if name != "age"}, "'age' is missing"),
        ({**sent[0], "age": "old"}, "'age' must be a number"),
        ({**sent[0], "job": 7}, "'job' must be a word"),
        ({**sent[0], "fn_cost": -1.0}, "fn_cost"),
        ([1, 2], "a case must be an object"),
        (b"{", "Expecting property name"),
    ]
    server = Server(saved, n_requests=1 + len(sent) + 1 + len(bad) + 2)
    request.addfinalizer(server.process.kill)
    assert server.address.startswith("http://127.0.0.1:")
    assert server.ask("/card")[1]["pos_label"] == "bad"
    for i, case in enumerate(sent):
        status, answer = server.ask("/decide", case)
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
def test_a_model_of_bare_rows_and_the_end_after_so_many_seconds(tmp_path):
    path = tmp_path / "model.skops"
    model = fitted("cost-sensitive")
    save_model(model, path)
    command = [sys.executable, str(EXAMPLE), str(path), "--port", "0", "--seconds", "3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    address = process.stdout.readline().split()[-1]
    row = {"x0": 1.0, "x1": -0.5, "x2": 0.0, "x3": 2.0}
    with urllib.request.urlopen(f"{address}/decide", data=json.dumps(row).encode(), timeout=300) as answer:
        decided = json.load(answer)
    X = np.array([list(row.values())])
    assert decided == {"label": int(model.predict(X)[0]), "score": float(model.decision_function(X)[0])}
    assert process.wait(timeout=300) == 0


@pytest.mark.system
def test_a_damaged_model_is_not_served(tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(b"PK")
    done = subprocess.run([sys.executable, str(EXAMPLE), str(path)], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "no model file of cssvm" in done.stderr
