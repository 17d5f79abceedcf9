"""Equivalent problems have the same results: the searches and `evaluate` under transformations.

Each transformation returns an equivalent problem and the original index of each sample; the results of both problems
must agree.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from cssvm import CostSensitiveLinearSVC, CostSensitiveLinearSVCCV, CostSensitiveSVCCV, evaluate

N = 48
pytestmark = [
    pytest.mark.filterwarnings("ignore:The rarer class has"),
    pytest.mark.filterwarnings("ignore:The best point lies at the edge of the grid"),
]

# The scores of two solutions of one problem, each optimal up to this violation, differ by little more.
TOL, AGREEMENT = 1e-7, 1e-4


@dataclass
class Problem:
    """Samples, costs and folds; `rows` are the samples of the first problem that these are."""

    X: Any
    y: Any
    fn_cost: Any
    fp_cost: Any
    weight: Any
    fold: np.ndarray
    pos_label: Any = 1
    rows: np.ndarray = field(default_factory=lambda: np.arange(N))
    unit: float = 1.0
    turned: bool = False  # whether the negative class is now called positive

    @property
    def cv(self):
        return [(np.flatnonzero(self.fold != k), np.flatnonzero(self.fold == k)) for k in range(3)]

    @property
    def costs(self):
        return {"fn_cost": self.fn_cost, "fp_cost": self.fp_cost, "sample_weight": self.weight}

    @property
    def side(self):
        """+1 if a positive decision value means the original positive class."""
        positive_is_last = max(set(np.asarray(self.y).tolist())) == self.pos_label
        return 1 if positive_is_last != self.turned else -1


def take(problem, rows):
    """The samples `rows` of a problem, in this order and as often."""
    chosen = {name: getattr(problem, name)[rows] for name in ("X", "y", "fn_cost", "fp_cost", "weight", "fold", "rows")}
    return replace(problem, **chosen)


def first_problem():
    """Two overlapping classes; integer costs and weights, whose sums do not round; features that float32 holds."""
    rng = np.random.default_rng(3)
    y = np.tile([0, 0, 1, 0, 1, 0], N // 6)
    X = np.round((rng.normal(size=(N, 3)) + 1.1 * y[:, None]) * 16) / 16
    return Problem(
        X=X,
        y=y,
        fn_cost=rng.integers(2, 9, N).astype(float),
        fp_cost=rng.integers(1, 4, N).astype(float),
        weight=np.ones(N),
        fold=np.arange(N) // 6 % 3,
    )


def permuted(problem):
    return take(problem, np.random.default_rng(0).permutation(N))


def relabelled(zero, one):
    return lambda problem: replace(problem, y=np.where(problem.y == 1, one, zero), pos_label=one)


def exchanged(problem):
    return replace(problem, fn_cost=problem.fp_cost, fp_cost=problem.fn_cost, pos_label=0, turned=True)


def in_units(factor):
    return lambda problem: replace(
        problem, fn_cost=factor * problem.fn_cost, fp_cost=factor * problem.fp_cost, unit=factor
    )


def with_X(change):
    return lambda problem: replace(problem, X=change(problem.X))


def as_series(kind):
    def change(problem):
        return replace(
            problem, **{name: kind(getattr(problem, name)) for name in ("y", "fn_cost", "fp_cost", "weight")}
        )

    return change


def frame(X):
    return pd.DataFrame(X, columns=["a", "b", "c"])


def shuffled_series(problem):
    """Series in another order than X, with the labels of its samples."""
    names = [f"s{i}" for i in range(N)]
    order = np.random.default_rng(5).permutation(N)
    costs = {
        name: pd.Series(getattr(problem, name), index=names).iloc[order] for name in ("fn_cost", "fp_cost", "weight")
    }
    X, y = frame(problem.X).set_axis(names), pd.Series(problem.y, index=names)
    return replace(problem, X=X, y=y, **costs)


TRANSFORMATIONS = {
    "permuted": permuted,
    "labels -1 and 1": relabelled(-1, 1),
    "labels are strings": relabelled("good", "risky"),
    "the positive label is the smaller one": relabelled("good", "bad"),
    "labels are booleans": lambda problem: replace(problem, y=problem.y == 1, pos_label=True),
    "classes and costs exchanged": exchanged,
    "costs in tenths": in_units(0.1),
    "costs in thirds": in_units(1 / 3),
    "costs times 100": in_units(100.0),
    "columns in another order": with_X(lambda X: X[:, [2, 0, 1]]),
    "a constant column": with_X(lambda X: np.column_stack([X, np.full(N, 3.0)])),
    "a shift of the features": with_X(lambda X: X + np.array([5.0, -3.0, 0.5])),
    "Fortran order": with_X(np.asfortranarray),
    "float32": with_X(lambda X: X.astype(np.float32)),
    "lists": lambda problem: replace(as_series(np.ndarray.tolist)(problem), X=problem.X.tolist()),
    "CSR": with_X(sparse.csr_matrix),
    "CSC array": with_X(sparse.csc_array),
    "pandas": lambda problem: as_series(pd.Series)(with_X(frame)(problem)),
    "pandas, nullable": with_X(lambda X: frame(X).astype("Float64")),
    "pandas, Arrow": with_X(lambda X: frame(X).convert_dtypes(dtype_backend="pyarrow")),
    "pandas, categorical labels": lambda problem: replace(problem, y=pd.Series(problem.y, dtype="category")),
    "pandas, shuffled costs": shuffled_series,
    "polars": lambda problem: as_series(pl.Series)(with_X(lambda X: pl.DataFrame(X, schema=["a", "b", "c"]))(problem)),
    "Arrow": with_X(lambda X: pa.table({name: X[:, j] for j, name in enumerate("abc")})),
}


class Answer(NamedTuple):
    values: np.ndarray  # costs of points or policies, in units of the first problem
    chosen: np.ndarray  # what was chosen, in quantities that do not depend on the unit
    scores: np.ndarray  # of held-out samples, for the class that was positive at first
    acted: np.ndarray  # decisions for that class


def searched(search):
    def subject(problem):
        model = search(problem).fit(problem.X, problem.y, **problem.costs)
        best = model.best_params_
        # A model for probabilities is trained with balanced classes, whatever the costs.
        unit = 1.0 if model.decision == "bayes" else problem.unit
        by_costs = {name: problem.costs[name] for name in ("fn_cost", "fp_cost")} if model.decides_by_costs else {}
        decided = np.asarray(model.predict(problem.X, **by_costs)) == problem.pos_label
        return Answer(
            np.sort(model.cv_results_["mean_test_score"]) / problem.unit,
            np.array([best["C"] * unit, best.get("gamma", 0.0)]),
            problem.side * model.held_out_scores_,
            decided != problem.turned,
        )

    return subject


def evaluated(problem):
    model = CostSensitiveLinearSVC(tol=TOL, pos_label=problem.pos_label)
    found = evaluate(model, problem.X, problem.y, **problem.costs, cv=problem.cv, n_resamples=10, blind=False)
    costs = [found[name].cost.value / problem.unit for name in ("model", "act on nobody", "act on everybody")]
    held_out = np.concatenate([test for _, test in problem.cv])
    scores = np.full(len(held_out), np.nan)
    scores[held_out[np.asarray(problem.weight)[held_out] > 0]] = found.held_out.scored.scores
    return Answer(
        np.array([costs[0], *sorted(costs[1:])]),
        np.zeros(1),
        -scores if problem.turned else scores,
        found.decisions["model"] != problem.turned,
    )


SUBJECTS = {
    "kernel search": searched(
        lambda problem: CostSensitiveSVCCV(Cs=3, gammas=2, cv=problem.cv, pos_label=problem.pos_label, tol=TOL)
    ),
    "kernel search, threshold": searched(
        lambda problem: CostSensitiveSVCCV(
            Cs=3, gammas=2, cv=problem.cv, pos_label=problem.pos_label, tol=TOL, decision="threshold"
        )
    ),
    "kernel search, probabilities": searched(
        lambda problem: CostSensitiveSVCCV(
            Cs=3, gammas=2, cv=problem.cv, pos_label=problem.pos_label, tol=TOL, decision="bayes"
        )
    ),
    "linear search": searched(
        lambda problem: CostSensitiveLinearSVCCV(Cs=3, cv=problem.cv, pos_label=problem.pos_label, tol=TOL)
    ),
    "evaluate": evaluated,
}


@pytest.fixture(scope="module")
def answers():
    """Of the first problem, by subject."""
    problem = first_problem()
    return {name: subject(problem) for name, subject in SUBJECTS.items()}


def assert_same(answer, expected, rows):
    np.testing.assert_allclose(answer.values, expected.values, rtol=1e-9)
    np.testing.assert_allclose(answer.chosen, expected.chosen, rtol=1e-6)
    np.testing.assert_allclose(answer.scores, expected.scores[rows], rtol=AGREEMENT, atol=AGREEMENT)
    np.testing.assert_array_equal(answer.acted, expected.acted[rows])


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("transformation", TRANSFORMATIONS)
def test_a_problem_stated_differently_has_the_same_answer(transformation, subject, answers):
    problem = TRANSFORMATIONS[transformation](first_problem())
    assert_same(SUBJECTS[subject](problem), answers[subject], problem.rows)


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("times", [(1, 2, 3), (0, 1, 2), (0, 1)], ids=str)
def test_integer_weights_are_repeated_samples_and_zero_is_removed(times, subject):
    weights = np.random.default_rng(0).choice(times, N)
    weighted = replace(first_problem(), weight=weights.astype(float))
    rows = np.repeat(np.arange(N), weights)
    repeated = replace(take(first_problem(), rows), rows=rows)
    assert_same(SUBJECTS[subject](repeated), SUBJECTS[subject](weighted), rows)
