"""Class costs on breast cancer data
=================================

The cost-sensitive SVMs of the paper compared: run with ``python examples/breast_cancer.py``.

There are 569 tumours, 212 of them malignant. A missed cancer costs several times as much as a false alarm. Every method
is measured by its risk, the cost per patient ``(fn_cost * false negatives + fp_cost * false positives) / patients``, on
patients held out by stratified 10-fold cross-validation, repeated with new folds.
"""

import time
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from cssvm import BiasedPenaltySVC, BoundaryMovementSVC, CostSensitiveSVC

MALIGNANT = 0  # scikit-learn codes malignant as 0 and benign as 1, so `pos_label` is given
FN_COSTS = (5.0, 10.0)
FP_COST = 1.0
C = 1.0
N_FOLDS, N_REPEATS = 10, 3
THRESHOLD_FOLDS = 5  # BM chooses its threshold on cross-validated scores of the training samples
# In the paper the margin of the negative class is kappa = 1 / fp_cost. fp_cost = 2 gives kappa = 1/2.
TIED_FP_COST = 2.0

EXPLANATION = f"""\
risk     cost per held-out patient; smaller is better
missed   malignant tumours predicted benign, of 212: mean over {N_REPEATS} repetitions
alarms   benign tumours predicted malignant, of 357: mean over {N_REPEATS} repetitions
vectors  mean number of support vectors per fit
gap      relative duality gap: no fit is further from its optimum than this
time     total time of the fits

SVC ignores costs. BM trains the same SVM, then moves the threshold. BP
multiplies the penalties by the costs. CS has the penalties of BP and a
smaller margin for benign tumours (kappa = {1 / TIED_FP_COST:g}). One missed tumour changes the
risk by {FN_COSTS[0] / 569:.3f} or {FN_COSTS[1] / 569:.3f}; smaller differences are ties."""


@dataclass
class Tally:
    """Counts of one method over all folds."""

    false_negatives: int = 0
    false_positives: int = 0
    patients: int = 0
    seconds: float = 0.0
    support: list[int] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)

    def risk(self, fn_cost: float) -> float:
        """R = (fn_cost * false negatives + FP_COST * false positives) / patients."""
        return (fn_cost * self.false_negatives + FP_COST * self.false_positives) / self.patients


def methods(fn_cost: float) -> dict[str, BaseEstimator]:
    costs = {"fn_cost": fn_cost, "fp_cost": FP_COST, "pos_label": MALIGNANT}
    # Both costs are doubled and C is halved: the penalties are those of BP, only the margin differs.
    tied = {"fn_cost": TIED_FP_COST * fn_cost, "fp_cost": TIED_FP_COST * FP_COST, "pos_label": MALIGNANT}
    return {
        "SVC": SVC(C=C),
        "BM  boundary movement": BoundaryMovementSVC(C=C, cv=THRESHOLD_FOLDS, **costs),
        "BP  biased penalties": BiasedPenaltySVC(C=C, **costs),
        "CS  cost-sensitive": CostSensitiveSVC(C=C / TIED_FP_COST, kappa="tied", **tied),
    }


def cross_validate(model: BaseEstimator, X: np.ndarray, y: np.ndarray) -> Tally:
    tally = Tally()
    folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=N_REPEATS, random_state=0)
    for train, test in folds.split(X, y):
        pipeline = make_pipeline(StandardScaler(), clone(model))
        start = time.perf_counter()
        pipeline.fit(X[train], y[train])
        tally.seconds += time.perf_counter() - start

        predicted = pipeline.predict(X[test]) == MALIGNANT
        malignant = y[test] == MALIGNANT
        tally.false_negatives += int(np.sum(malignant & ~predicted))
        tally.false_positives += int(np.sum(~malignant & predicted))
        tally.patients += len(test)
        tally.support.append(int(np.sum(pipeline[-1].n_support_)))
        tally.gaps.append(getattr(pipeline[-1], "dual_gap_", np.nan))
    return tally


def print_table(fn_cost: float, tallies: dict[str, Tally]) -> None:
    header = f"{'method':<22}{'risk':>8}{'missed':>9}{'alarms':>9}{'vectors':>10}{'gap':>11}{'time':>9}"
    print(f"\nA missed cancer costs {fn_cost:g}, a false alarm {FP_COST:g}\n")
    print(header)
    print("-" * len(header))
    for name, tally in tallies.items():
        gap = "-" if np.isnan(tally.gaps).all() else f"{np.max(tally.gaps):.1e}"
        print(
            f"{name:<22}{tally.risk(fn_cost):>8.4f}{tally.false_negatives / N_REPEATS:>9.1f}"
            f"{tally.false_positives / N_REPEATS:>9.1f}{np.mean(tally.support):>10.0f}{gap:>11}{tally.seconds:>7.2f} s"
        )


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    print(f"Breast cancer, {len(y)} patients, {N_FOLDS}-fold cross-validation, {N_REPEATS} times")
    print("Compiling (the first run after installation takes longest) ...", flush=True)
    for model in methods(FN_COSTS[0]).values():
        make_pipeline(StandardScaler(), model).fit(X, y)
    for fn_cost in FN_COSTS:
        print_table(fn_cost, {name: cross_validate(m, X, y) for name, m in methods(fn_cost).items()})
    print("\n" + EXPLANATION)


if __name__ == "__main__":
    main()
