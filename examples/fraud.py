"""Costs of each payment
=====================

How much each method saves on fraudulent payments: run with ``python examples/fraud.py [number of payments]``.

The payments are generated; about one in thirty is fraudulent. A missed fraud costs its amount; stopping an honest
payment costs 5 EUR for the call and 2 % of the amount, for customers who then pay elsewhere. The amount is known at
prediction time. The true probabilities are known too: no method can do better on average than decisions by them. The
second table has expected savings, which do not depend on which payments happened to be fraudulent.
"""

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from cssvm import (
    BiasedPenaltySVC,
    CostProportionateClassifier,
    CostSensitiveSVC,
    CostSensitiveSVCCV,
    CostThresholdClassifier,
    DirectCostClassifier,
    MetaCostClassifier,
    evaluate,
)
from cssvm._evaluation import Evaluation

N = 3000
CALL, CUSTOMERS_LOST = 5.0, 0.02
CS, GAMMAS = (0.01, 0.1, 1.0), (0.01, 0.03, 0.1)  # few values, for a quick example
SEARCHED = "search, sample costs"
TRUE_PROBABILITIES = "the true probabilities"

EXPLANATION = """\
class averages     biased penalties with one cost for all frauds and one for all other payments
ED-BP-SVM          biased penalties with the cost of each sample
ED-CS-SVM, tied    the same, with a margin of 1 / its cost for each honest payment
search             CostSensitiveSVCCV: probabilities and the costs of each new payment
DirectCost         probability times the amount that a regression predicts
MetaCost, costing  training samples relabelled, or resampled, by their costs
logistic           a logistic regression and the costs of each new payment
The search, logistic and the true probabilities use the costs of each new payment. All others decide by x alone, which
includes the amount."""


class Payments(NamedTuple):
    """Features, labels, amounts and the true probabilities of fraud `p`."""

    X: NDArray[np.float64]
    fraud: NDArray[np.int64]
    amount: NDArray[np.float64]
    p: NDArray[np.float64]

    @property
    def costs(self) -> dict[str, NDArray[np.float64]]:
        """Costs of a false negative and of a false positive, for each payment."""
        return {"fn_cost": self.amount, "fp_cost": CALL + CUSTOMERS_LOST * self.amount}

    def expected_cost(self, stopped: NDArray[np.bool_]) -> float:
        """Expected cost of decisions, per payment."""
        fn_cost, fp_cost = self.costs.values()
        return float(np.mean(np.where(stopped, (1 - self.p) * fp_cost, self.p * fn_cost)))


def probability(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(fraud | x): higher for large amounts, at night, for new accounts, far from home, most of all in a new shop."""
    log_amount, hour, distance, years, new_shop = X.T
    night = np.exp(-(((hour - 3.0) / 2.0) ** 2))
    odds = 0.5 * (log_amount - 3.5) + 1.8 * night + 0.5 * distance - 0.25 * years + 0.9 * new_shop * distance
    return 1.0 / (1.0 + np.exp(4.2 - odds))


def make_payments(n: int, seed: int = 0) -> Payments:
    """Columns: logarithm of the amount, hour, distance from home, years of the account, whether the shop is new."""
    rng = np.random.default_rng(seed)
    amount = np.exp(rng.normal(3.5, 1.1, n))
    X = np.column_stack(
        [np.log(amount), rng.uniform(0, 24, n), rng.exponential(1.0, n), rng.gamma(2.0, 2.0, n), rng.random(n) < 0.3]
    )
    p = probability(X)
    return Payments(X, (rng.random(n) < p).astype(np.int64), amount, p)


class ClassAverages(BiasedPenaltySVC):
    """Biased penalties with the mean cost of each class."""

    def fit(self, X: Any, y: Any, *, fn_cost: Any, fp_cost: Any) -> "ClassAverages":
        return super().fit(X, y, fn_cost=fn_cost[y == 1].mean(), fp_cost=fp_cost[y == 0].mean())


class TiedMargins(CostSensitiveSVC):
    """Margins of 1 / fp_cost, in units of the smallest fp_cost."""

    def fit(self, X: Any, y: Any, *, fn_cost: Any, fp_cost: Any) -> "TiedMargins":
        unit = fp_cost.min()
        return super().fit(X, y, fn_cost=fn_cost / unit, fp_cost=fp_cost / unit, kappa=unit / fp_cost)


class TrueProbabilities(ClassifierMixin, BaseEstimator):
    """A classifier that knows the true probabilities."""

    def fit(self, X: Any, y: Any) -> "TrueProbabilities":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.column_stack([1 - probability(X), probability(X)])


def others() -> dict[str, Any]:
    """All methods except the search, by name."""

    def scaled(model: Any) -> Any:
        return make_pipeline(StandardScaler(), model)

    quadratic = make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(C=0.3, max_iter=500))
    amounts = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    return {
        "class averages": scaled(ClassAverages()),
        "ED-BP-SVM": scaled(BiasedPenaltySVC()),
        "ED-CS-SVM, tied": scaled(TiedMargins()),
        "DirectCost(logistic)": DirectCostClassifier(quadratic, amounts, calibration=None),
        "MetaCost(logistic)": MetaCostClassifier(quadratic, n_estimators=20, random_state=0),
        "costing(logistic)": CostProportionateClassifier(quadratic, n_estimators=20, random_state=0),
        "costing(SVM)": scaled(CostProportionateClassifier(CostSensitiveSVC(), n_estimators=20, random_state=0)),
        TRUE_PROBABILITIES: CostThresholdClassifier(TrueProbabilities(), calibration=None),
    }


def compare(payments: Payments, cv: int = 5) -> Evaluation:
    """All methods, evaluated by cross-validation."""
    search = CostSensitiveSVCCV(transformer=StandardScaler(), decision="bayes", Cs=CS, gammas=GAMMAS, cv=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* samples are in all", UserWarning)  # with 20 resamples
        return evaluate(search, payments.X, payments.fraud, **payments.costs, cv=cv, compare=others(), currency="EUR")


def expected_savings(payments: Payments, found: Evaluation) -> dict[str, tuple[float, float]]:
    """By method: expected EUR saved per 1,000 payments, and as a share of what the true probabilities would save."""
    cost = {name: payments.expected_cost(acted) for name, acted in found.decisions.items()}
    nothing, possible = cost["act on nobody"], cost["act on nobody"] - cost[TRUE_PROBABILITIES]
    return {name: (1000 * (nothing - each), (nothing - each) / possible) for name, each in cost.items()}


def main(n: int = N) -> None:
    payments = make_payments(n)
    print(f"{n:,} payments, {payments.fraud.sum()} fraudulent, {payments.amount.sum():,.0f} EUR in total\n")
    found = compare(payments)
    print(found)
    print(f"\n{'expected savings':<24}{'EUR per 1,000 payments':>24}{'share of the possible':>24}")
    for name, (saved, share) in sorted(expected_savings(payments, found).items(), key=lambda each: -each[1][0]):
        label = SEARCHED if name == "model" else name
        print(f"{label:<24}{saved:>24,.0f}{share:>24.0%}")
    print("\n" + EXPLANATION)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else N)
