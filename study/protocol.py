"""The paper's protocol on one split: rows that select and train, rows that judge and are seen by nobody before.

Features are scaled to [0, 1] and missing values replaced by medians, both fitted on the training rows. Selection is by
the measure itself, on folds of the training rows. A large set selects on a sample of its training rows and trains the
winner on more of them. A sample keeps more of a rare class than its share; weights set that right, so that C,
thresholds and costs mean the same on a sample as on all rows.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from cssvm import CostSensitiveSVCCV
from cssvm._search.plan import Grid, GridAxes
from cssvm.datasets import load
from cssvm.metrics import cost_risk, tn_auc_loss, tp_auc_loss

from .configuration import SetPlan, Study

STATED_SHARE = 0.5  # of the rows that train, in a large set without an official split
MOST_SETS = 4  # of the data in memory at a time
FEWEST_TARGETS = 500  # that a sample keeps of a rare class, if there are as many


@dataclass(frozen=True)
class Split:
    """Training and test rows of one set, prepared.

    weights : how many rows each training row stands for; search, search_weights : the training rows that selection
    looks at, and the same for them; tol : of SVMs of all training rows, None for the default; fn_cost, fp_cost :
    the set's own, or the study's where they are unknown.
    """

    X_train: Any
    y_train: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]
    weights: NDArray[np.float64]
    search: NDArray[np.intp]
    search_weights: NDArray[np.float64]
    inner: int
    seed: int
    fn_cost: float
    fp_cost: float
    known_costs: bool
    tol: float | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """What results need to be read: numbers of rows, and what the cheaper of two policies without a model costs."""
        share = float(np.mean(self.y_test == 1))
        plain = min(self.fn_cost * share, self.fp_cost * (1.0 - share))
        return {"n_train": len(self.y_train), "n_test": len(self.y_test), "plain": plain}

    @property
    def folds(self) -> StratifiedKFold:
        """Folds of the rows that select, the same for every method."""
        rarest = int(np.bincount(self.y_train[self.search]).min())
        return StratifiedKFold(max(2, min(self.inner, rarest)), shuffle=True, random_state=self.seed)


@functools.lru_cache(maxsize=MOST_SETS)
def rows_of(name: str, data_home: str | None) -> tuple[Any, NDArray[np.int64], Any, tuple[float | None, float | None]]:
    """Features, target, official split and costs of a set, as they come."""
    found = load(name, data_home=data_home, download=data_home is None)
    return found.data, np.asarray(found.target), found.split, (found.fn_cost, found.fp_cost)


def split_numbers(plan: SetPlan, *, comparator: bool = False) -> Iterator[tuple[int, int]]:
    """Repeat and fold of every split of a set that a method of the paper, or a comparator, is tried on."""
    repeats = min(plan.comparator_repeats, plan.repeats) if comparator else plan.repeats
    for repeat in range(repeats if plan.folds else 1):
        for fold in range(max(1, plan.folds)):
            yield repeat, fold


def make_split(study: Study, plan: SetPlan, repeat: int, fold: int, data_home: str | None = None) -> Split:
    """The rows of one split; the same numbers give the same rows on every computer."""
    X, y, official, costs = rows_of(plan.name, data_home)
    seed = study.seed + 1000 * repeat
    whole, test = _parts(plan, y, official, seed, fold)
    train = _sampled(whole, y, plan.fit_rows, seed)
    search = np.searchsorted(train, _sampled(train, y, plan.search_rows, seed + 1))
    prepare = _preparation(X).fit(X[train])
    known = costs[0] is not None and costs[1] is not None
    fn_cost, fp_cost = costs if known else study.costs
    return Split(
        X_train=prepare.transform(X[train]),
        y_train=y[train],
        X_test=prepare.transform(X[test]),
        y_test=y[test],
        weights=_weights(y[train], y[whole]),
        search=search,
        search_weights=_weights(y[train][search], y[whole]),
        inner=plan.inner,
        seed=seed,
        fn_cost=float(fn_cost),  # type: ignore[arg-type]
        fp_cost=float(fp_cost),  # type: ignore[arg-type]
        known_costs=known,
        tol=plan.tol,
    )


def _parts(plan: SetPlan, y: NDArray[np.int64], official: Any, seed: int, fold: int) -> tuple[Any, Any]:
    """Sorted numbers of the training and of the test rows."""
    if plan.folds:
        folds = StratifiedKFold(plan.folds, shuffle=True, random_state=seed)
        return list(folds.split(np.zeros(len(y)), y))[fold]
    if official is not None:
        return np.flatnonzero(official == "train"), np.flatnonzero(official == "test")
    parts = train_test_split(np.arange(len(y)), train_size=STATED_SHARE, stratify=y, random_state=seed)
    return np.sort(parts[0]), np.sort(parts[1])


def _sampled(rows: Any, y: NDArray[np.int64], most: int | None, seed: int) -> Any:
    """A sample of the rows, drawn by class, in which a rare class keeps up to `FEWEST_TARGETS`; sorted."""
    if most is None or len(rows) <= most:
        return rows
    rng = np.random.default_rng(seed)
    positive = rows[y[rows] == 1]
    negative = rows[y[rows] != 1]
    share = min(len(positive), max(FEWEST_TARGETS, round(most * len(positive) / len(rows))), most // 2)
    kept = rng.choice(positive, share, replace=False), rng.choice(negative, min(len(negative), most - share), False)
    return np.sort(np.concatenate(kept))


def _weights(kept: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """How many rows of its class each row that was kept stands for."""
    return (np.bincount(whole, minlength=2) / np.maximum(np.bincount(kept, minlength=2), 1))[kept]


def _preparation(X: Any) -> Any:
    """Missing values replaced and features in [0, 1]; sparse rows, which have unit length, are left alone."""
    if sp.issparse(X):
        return make_pipeline("passthrough")
    return make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler())


@dataclass(frozen=True)
class PaperAxes(GridAxes):
    """The plain product of C, slopes and one kappa: the C of a point is not multiplied by (1 + kappa) / 2."""

    def grid(self) -> Grid:
        """The points with these C, each trained with the C that its fit has."""
        (kappa,) = self.kappas
        found = replace(self, Cs=self.Cs / ((1.0 + kappa) / 2.0))
        grid = GridAxes.grid(found)
        own_Cs = np.repeat(self.Cs, len(grid.points) // len(self.Cs)).tolist()
        exact = [p._replace(params=p.params | {"C": C}) for p, C in zip(grid.points, own_Cs, strict=True)]
        return replace(grid, points=exact)


class PaperSearch(CostSensitiveSVCCV):
    """The search of the paper: the plain product of C, slopes of both classes and one kappa.

    fn_costs, fp_costs : slopes to train with; refit : whether to train the best point on all samples
    """

    def __init__(
        self,
        *,
        Cs: Any,
        gammas: Any,
        fn_costs: Any,
        fp_costs: Any,
        kappas: Any = (1.0,),
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        scoring: Any = "min_risk",
        cv: Any = None,
        refit: bool = True,
    ) -> None:
        axes = {"Cs": Cs, "gammas": gammas, "fn_costs": fn_costs, "kappas": kappas}
        super().__init__(**axes, fn_cost=fn_cost, fp_cost=fp_cost, scoring=scoring, cv=cv, n_jobs=1)
        self.fp_costs = fp_costs
        self.refit = refit

    def _axes(self, X: Any, samples: Any) -> PaperAxes:
        axes = super()._axes(X, samples)
        costs = [(fn_cost, float(fp_cost)) for fn_cost, _ in axes.costs for fp_cost in self.fp_costs]
        return PaperAxes(**vars(axes) | {"costs": costs})

    def _refit(self, *found: Any) -> None:
        if self.refit:
            super()._refit(*found)


def judged(measure: str, split: Split, scores: NDArray[np.float64] | None, accepted: NDArray[np.bool_] | None) -> float:
    """A measure on the test rows: of scores for the positive class, or of decisions."""
    if measure == "tp_auc":
        return tp_auc_loss(split.y_test, scores)
    if measure == "tn_auc":
        return tn_auc_loss(split.y_test, scores)
    decided = np.asarray(accepted, dtype=int)
    costs = {"fn_cost": split.fn_cost, "fp_cost": split.fp_cost}
    return cost_risk(split.y_test, decided, normalize=measure == "risk", **costs)
