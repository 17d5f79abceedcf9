"""Write the model file of this format that later versions must read, with what it decides.

    python -m tests.deploy.stored

Run it once for a new format number, never again for an old one: the point of the file is that it stays.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVCCV
from cssvm.deploy import ModelCard, save_model
from cssvm.deploy._seal import FORMAT

FOLDER = Path(__file__).parent


def made_up(n, seed):
    """Rows (n, 3) of two classes that overlap, and their labels as words."""
    generator = np.random.default_rng(seed)
    y = np.where(generator.random(n) < 0.3, "fraud", "honest")
    X = generator.normal(size=(n, 3)) + 1.5 * (y == "fraud")[:, np.newaxis]
    return np.round(X * [1.0, 100.0, 0.01] + [0.0, 5000.0, 1.0], 6), y


def main():
    X, y = made_up(80, seed=1)
    new = made_up(30, seed=2)[0]
    search = CostSensitiveSVCCV(Cs=3, gammas=3, cv=3, fn_cost=5.0, decision="bayes", pos_label="fraud")
    model = make_pipeline(StandardScaler(), search).fit(X, y)
    path = FOLDER / f"model-format-{FORMAT}.skops"
    save_model(model, path, ModelCard.of(model, target="kind", currency="EUR", n_rows=80))
    decided = {
        "rows": new.tolist(),
        "labels": model.predict(new).tolist(),
        "scores": model.decision_function(new).tolist(),
        "probabilities": model.predict_proba(new).tolist(),
    }
    path.with_suffix(".json").write_text(json.dumps(decided, indent=1) + "\n")


if __name__ == "__main__":
    main()
