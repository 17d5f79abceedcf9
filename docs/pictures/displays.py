"""Draw the pictures of docs/reports.md, one for each display. Needs the extra `plot`.

`python docs/pictures/displays.py` draws all of them; with names (`cost_roc threshold`), only those.
"""

import sys
from pathlib import Path

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_validate, train_test_split

from cssvm import CostSensitiveSVC
from cssvm.displays import (
    CostCurveDisplay,
    CostRocDisplay,
    GainsDisplay,
    LossDisplay,
    ThresholdDisplay,
)
from cssvm.losses import CostSensitiveHinge, ExponentialLoss, LogisticLoss
from cssvm.metrics import min_cost_risk

sys.path.insert(0, str(Path(__file__).parents[2]))
from study import paths

FOLDER = Path(__file__).parent
COSTS = {"fn_cost": 5.0, "fp_cost": 1.0}


def make_data(n_samples: int = 1000):
    """Three negative samples for each positive one, with overlapping classes."""
    X, y = make_classification(
        n_samples, 20, n_informative=6, weights=[0.75], flip_y=0.05, class_sep=0.6, random_state=0
    )
    return train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)


def loss():
    return LossDisplay.from_losses([CostSensitiveHinge(4, 2), CostSensitiveHinge(1, 1)], panels=("min_risk", "loss"))


def smooth_losses():
    return LossDisplay.from_losses([ExponentialLoss(4, 2), LogisticLoss(4, 2)], f_range=(-0.8, 0.8))


def cost_roc():
    X, X_test, y, y_test = make_data()
    model = CostSensitiveSVC().fit(X, y)
    threshold = min_cost_risk(y, model.decision_function(X), **COSTS).threshold
    return CostRocDisplay.from_estimator(model, X_test, y_test, **COSTS, threshold=threshold, normalize=True)


def cost_curve():
    X, X_test, y, y_test = make_data()
    svc = CostSensitiveSVC(**COSTS).fit(X, y)
    forest = RandomForestClassifier(random_state=0).fit(X, y)
    first = CostCurveDisplay.from_estimator(svc, X_test, y_test, **COSTS)
    return CostCurveDisplay.from_estimator(forest, X_test, y_test, **COSTS, ax=first.ax_)


def threshold():
    X, X_test, y, y_test = make_data()
    model = CostSensitiveSVC().fit(X, y)
    return ThresholdDisplay.from_estimator(model, X_test, y_test, **COSTS, random_state=0)


def threshold_folds():
    X, _, y, _ = make_data()
    results = cross_validate(CostSensitiveSVC(), X, y, cv=5, return_estimator=True, return_indices=True)
    return ThresholdDisplay.from_cv_results(results, X, y, **COSTS)


def support_vectors():
    X, y = make_classification(4000, 10, n_informative=6, weights=[0.97], flip_y=0.01, class_sep=1.0, random_state=0)
    tied = CostSensitiveSVC(1.0, kappa="tied", fn_cost=32.0)
    return paths.plot_margin_path(paths.margin_path(tied, X, y, kappas=[2.0**-k for k in range(13)]))[0].figure


def gains():
    X, X_test, y, y_test = make_data()
    model = CostSensitiveSVC(**COSTS).fit(X, y)
    return GainsDisplay.from_estimator(model, X_test, y_test, **COSTS, total=True, currency="EUR")


PICTURES = [gains, loss, smooth_losses, cost_roc, cost_curve, threshold, threshold_folds, support_vectors]

if __name__ == "__main__":
    for picture in PICTURES:
        if len(sys.argv) == 1 or picture.__name__ in sys.argv[1:]:
            drawn = picture()
            getattr(drawn, "figure_", drawn).savefig(FOLDER / f"{picture.__name__}.png", dpi=100)
