"""Model files of every format there has been are read, and decide as they did when they were written."""

import json
from pathlib import Path

import numpy as np
import pytest

from cssvm.deploy import load_card, load_model
from cssvm.deploy._seal import FORMAT

FILES = sorted(Path(__file__).parent.glob("model-format-*.skops"))


def test_there_is_a_file_of_every_format():
    assert [path.stem for path in FILES] == [f"model-format-{number}" for number in range(1, FORMAT + 1)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.InconsistentVersionWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_stored_model_decides_as_it_did(path):
    expected = json.loads(path.with_suffix(".json").read_text())
    model, X = load_model(path).model, np.array(expected["rows"])
    assert model.predict(X).tolist() == expected["labels"]
    assert len(set(expected["labels"])) == 2
    np.testing.assert_allclose(model.decision_function(X), expected["scores"], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), expected["probabilities"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_card_of_a_stored_model_tells_what_it_told(path):
    card = load_card(path)
    assert (card.target, card.currency, card.pos_label, card.fn_cost, card.n_rows) == ("kind", "EUR", "fraud", 5.0, 80)
    assert [column.name for column in card.columns] == ["x0", "x1", "x2"]
    assert card.certificate["status"] == "converged"
