"""The paper's protocol on one split into training and test samples.

Features are scaled to [0, 1] and missing values replaced by medians, both fitted on the training samples. Parameters
are selected by the measure itself, on folds of the training samples. On a large set they are selected on a subsample,
and the best model is trained on more samples. A subsample keeps more of a rare class than its share; weights correct
this, so that C, thresholds and costs have the same meaning on the subsample as on all samples.
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
from cssvm._search.grid import Grid, GridAxes
from cssvm.datasets import load
from cssvm.metrics import cost_risk, tn_auc_loss, tp_auc_loss

from .configuration import SetPlan, Study

TRAIN_SHARE = 0.5  # of the training samples, in a large set without an official split
MAX_CACHED_SETS = 4
MIN_POSITIVE = 500  # samples of a rare positive class that a subsample keeps, if there are as many


@dataclass(frozen=True)
class Split:
    """Preprocessed training and test samples of one set.

    weights : of the training samples; search, search_weights : indices of the training samples for the selection, and
    their weights; tol : of SVMs on all training samples, None for the default; fn_cost, fp_cost : of the set, or of the
    study where they are unknown
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
        """Numbers of samples, and the cost of the cheaper baseline."""
        share = float(np.mean(self.y_test == 1))
        baseline = min(self.fn_cost * share, self.fp_cost * (1.0 - share))
        return {"n_train": len(self.y_train), "n_test": len(self.y_test), "baseline": baseline}

    @property
    def folds(self) -> StratifiedKFold:
        """Folds of the selection, the same for every method."""
        rarest = int(np.bincount(self.y_train[self.search]).min())
        return StratifiedKFold(max(2, min(self.inner, rarest)), shuffle=True, random_state=self.seed)


@functools.lru_cache(maxsize=MAX_CACHED_SETS)
def load_set(name: str, data_home: str | None) -> tuple[Any, NDArray[np.int64], Any, tuple[float | None, float | None]]:
    """Features, target, official split and costs of a set."""
    found = load(name, data_home=data_home, download=data_home is None)
    return found.data, np.asarray(found.target), found.split, (found.fn_cost, found.fp_cost)


def split_numbers(plan: SetPlan, *, comparator: bool = False) -> Iterator[tuple[int, int]]:
    """Repeat and fold of every split of a set for a method of the paper or for a comparator."""
    repeats = min(plan.comparator_repeats, plan.repeats) if comparator else plan.repeats
    for repeat in range(repeats if plan.folds else 1):
        for fold in range(max(1, plan.folds)):
            yield repeat, fold


def make_split(study: Study, plan: SetPlan, repeat: int, fold: int, data_home: str | None = None) -> Split:
    """The samples of one split, the same on every computer."""
    X, y, official, costs = load_set(plan.name, data_home)
    seed = study.seed + 1000 * repeat
    whole, test = _parts(plan, y, official, seed, fold)
    train = _subsample(whole, y, plan.fit_rows, seed)
    search = np.searchsorted(train, _subsample(train, y, plan.search_rows, seed + 1))
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
    """Sorted indices of the training and of the test samples."""
    if plan.folds:
        folds = StratifiedKFold(plan.folds, shuffle=True, random_state=seed)
        return list(folds.split(np.zeros(len(y)), y))[fold]
    if official is not None:
        return np.flatnonzero(official == "train"), np.flatnonzero(official == "test")
    parts = train_test_split(np.arange(len(y)), train_size=TRAIN_SHARE, stratify=y, random_state=seed)
    return np.sort(parts[0]), np.sort(parts[1])


def _subsample(rows: Any, y: NDArray[np.int64], most: int | None, seed: int) -> Any:
    """A sorted stratified subsample in which the positive class keeps up to `MIN_POSITIVE` samples."""
    if most is None or len(rows) <= most:
        return rows
    rng = np.random.default_rng(seed)
    positive = rows[y[rows] == 1]
    negative = rows[y[rows] != 1]
    share = min(len(positive), max(MIN_POSITIVE, round(most * len(positive) / len(rows))), most // 2)
    kept = rng.choice(positive, share, replace=False), rng.choice(negative, min(len(negative), most - share), False)
    return np.sort(np.concatenate(kept))


def _weights(kept: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    """Weights of the samples kept, which restore the weight of each class."""
    return (np.bincount(whole, minlength=2) / np.maximum(np.bincount(kept, minlength=2), 1))[kept]


def _preparation(X: Any) -> Any:
    """Missing values replaced and features in [0, 1]; sparse features, of unit length, are not changed."""
    if sp.issparse(X):
        return make_pipeline("passthrough")
    return make_pipeline(SimpleImputer(strategy="median"), MinMaxScaler())


@dataclass(frozen=True)
class PaperAxes(GridAxes):
    """The product of C, slopes and one kappa, without the factor (1 + kappa) / 2 of the library's own grid on C."""

    def grid(self) -> Grid:
        """The grid with exactly these C."""
        (kappa,) = self.kappas
        found = replace(self, Cs=self.Cs / ((1.0 + kappa) / 2.0))
        grid = GridAxes.grid(found)
        own_Cs = np.repeat(self.Cs, len(grid.points) // len(self.Cs)).tolist()
        exact = [p._replace(params=p.params | {"C": C}) for p, C in zip(grid.points, own_Cs, strict=True)]
        return replace(grid, points=exact)


class PaperSearch(CostSensitiveSVCCV):
    """The search of the paper: the product of C, slopes of both classes and one kappa.

    fn_costs, fp_costs : slopes of the loss; refit : whether to train the best point on all samples
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


def test_score(
    measure: str, split: Split, scores: NDArray[np.float64] | None, predicted: NDArray[np.bool_] | None
) -> float:
    """A measure of scores for the positive class, or of predictions, on the test samples."""
    if measure == "tp_auc":
        return tp_auc_loss(split.y_test, scores)
    if measure == "tn_auc":
        return tn_auc_loss(split.y_test, scores)
    labels = np.asarray(predicted, dtype=int)
    costs = {"fn_cost": split.fn_cost, "fp_cost": split.fp_cost}
    return cost_risk(split.y_test, labels, normalize=measure == "risk", **costs)
