"""The paper's figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from cssvm._core.margins_and_bounds import paper_costs
from cssvm._svm import BoundaryMovementSVC, CostSensitiveSVC
from cssvm.datasets import MissingDatasetError, load, make_checkerboard, make_separable_2d
from cssvm.displays import CostRocDisplay
from cssvm.losses import CostSensitiveHinge

from .authors import FN_COST, FP_COST, GAMMA, LOG
from .paths import MarginPath, margin_path
from .summary import Ranking, Results

BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "0.6"
CHECKER_KAPPAS = (0.5, 0.25, 0.1, 0.01, 0.001)
CHECKER_C, CHECKER_C1, CHECKER_GAMMA = 10.0, 100.0, 4.0
EXPONENTS = (0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256)
COVERTYPE_ROWS = 6_000


def draw_figures(folder: Path, results: Results, data_home: str | None) -> dict[str, str]:
    """Draw all figures whose data is available; return their files, relative to the page, by caption."""
    from matplotlib import pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for name, (caption, draw) in FIGURES.items():
        try:
            figure = draw(data_home)
        except MissingDatasetError:
            continue
        figure.savefig(folder / f"{name}.png", dpi=100)
        plt.close(figure)
        drawn[caption] = f"{folder.name}/{name}.png"
    ranking = results.ranking("cost")
    if ranking is not None:
        figure = critical_differences(ranking)
        figure.savefig(folder / "ranks.png", dpi=100)
        plt.close(figure)
        drawn["Mean ranks of all methods by cost, with the critical difference"] = f"{folder.name}/ranks.png"
    return drawn


def critical_differences(ranking: Ranking) -> Any:
    """Mean ranks over sets, the best on top, with the critical difference from the best one."""
    from matplotlib import pyplot as plt

    ranks = ranking.ranks
    order = np.argsort(ranks.mean, kind="stable")
    means, places = ranks.mean[order], np.arange(len(order))
    figure, axis = plt.subplots(figsize=(8, 0.6 + 0.32 * len(order)), layout="constrained")
    axis.axvspan(
        means[0], means[0] + ranks.critical, color="0.9", label="not significantly worse than the best (Nemenyi, 5 %)"
    )
    apart = means > means[0] + ranks.critical
    axis.scatter(means, places, color=np.where(apart, ORANGE, BLUE), zorder=3)
    axis.set_yticks(places, [ranking.methods[k] for k in order])
    axis.invert_yaxis()
    axis.set(xlabel=f"mean rank by cost over {len(ranking.sets)} sets, 1 is best", xlim=(0.5, len(order) + 0.5))
    axis.legend(frameon=False, loc="upper right")
    axis.grid(axis="x", color="0.85")
    return figure


def losses(data_home: str | None) -> Any:
    """fig:CSSVMLoss: minimum risks as printed and true, losses, and separating lines."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    hinge, eta = CostSensitiveHinge(4, 2), np.linspace(0, 1, 601)
    axes[0].plot(eta, hinge.min_risk(eta), color=BLUE, label="minimum over f: peak at 3/7")
    printed = hinge.conditional_risk(eta, np.sign(6 * eta - 2))
    axes[0].plot(eta, printed, color=ORANGE, linestyle="--", label="as printed, of sign(6η - 2)")
    standard = CostSensitiveHinge(1, 1)
    axes[0].plot(eta, standard.min_risk(eta), color=GREY, label="standard hinge")
    axes[0].set(xlabel="η = P(y = 1 | x)", ylabel="minimum conditional risk")
    axes[0].legend(frameon=False)
    f = np.linspace(-2.0, 2.0, 401)
    for loss, colour, name in ((hinge, BLUE, "C₁ = 4, C₋₁ = 2"), (standard, GREY, "standard")):
        axes[1].plot(f, loss.value(1, f), color=colour, label=f"{name}, y = 1")
        axes[1].plot(f, loss.value(-1, f), color=colour, linestyle="--", label=f"{name}, y = -1")
    axes[1].set(xlabel="score f", ylabel="loss", ylim=(0, 8))
    axes[1].legend(frameon=False, fontsize=8)
    _draw_lines(axes[2])
    return figure


def _draw_lines(axis: Any) -> None:
    """Hard margins of the standard and of the cost-sensitive SVM on separable samples."""
    X, y = make_separable_2d(40, gap=2.0, random_state=0)
    axis.scatter(*X[y == 1].T, color=BLUE, marker="+", label="positive class")
    axis.scatter(*X[y == 0].T, color=ORANGE, marker="o", s=12, label="negative class")
    ends = np.array([X[:, 0].min(), X[:, 0].max()])
    for name, params, colour in (
        ("standard", {}, GREY),
        ("C₁ = 4, C₋₁ = 2", dict(paper_costs(4, 2)), GREEN),
    ):
        model = CostSensitiveSVC(1e4, kernel="linear", **params).fit(X, y)
        (first, second), bias = model.coef_[0], float(np.ravel(model.intercept_)[0])
        axis.plot(ends, -(first * ends + bias) / second, color=colour, label=name)
    axis.set(xlabel="x₁", ylabel="x₂")
    axis.legend(frameon=False, fontsize=8)


def checkerboard(data_home: str | None) -> Any:
    """fig:checker: a checkerboard of 1 : 1000, and the decisions of BM, BP and CS."""
    from matplotlib import pyplot as plt

    X, y = make_checkerboard(ratio=1000, random_state=0)
    ticks = np.linspace(0, 4, 161)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    truth = (np.floor(grid).sum(axis=1).astype(int) % 2 == 0) & (grid < 4).all(axis=1)
    common: dict[str, Any] = {"gamma": CHECKER_GAMMA, "C": CHECKER_C}
    models: dict[str, Any] = {
        "BM-SVM": BoundaryMovementSVC(fn_cost=1000.0, cv=5, **common),
        "BP-SVM, κ = 1": CostSensitiveSVC(fn_cost=CHECKER_C1, **common),
    }
    models |= {
        f"CS-SVM, κ = {kappa:g}": CostSensitiveSVC(fn_cost=CHECKER_C1, fp_cost=1 / kappa, kappa=kappa, **common)
        for kappa in CHECKER_KAPPAS
    }
    figure, axes = plt.subplots(2, 4, figsize=(13, 6.8), layout="constrained")
    for axis, (name, model) in zip(axes.flat[1:], models.items(), strict=True):
        predicted = model.fit(X, y).predict(grid) == 1
        tpr, fpr = predicted[truth].mean(), predicted[~truth].mean()
        axis.imshow(predicted.reshape(len(ticks), -1), origin="lower", extent=(0, 4, 0, 4), cmap="Blues", vmax=1.6)
        axis.set_title(f"{name}\nTPR {tpr:.0%}, FPR {fpr:.0%} by area", fontsize=9)
    axes[0, 0].scatter(*X[y == 0].T, s=0.3, color=ORANGE)
    axes[0, 0].set(title=f"{int(y.sum())} positive samples\namong {len(y):,}", aspect="equal")
    for axis in axes.flat:
        axis.scatter(*X[y == 1].T, s=24, color="black", marker="+")
        axis.set(xlim=(0, 4), ylim=(0, 4), xticks=range(5), yticks=range(5))
        axis.grid(color="0.7", linewidth=0.6)
    return figure


def regularisation(data_home: str | None) -> Any:
    """fig:reg: support vectors of both classes over kappa, slope and margin tied as in the paper, or each alone."""
    from matplotlib import pyplot as plt

    paths = margin_paths(data_home)
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    for (name, path), colour in zip(paths.items(), (BLUE, ORANGE, GREEN), strict=True):
        places = -np.log2(path.kappas)
        axes[0].plot(places, path.n_negative, "o-", color=colour, markersize=3, label=name)
        axes[1].plot(places, path.n_negative / path.n_positive, "o-", color=colour, markersize=3, label=name)
    axes[0].set(ylabel="negative support vectors")
    axes[1].set(ylabel="negative for each positive")
    for axis in axes:
        axis.set(xscale="symlog", xlabel="-log₂ κ", yscale="log")
        axis.legend(frameon=False)
    return figure


def margin_paths(data_home: str | None, n_rows: int = COVERTYPE_ROWS) -> dict[str, MarginPath]:
    """Paths on a subsample of covertype: slope and margin tied as in the paper, and each alone."""
    found = load("covertype", data_home=data_home, download=data_home is None)
    random = np.random.default_rng(0)
    positive = random.permutation(np.flatnonzero(found.target == 1))[: max(2, n_rows // 212)]
    negative = random.permutation(np.flatnonzero(found.target == 0))[: n_rows - len(positive)]
    rows = np.sort(np.concatenate([positive, negative]))
    X, y = StandardScaler().fit_transform(np.asarray(found.data[rows], dtype=np.float64)), found.target[rows]
    kappas = 2.0 ** -np.array(EXPONENTS, dtype=np.float64)
    base: dict[str, Any] = {"C": 1.0, "fn_cost": 211.0, "gamma": 1 / 54}
    tied = margin_path(CostSensitiveSVC(**base, kappa="tied"), X, y, kappas=kappas)
    margin = margin_path(CostSensitiveSVC(**base), X, y, kappas=kappas)
    slope = _slope_path(base, X, y, kappas)
    return {"slope 1/κ and margin κ, tied": tied, "slope 1/κ alone": slope, "margin κ alone": margin}


def _slope_path(base: dict[str, Any], X: Any, y: Any, kappas: Any) -> MarginPath:
    """Both margins 1, the slope of the negative class 1 / kappa."""
    counts = [CostSensitiveSVC(**base, fp_cost=1 / kappa).fit(X, y).n_support_ for kappa in kappas.tolist()]
    n_negative, n_positive = np.transpose(counts)
    return MarginPath(kappas, n_negative, n_positive)


def roc(data_home: str | None) -> Any:
    """fig:roc: German credit on the authors' split, at the parameters of their log."""
    from matplotlib import pyplot as plt

    found = load("german_credit_authors", data_home=data_home, download=data_home is None)
    train = found.split == "train"
    X, y = found.data, found.target
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
    for axis, (method, logged) in zip(axes, LOG.items(), strict=True):
        model = CostSensitiveSVC(gamma=GAMMA, tol=1e-6, **logged.params).fit(X[train], y[train])
        scores = model.decision_function(X[~train])
        display = CostRocDisplay.from_predictions(
            y[~train],
            scores,
            fn_cost=FN_COST,
            fp_cost=FP_COST,
            threshold=-logged.shift,
            normalize=True,
            name=f"{method}-SVM",
        )
        plt.close(display.figure_)
        display.plot(ax=axis)
        axis.set_title(f"{method}-SVM")
    return figure


FIGURES: dict[str, tuple[str, Callable[[str | None], Any]]] = {
    "losses": ("fig:CSSVMLoss. Losses, minimum risks printed and true, separating lines", losses),
    "checkerboard": ("fig:checker. A checkerboard of 1 : 1000", checkerboard),
    "regularisation": ("fig:reg. Support vectors by kappa on a sample of covertype", regularisation),
    "roc": ("fig:roc. German credit, the authors' split and parameters", roc),
}
