"""Rows in partitions of unequal size, what is true of them by other means, and what a scheduler still has."""

import time

import dask.array as da
import numpy as np

from cssvm._runtime import threads
from cssvm._solvers.linear import solve_active
from cssvm._solvers.linear.blocks import LocalBlocks, block_rows
from cssvm._solvers.linear.linear_solver import FINE_SHARE, SMALL
from cssvm.dask._blocks import BlockReader
from cssvm.dask._partitions import Problem, read_partitions

SIZES = (600, 1, 900, 50, 800, 0, 649)  # of partitions


N_ROWS = sum(SIZES)


def rows(n=N_ROWS, d=6, seed=0):
    """X, labels of a rare class and an amount for each row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.logspace(-1, 1, d) + np.linspace(0, 3, d)
    y = (X[:, 0] * 10 + X[:, 1] - 1 + rng.normal(size=n) > 2.0).astype(int)
    return X, y, rng.lognormal(2, 1, n)


def in_partitions(*arrays, sizes=SIZES):
    """Dask arrays with these partitions."""
    return [da.from_array(each, chunks=(sizes, *each.shape[1:])) for each in arrays]


def local_twin(model, X, y, **given):
    """The solution of the same blocks on this process."""
    names = ("fn_cost", "fp_cost", "kappa")
    given = {name: given.get(name, getattr(model, name)) for name in names} | {
        "sample_weight": given.get("sample_weight")
    }
    reader, partitions = read_partitions(X, None, y=y, **given)
    read = BlockReader(Problem(reader, model._positive_class, model.C_), model._preparation)
    with threads.single_threaded_blas():
        blocks = [read(*(each.compute(scheduler="sync") for each in part.everything)) for part in partitions]
        blocks = LocalBlocks([block for block in blocks if block.rows.n], block_rows(model.coef_.shape[1]))
        small = blocks.counts().sum() * blocks.n_features <= SMALL
        return solve_active(blocks, tol=model.tol, aim=FINE_SHARE * model.tol if small else model.tol)


def objectives(model, Z, signs, margins, upper_bounds):
    """The primal objective of a fitted model in NumPy, whose dual one must be below."""
    f = Z @ model.coef_[0] + model.intercept_[0]
    return 0.5 * model.coef_[0] @ model.coef_[0] + upper_bounds @ np.maximum(0.0, margins - signs * f)


def left_behind(client, seconds=10.0, but=()):
    """The keys of client and scheduler that are left after some time."""
    for _ in range(int(seconds / 0.05)):
        known = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
        found = sorted({*known, *map(str, client.futures)})
        if found == [*but]:
            break
        time.sleep(0.05)
    return found
