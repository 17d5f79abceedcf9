"""Draw docs/pictures/solver.png: the progress of the solver on one large fit. Needs the extra `plot`."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from cssvm._kernels import make_kernel
from cssvm._solvers.dual import DualProblem, solve

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"


def fit(n: int, C: float):
    X, y = make_classification(n, 20, n_informative=10, flip_y=0.05, random_state=0)
    X, y = StandardScaler().fit_transform(X), 2.0 * y - 1.0
    upper_bounds = C * np.where(y > 0, 4.0, 1.0)
    problem = DualProblem(y, np.minimum(0.0, y * upper_bounds), np.maximum(0.0, y * upper_bounds))
    return solve(make_kernel("rbf", gamma=1 / 20).gram(X, upper_bounds=upper_bounds, tol=1e-3), problem, tol=1e-3)


def draw(n: int = 20_000) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    for axis, C in zip(axes, (1.0, 100.0), strict=True):
        fit(n, C)  # warm up
        solution = fit(n, C)
        trace = solution.trace
        time = np.array([0.0] + [r.seconds for r in trace])
        axis.step(time, [r.violation for r in trace] + [solution.violation], where="post", color=BLUE)
        axis.axhline(1e-3, color=BLUE, linewidth=0.8, linestyle=":")
        axis.set(yscale="log", xlabel="seconds", title=f"n = {n:,}, d = 20, C = {C:g}: {len(trace)} working sets")
        axis.set_ylabel("KKT violation (dotted: tolerance)", color=BLUE)
        count = axis.twinx()
        last = trace[-1]
        count.step(time, [r.n_active for r in trace] + [last.n_active], where="post", color=ORANGE, label="active")
        count.step(time, [r.size for r in trace] + [last.size], where="post", color=GREEN, label="in the working set")
        count.plot(time[1:], [r.n_moved for r in trace], "o", color=GREEN, markersize=4, label="changed")
        count.set(ylim=(0, 1.05 * n))
        count.set_ylabel("variables")
    handles, labels = count.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    draw()
