"""Draw docs/pictures/theory.png: which decision rule the hinge pair implements. Needs the extra `plot`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cssvm.losses import CostSensitiveHinge

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "0.6"
C1, C_MINUS1 = 4.0, 2.0
PRINTED = C_MINUS1 / (C1 + C_MINUS1)


def draw() -> None:
    loss = CostSensitiveHinge(C1, C_MINUS1)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9))
    draw_conditional_risks(loss, axes[0])
    draw_minimisers(loss, axes[1])
    draw_minimum_risks(loss, axes[2])
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


def draw_conditional_risks(loss, axis) -> None:
    f = np.linspace(-1.5, 1.5, 601)
    for eta, colour in ((0.30, ORANGE), (0.38, GREEN), (0.46, BLUE)):
        risk = loss.conditional_risk(eta, f)
        axis.plot(f, risk, color=colour, label=f"η = {eta:.2f}")
        axis.plot(f[risk.argmin()], risk.min(), "o", color=colour)
    axis.axvline(0.0, color=GREY, linewidth=0.8)
    axis.set(xlabel="score f", ylabel="conditional risk", ylim=(1.0, 4.5), title="risk of a score, its minimum marked")
    axis.legend(frameon=False)


def draw_minimisers(loss, axis) -> None:
    f, eta = np.linspace(-1.5, 1.5, 3001), np.linspace(0.21, 0.60, 40)
    best = f[loss.conditional_risk(eta[:, np.newaxis], f).argmin(axis=1)]
    axis.plot(eta, best, "o", color=BLUE, markersize=3.5, label="best score, by search")
    axis.step([0.2, PRINTED, 0.61], [-1, 1, 1], where="post", color=ORANGE, label="sign(6 η - 2)")
    for place, text, colour in ((PRINTED, "1/3", ORANGE), (loss.threshold, "3/7", BLUE)):
        axis.axvline(place, ymax=0.78, color=colour, linestyle=":", linewidth=1)
        axis.text(place + 0.005, -0.75, text, color=colour)
    axis.set(xlabel="probability η of y = +1", ylabel="score f", ylim=(-1.2, 1.75), title="best score")
    axis.legend(frameon=False, loc="upper left")


def draw_minimum_risks(loss, axis) -> None:
    eta = np.linspace(0.0, 1.0, 1001)
    axis.plot(eta, loss.conditional_risk(eta, np.sign(6 * eta - 2)), color=ORANGE, label="of the score sign(6 η - 2)")
    axis.plot(eta, loss.min_risk(eta), color=BLUE, label="minimum over all scores")
    axis.set(xlabel="probability η of y = +1", ylabel="conditional risk", ylim=(0, 3.8), title="risk that remains")
    axis.legend(frameon=False, loc="upper right")


if __name__ == "__main__":
    draw()
