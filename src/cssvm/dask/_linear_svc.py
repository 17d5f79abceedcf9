"""The cost-sensitive linear SVM for data on a Dask cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd
from dask.base import is_dask_collection
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._core.classifier import fit_costs, resolve_cost, unchanged_on_failure
from .._core.margins_and_bounds import SCALE, check_error_costs, check_margins, resolve_C
from .._runtime import threads
from .._solvers.linear import INTERIOR, LinearSolution, solve_active
from .._solvers.linear.active_set import FEW_ROWS
from .._solvers.linear.interior import Certificate
from .._solvers.linear.linear_solver import FINE_SHARE, SMALL, WIDEST, with_centre
from .._svm import linear_svc as local
from .._svm.base_svc import validate_parameters
from . import _predict as lazy
from ._blocks import BlockReader, DaskBlocks
from ._partitions import Partition, Problem, Reader, Totals, read_partitions
from ._preparation import MAP_ROWS, SPARE, Preparation, rows_at
from ._session import Session, Task
from ._survey import LabelCounts, Survey, combine, evenly_spaced, survey

OWN_CHECKS: dict[str, Any] = {
    "scale": (lambda value: isinstance(value, bool), "True or False", "scale=True"),
    "feature_map": (
        lambda value: value is None or (hasattr(value, "fit") and hasattr(value, "transform")),
        "None or a transformer with fit and transform",
        "feature_map=Nystroem(n_components=300)",
    ),
}


class CostSensitiveLinearSVC(local.CostSensitiveLinearSVC):
    """Linear cost-sensitive support vector classifier for data on a Dask cluster.

    Solves the problem of ``cssvm.CostSensitiveLinearSVC`` by the same method to the same certificate, for dask arrays,
    dask dataframes and Parquet files that need not fit in memory. It has at most 3,000 features.

    Parameters
    ----------
    C, fn_cost, fp_cost, kappa, pos_label, tol, max_iter
        As for ``cssvm.CostSensitiveLinearSVC``.
    scale : bool, default=False
        Whether numbers are scaled to mean 0 and variance 1; the features of data frames are then those of
        `cssvm.datasets.make_preprocessor`.
    feature_map : transformer, default=None
        Applied after scaling, inside tasks, and fitted on about 10,000 rows, evenly spaced in each partition. For
        example, ``Nystroem(n_components=300, random_state=0)`` approximates a kernel SVM.
    verbose : int, default=0
        1 prints progress and the duality gap.
    client : distributed.Client, default=None
        Client of the cluster; None takes the one that was started last.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n)
        The weights w of the n features that columns, scaled and encoded, and the feature map make, positive towards
        ``classes_[1]``.
    n_features_in_, feature_names_in_
        Number and names of the columns seen in `fit`.
    classes_, intercept_, C_, solver_, n_iter_, fit_status_, primal_objective_, dual_objective_, dual_gap_
        As in ``cssvm.CostSensitiveLinearSVC``; the same bits on any number of workers of one kind.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from cssvm.dask import CostSensitiveLinearSVC
    >>> rng = da.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3), chunks=(500, 3))
    >>> fraud = X[:, 0] + X[:, 1] > 2.0
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = CostSensitiveLinearSVC(fn_cost=20.0, client=client).fit(X, fraud).to_local()
    >>> model.predict([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]]).tolist()
    [True, False]
    """

    _preparation: Preparation  # set in fit

    def __init__(
        self,
        C: Any = SCALE,
        *,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        kappa: Any = 1.0,
        pos_label: Any = None,
        scale: bool = False,
        feature_map: Any = None,
        tol: float = 1e-6,
        max_iter: int = -1,
        verbose: int = 0,
        client: Any = None,
    ) -> None:
        super().__init__(
            C,
            fn_cost=fn_cost,
            fp_cost=fp_cost,
            kappa=kappa,
            pos_label=pos_label,
            tol=tol,
            max_iter=max_iter,
            verbose=verbose,
        )
        self.scale = scale
        self.feature_map = feature_map
        self.client = client

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        kappa: Any = None,
        sample_weight: Any = None,
        features: Sequence[str] | None = None,
    ) -> CostSensitiveLinearSVC:
        """Train on all partitions; if this fails, the estimator stays as it was.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features), dask dataframe, or path of Parquet
            Chunk sizes may be unknown. A path is a file or a folder, whose row groups are the partitions. Data frames
            may have missing values, and categories are encoded; arrays hold numbers only.
        y : dask array or series, or name of a column of X
            Labels of two classes.
        fn_cost, fp_cost, kappa, sample_weight : float, dask array or series, or name of a column of X, default=None
            As for ``cssvm.CostSensitiveLinearSVC.fit``; kappa may be ``"tied"``.
        features : list of str, default=None
            Columns of X to use as features. If None, all columns but those named above.

        Returns
        -------
        CostSensitiveLinearSVC
            The estimator itself.
        """
        return self._fit(X, y, features, fn_cost=fn_cost, fp_cost=fp_cost, kappa=kappa, sample_weight=sample_weight)

    def _fit(
        self,
        X: Any,
        y: Any,
        features: Sequence[str] | None,
        choose_pos_label: Callable[[LabelCounts], Any] | None = None,
        **values: Any,
    ) -> CostSensitiveLinearSVC:
        """Implement `fit`; choose_pos_label : sets pos_label once the labels are known, may raise."""
        with unchanged_on_failure(self), Session(self.client) as session:
            validate_parameters(self, **OWN_CHECKS)
            for name in ("fn_cost", "fp_cost", "kappa"):
                values[name] = resolve_cost(self, name, values[name])
            reader, partitions = read_partitions(X, features, y=y, **values)
            constants = {"fn_cost": 1.0, "fp_cost": 1.0, "kappa": 1.0} | reader.constants
            both = np.array([True, False])  # one sample of each class, checked before any partition is read
            check_error_costs(both, constants["fn_cost"], constants["fp_cost"])
            check_margins(both, constants["kappa"], constants["fp_cost"])
            found = self._survey(session, reader, partitions)
            if choose_pos_label is not None:
                self.pos_label = choose_pos_label(found.labels)
            self._read_labels(found.labels.labels)
            self.n_features_in_ = len(found.kinds)
            self.__dict__.pop("feature_names_in_", None)
            if reader.names is not None:
                self.feature_names_in_ = np.asarray(reader.names, dtype=object)
            self._log(session, f"{found.n_rows:,} rows of {len(found.kinds)} columns in {len(partitions)} partitions")
            blocks = self._blocks(session, reader, partitions, found)
            solution = self._solution(session, blocks)
            self.solver_ = INTERIOR
            self._fit_costs = fit_costs(fn_cost=values["fn_cost"], fp_cost=values["fp_cost"])
            self._store(solution)
            self._report(solution)
        return self

    def _survey(self, session: Session, reader: Reader, partitions: list[Partition]) -> Survey:
        """Return what all partitions hold."""
        n_keep = SPARE * -(-MAP_ROWS // len(partitions)) if self.feature_map is not None else 0
        names = [partition.name for partition in partitions]
        surveys = session.map_ordered(
            "survey",
            Task(survey, {"reader": reader, "n_keep": n_keep}),
            [partition.everything for partition in partitions].__getitem__,
            names,
            4 * session.n_cores,
        )
        found, kept = None, []
        for name, own in zip(names, surveys, strict=True):
            kept.append((own.n_rows, own.rows))
            try:
                found = own if found is None else combine(found, own, reader.names or ())
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
        assert found is not None
        if n_keep:
            found.rows = _proportionate(kept)
        return found

    def _blocks(self, session: Session, reader: Reader, partitions: list[Partition], found: Survey) -> DaskBlocks:
        """Return the partitions that count as blocks; set C and the preparation."""
        problem = Problem(reader, self._positive_class)
        names = [partition.name for partition in partitions]
        arguments = [partition.values for partition in partitions].__getitem__
        totals = list(session.map_ordered("totals", Task(problem.totals), arguments, names, 4 * session.n_cores))
        whole = reduce(Totals.plus, totals)
        whole.check_totals()
        self.C_ = resolve_C(self.C, whole.weighted_costs)
        preparation = self._preparation = Preparation(
            found, reader.names, scale=self.scale, feature_map=self.feature_map
        )
        if preparation.n_features > WIDEST:
            raise ValueError(
                f"X must have at most {WIDEST:,} features once categories are encoded and mapped; got "
                f"{preparation.n_features:,}. Leave columns out of the features, or lower n_components."
            )
        counted = [k for k, own in enumerate(totals) if own.counted.any()]
        counts = np.array([totals[k].counted[:: self._positive_class.sign] for k in counted])
        (read,) = session.share("reader", [BlockReader(Problem(reader, self._positive_class, self.C_), preparation)])
        return DaskBlocks(
            session,
            read,
            [partitions[k].everything for k in counted],
            [names[k] for k in counted],
            counts,
            preparation.n_features,
        )

    def _solution(self, session: Session, blocks: DaskBlocks) -> LinearSolution:
        """Return the optimum; features are kept in the memory of workers if they fit."""
        n = int(blocks.counts().sum())
        all_rows: Any = blocks
        if n <= FEW_ROWS:
            all_rows = blocks.sample(np.ones(2))
        elif blocks.n_bytes <= session.room:
            all_rows = blocks.persist()
            self._log(session, f"the features, {blocks.n_bytes / 1e6:,.0f} MB, are kept in the memory of workers")
        aim = FINE_SHARE * self.tol if n * blocks.n_features <= SMALL else self.tol

        def report(n_iter: int, best: Certificate) -> None:
            self._log(session, f"iteration {n_iter}: primal objective {best.primal:.6g}, relative gap {best.gap:.2g}")

        with threads.single_threaded_blas(), np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            found = solve_active(all_rows, tol=self.tol, aim=aim, max_iter=self.max_iter, report=report)
            return with_centre(found, self._preparation.centre, all_rows, self.tol)

    def _log(self, session: Session, what: str) -> None:
        if self.verbose >= 1:
            print(f"[{time.monotonic() - session.started:7.1f} s] {what}", flush=True)

    def to_local(self) -> Any:
        """Return the same model without Dask.

        Returns
        -------
        Pipeline or cssvm.CostSensitiveLinearSVC
            A scikit-learn pipeline of the fitted preprocessing, the feature map and the classifier; the classifier
            alone if there are no other steps.
        """
        check_is_fitted(self)
        model = local.CostSensitiveLinearSVC()
        own = {*model.get_params(), "_positive_class", "_fit_costs"}
        fitted = {name: value for name, value in vars(self).items() if name.endswith("_") or name in own}
        model.__dict__.update(deepcopy(fitted))
        if not self._preparation.steps:
            return model
        model.n_features_in_ = self.coef_.shape[1]
        model.__dict__.pop("feature_names_in_", None)
        return Pipeline([*deepcopy(self._preparation.steps), ("svm", model)])

    def decision_function(self, X: Any) -> Any:
        """Compute the score f of each sample, positive for ``classes_[1]``; lazy for a dask array or data frame."""
        return lazy.decision_function(self, X) if is_dask_collection(X) else self.to_local().decision_function(X)

    def predict(self, X: Any) -> Any:
        """Predict the class of each sample; lazy for a dask array or data frame."""
        return lazy.predict(self, X) if is_dask_collection(X) else super().predict(X)

    def __getstate__(self) -> Any:
        """Return the state without the client, which belongs to its process."""
        return super().__getstate__() | {"client": None}

    def __sklearn_clone__(self) -> CostSensitiveLinearSVC:
        """Return a clone with the same client."""
        parameters: dict[str, Any] = {
            name: clone(value, safe=False) for name, value in self.get_params(deep=False).items() if name != "client"
        }
        return type(self)(**parameters, client=self.client)


def _proportionate(kept: list[tuple[int, Any]]) -> Any:
    """Return the same share of the rows of each partition, at most `MAP_ROWS` in total."""
    n = sum(n_own for n_own, _ in kept)
    share = min([MAP_ROWS / max(1, n), 1.0, *(len(rows) / n_own for n_own, rows in kept if n_own)])
    chosen = [rows_at(rows, evenly_spaced(len(rows), max(1, round(share * n_own)))) for n_own, rows in kept if n_own]
    if hasattr(chosen[0], "iloc"):
        return pd.concat(chosen, ignore_index=True)
    return np.concatenate(chosen)
