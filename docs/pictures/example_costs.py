"""Draw the picture of docs/costs.md: `python docs/pictures/example_costs.py`. Needs the extra `plot`.

The probabilities and amounts are known, so that the expected cost of each rule is a mean over samples, without a model:

    P(y = 1 | u) = 1 / (1 + exp(2 - u)),    log amount = spread (r u + sqrt(1 - r^2) v) - spread^2 / 2,   u, v ~ N(0, 1)

The mean amount is 1 for every spread, and a false positive costs FP_COST. The feature is x = u; v is the part of the
amount that does not depend on u. Each rule predicts positive where p times its amount is at least (1 - p) FP_COST.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "0.6"
FP_COST = 0.2
N = 400_000
SPREADS = np.linspace(0.0, 2.0, 21)
CORRELATIONS = np.linspace(-0.95, 0.95, 39)


def costs_of_rules(spread, correlation, n=N, seed=0):
    """Cost of the rules per sample, relative to the cheaper baseline.

    average : the mean amount of the positive class; by x : the mean amount given u; known : the amount of the sample
    """
    u, v = np.random.default_rng(seed).normal(size=(2, n))
    p = 1.0 / (1.0 + np.exp(2.0 - u))
    amount = np.exp(spread * (correlation * u + np.sqrt(1 - correlation**2) * v) - spread**2 / 2)
    by_x = np.exp(spread * correlation * u - (spread * correlation) ** 2 / 2)  # E[amount | u]

    def cost(expected):
        act = p * expected >= (1 - p) * FP_COST
        return np.mean(np.where(act, (1 - p) * FP_COST, p * amount))

    least = min(np.mean(p * amount), np.mean((1 - p) * FP_COST))
    rules = {"average": np.average(amount, weights=p), "by x": by_x, "known": amount}
    return {name: cost(expected) / least for name, expected in rules.items()}


LINES = {
    "average": ("mean amount of the class", ORANGE, "-"),
    "by x": ("mean amount given x", GREEN, "--"),
    "known": ("amount of each sample", BLUE, "-"),
}


def draw(axis, places, found):
    for name, (label, colour, style) in LINES.items():
        axis.plot(places, [each[name] for each in found], style, color=colour, label=label)
    axis.axhline(1.0, color=GREY, linewidth=0.8)
    axis.grid(alpha=0.2)
    axis.set_ylim(0.0, 1.18)


def main() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), sharey=True)
    for axis, correlation in zip(axes, (0.0, 0.8), strict=False):
        draw(axis, SPREADS, [costs_of_rules(spread, correlation) for spread in SPREADS])
        axis.set(
            xlabel="spread of the amounts (sd of the logarithm)",
            title=f"correlation of log amount and u: {correlation:g}",
        )
    draw(axes[2], CORRELATIONS, [costs_of_rules(1.0, r) for r in CORRELATIONS])
    axes[2].set(xlabel="correlation of log amount and u", title="spread 1")
    axes[0].set_ylabel("cost relative to the cheaper baseline")
    axes[0].legend(frameon=False, loc="lower left", title="decisions by")
    figure.tight_layout()
    figure.savefig(FOLDER / "example_costs.png", dpi=110)


if __name__ == "__main__":
    main()
