"""Design a loss from scratch
==========================

Run with ``python examples/design_a_loss.py [--picture loss.png]``.

A false negative costs 4, a false positive 1. Some samples labelled negative are in fact positive. The exponential loss
of such a sample grows without bound. We design a loss that is bounded for y = -1.

The exponential loss has the minimum risk ``G(eta) = (eta / t)^t ((1 - eta) / (1 - t))^(1 - t)``, largest at the
threshold ``t = C_{-1} / (C_1 + C_{-1})``. We take a power of it::

    C*(eta) = h G(eta)^s,    h = C_1 C_{-1} / (C_1 + C_{-1}), the largest minimum risk of the zero-one loss

The loss of y = -1 is the value at eta = 0 of the tangent to C*. It is bounded if C* has a finite slope at eta = 1, that
is, if s (1 - t) = 1. With a larger power C* is not concave. The link is the log odds.
"""

import argparse
import textwrap

import numpy as np
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

from cssvm import DesignedLossClassifier
from cssvm.losses import DesignedLoss, ExponentialLoss, HingeLoss, LogisticLoss, Loss, bayes_gap, design_loss, risk_type

C1, C_MINUS1 = 4, 1

# Distributions of the probability of the positive class: uniform, mostly near 0 or 1, mostly in between.
PROBLEMS = {"uniform": stats.uniform(), "clear": stats.beta(0.5, 1.5), "vague": stats.beta(4, 8)}

# Share of the positive training samples that are labelled negative.
MISLABELLED = 0.2
N_DATA_SETS = 6
C = 0.1

CONCLUSION = """
With a bounded loss the mislabelled samples do less harm than with the
exponential loss. The logistic and the hinge loss, which grow linearly with
the score, are better still on most of these data sets."""


def power_design(s: float) -> DesignedLoss:
    """The loss with the minimum risk h G^s and the log odds as link."""
    t, h = C_MINUS1 / (C1 + C_MINUS1), C1 * C_MINUS1 / (C1 + C_MINUS1)
    exact = LogisticLoss(C1, C_MINUS1)
    return design_loss(
        lambda eta: h * (eta / t) ** (s * t) * ((1 - eta) / (1 - t)) ** (s * (1 - t)),
        exact.link,
        exact.inverse_link,
        C1=C1,
        C_minus1=C_MINUS1,
    )


def design() -> DesignedLoss:
    """Print why s = 2 has no loss, and return the loss of the largest s that has one."""
    try:
        power_design(2)
    except ValueError as error:
        print(textwrap.fill(f"s = 2: {error}", 80), end="\n\n")
    loss = power_design((C1 + C_MINUS1) / C1)
    print(f"s = {(C1 + C_MINUS1) / C1:g}: {loss}\n")
    print(loss.report)
    return loss


def compare_risks(losses: dict[str, Loss]) -> None:
    print("\nExpected distance from the Bayes risk, by how eta is distributed")
    print(f"{'loss':12}{'type':>6}" + "".join(f"{name:>10}" for name in PROBLEMS))
    for name, loss in losses.items():
        gaps = "".join(f"{bayes_gap(loss, eta):10.3f}" for eta in PROBLEMS.values())
        print(f"{name:12}{risk_type(loss) or '-':>6}{gaps}")


def compare_models(losses: dict[str, Loss]) -> None:
    costs = np.array([[held_out_cost(loss, seed) for loss in losses.values()] for seed in range(N_DATA_SETS)])
    print(f"\nLinear classifiers trained on 1,000 samples, cost per test sample, {N_DATA_SETS} data sets")
    print(f"{'loss':12}{'mean':>6}   each")
    for name, column in zip(losses, costs.T, strict=True):
        print(f"{name:12}{column.mean():6.3f}   " + "".join(f"{value:8.3f}" for value in column))
    print(CONCLUSION)


def held_out_cost(loss: Loss, seed: int) -> float:
    X, y = make_classification(4000, 10, n_informative=4, weights=[0.7], flip_y=0, class_sep=1.2, random_state=seed)
    X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=1000, stratify=y, random_state=seed)
    mislabelled = (y_train == 1) & (np.random.default_rng(seed).random(len(y_train)) < MISLABELLED)
    model = DesignedLossClassifier(loss, C=C).fit(X_train, np.where(mislabelled, 0, y_train))
    predicted = model.predict(X_test)
    return np.mean(C1 * ((y_test == 1) & (predicted == 0)) + C_MINUS1 * ((y_test == 0) & (predicted == 1)))


def draw(losses: dict[str, Loss], file: str) -> None:
    from cssvm.displays import LossDisplay

    LossDisplay.from_losses(list(losses.values())[:2], names=list(losses)[:2]).figure_.savefig(file, dpi=110)
    print(f"\nThe designed and the exponential loss are drawn in {file}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Design a cost-sensitive loss that is bounded for one class.")
    parser.add_argument("--picture", metavar="FILE", help="draw the loss into FILE; needs the extra `plot`")
    arguments = parser.parse_args()
    losses = {
        "ours": design(),
        "exponential": ExponentialLoss(C1, C_MINUS1),
        "logistic": LogisticLoss(C1, C_MINUS1),
        "hinge": HingeLoss(pos_slope=C1, neg_slope=C_MINUS1),
    }
    compare_risks(losses)
    compare_models(losses)
    if arguments.picture:
        draw(losses, arguments.picture)


# sphinx_gallery_thumbnail_path = "pictures/smooth_losses.png"
if __name__ == "__main__":
    main()
