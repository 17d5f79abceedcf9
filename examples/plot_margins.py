"""
Effect of costs and margins
===========================

Where the classes overlap, the costs move the boundary away from the positive class (blue). Where they are separable,
the costs alone leave it half-way, and ``kappa``, the margin of the negative class, moves it.
"""

import matplotlib.pyplot as plt
import numpy as np

from cssvm import CostSensitiveSVC

rng = np.random.default_rng(0)
models = {
    "no costs": CostSensitiveSVC(100.0, kernel="linear"),
    "fn_cost = 10": CostSensitiveSVC(100.0, kernel="linear", fn_cost=10.0),
    "fn_cost = 10, kappa = 1/4": CostSensitiveSVC(100.0, kernel="linear", fn_cost=10.0, kappa=0.25),
}
figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained", sharex=True, sharey=True)
grid = np.meshgrid(np.linspace(-5, 5, 200), np.linspace(-4, 4, 200))
for row, (title, distance) in enumerate({"separable classes": 2.5, "overlapping classes": 1.0}.items()):
    y = np.repeat([0, 1], [60, 20])
    X = rng.normal(scale=0.8, size=(80, 2)) + np.where(y == 1, distance, -distance)[:, None] * [1.0, 0.0]
    for ax, (name, model) in zip(axes[row], models.items(), strict=True):
        f = model.fit(X, y).decision_function(np.c_[grid[0].ravel(), grid[1].ravel()]).reshape(grid[0].shape)
        ax.contourf(*grid, f > 0, levels=[-0.5, 0.5, 1.5], colors=["#f3efe6", "#cfe3f1"])
        ax.contour(*grid, f, levels=[-model.kappa, 0.0, 1.0], colors="black", linestyles=["dashed", "solid", "dashed"])
        ax.scatter(*X.T, c=np.where(y == 1, "#0072b2", "#e69f00"), s=14)
        ax.set_title(name if row == 0 else "")
    axes[row, 0].set_ylabel(title)
