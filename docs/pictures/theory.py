"""Draw the pictures of docs/theory.md. Needs the extra `plot`.

theory.png: the decision rule of the cost-sensitive hinge loss; four_formulations.png: one problem in four formulations.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cssvm.losses import CostSensitiveHinge

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "0.6"
C1, C_MINUS1 = 4.0, 2.0
PRINTED = C_MINUS1 / (C1 + C_MINUS1)


def draw_rule() -> None:
    loss = CostSensitiveHinge(C1, C_MINUS1)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9))
    draw_conditional_risks(loss, axes[0])
    draw_minimisers(loss, axes[1])
    draw_minimum_risks(loss, axes[2])
    figure.tight_layout()
    figure.savefig(FOLDER / "theory.png", dpi=110)


def draw_conditional_risks(loss, axis) -> None:
    f = np.linspace(-1.5, 1.5, 601)
    for eta, colour in ((0.30, ORANGE), (0.38, GREEN), (0.46, BLUE)):
        risk = loss.conditional_risk(eta, f)
        axis.plot(f, risk, color=colour, label=f"η = {eta:.2f}")
        axis.plot(f[risk.argmin()], risk.min(), "o", color=colour)
    axis.axvline(0.0, color=GREY, linewidth=0.8)
    axis.set(xlabel="score f", ylabel="conditional risk", ylim=(1.0, 4.5), title="conditional risk and its minimum")
    axis.legend(frameon=False)


def draw_minimisers(loss, axis) -> None:
    f, eta = np.linspace(-1.5, 1.5, 3001), np.linspace(0.21, 0.60, 40)
    best = f[loss.conditional_risk(eta[:, np.newaxis], f).argmin(axis=1)]
    axis.plot(eta, best, "o", color=BLUE, markersize=3.5, label="minimiser")
    axis.step([0.2, PRINTED, 0.61], [-1, 1, 1], where="post", color=ORANGE, label="sign(6 η - 2)")
    for place, text, colour in ((PRINTED, "1/3", ORANGE), (loss.threshold, "3/7", BLUE)):
        axis.axvline(place, ymax=0.78, color=colour, linestyle=":", linewidth=1)
        axis.text(place + 0.005, -0.75, text, color=colour)
    axis.set(xlabel="probability η of y = +1", ylabel="score f", ylim=(-1.2, 1.75), title="minimiser of the risk")
    axis.legend(frameon=False, loc="upper left")


def draw_minimum_risks(loss, axis) -> None:
    eta = np.linspace(0.0, 1.0, 1001)
    axis.plot(eta, loss.conditional_risk(eta, np.sign(6 * eta - 2)), color=ORANGE, label="risk of sign(6 η - 2)")
    axis.plot(eta, loss.min_risk(eta), color=BLUE, label="minimum risk")
    axis.set(xlabel="probability η of y = +1", ylabel="conditional risk", ylim=(0, 3.8), title="risk")
    axis.legend(frameon=False, loc="upper right")


# Centre and lines of each formulation: name, problem, constraints.
FORMULATIONS = [
    ((0.0, 1.0), "maximum margin, in w", r"$\min_{w,b}\ \frac{1}{2}|w|^2 + \sum_i c_i\,[m_i - y_i(\Psi_i^T w + b)]_+$"),
    (
        (1.0, 1.0),
        r"regularised risk, in $\beta$",
        r"$\min_{\beta,b}\ \frac{1}{2}\beta^T K \beta + \sum_i c_i\,[m_i - y_i(K_i^T \beta + b)]_+$",
    ),
    (
        (0.0, 0.0),
        r"Lagrange dual, in $\alpha$",
        r"$\max_{\alpha}\ m^T\alpha - \frac{1}{2}\alpha^T Y K Y \alpha$",
        r"$0 \leq \alpha_i \leq c_i,\quad y^T\alpha = 0$",
    ),
    (
        (1.0, 0.0),
        "Fenchel dual, in z",
        r"$\max_{z}\ \sum_i y_i m_i g_i - \frac{1}{2} z^T K^{-1} z,\quad g = K^{-1}z$",
        r"$0 \leq y_i g_i \leq c_i,\quad 1^T g = 0$",
    ),
]
# Ends of an arrow and the labels on both sides.
MAPS = [
    ((0.36, 1.0), (0.62, 1.0), r"$w = \Psi\beta$", r"$K = \Psi^T\Psi$"),
    ((0.36, 0.0), (0.62, 0.0), r"$\alpha = Y K^{-1} z$", r"$z = K Y \alpha = f - b$"),
    ((0.0, 0.78), (0.0, 0.26), "dual", r"$w = \sum_i y_i\alpha_i\Psi_i$"),
    ((1.0, 0.78), (1.0, 0.26), "dual", r"$g = \beta$"),
]


def draw_formulations() -> None:
    figure, axis = plt.subplots(figsize=(9.6, 4.2))
    for place, *lines in FORMULATIONS:
        box = {"boxstyle": "round,pad=0.6", "facecolor": "white", "edgecolor": BLUE if place[1] else ORANGE}
        axis.text(*place, "\n".join(lines), ha="center", va="center", fontsize=11, linespacing=1.8, bbox=box)
    for start, end, first, second in MAPS:
        axis.annotate("", start, end, arrowprops={"arrowstyle": "<->", "color": GREEN, "linewidth": 1.5})
        x, y = np.mean([start, end], axis=0)
        if start[1] == end[1]:
            axis.text(x, y + 0.04, first, ha="center", va="bottom")
            axis.text(x, y - 0.04, second, ha="center", va="top")
        else:
            axis.text(x - 0.02, y, first, ha="right", va="center")
            axis.text(x + 0.02, y, second, ha="left", va="center")
    axis.set(xlim=(-0.32, 1.32), ylim=(-0.22, 1.18))
    axis.axis("off")
    figure.tight_layout()
    figure.savefig(FOLDER / "four_formulations.png", dpi=110)


if __name__ == "__main__":
    draw_rule()
    draw_formulations()
