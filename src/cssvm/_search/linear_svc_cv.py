"""`CostSensitiveLinearSVCCV`: model selection for the linear SVM, for many samples."""

from __future__ import annotations

from typing import Any

from .._svm import CostSensitiveLinearSVC
from .base import BaseSVCSearchCV
from .workers import FitPlan, Worker, make_linear_worker


class CostSensitiveLinearSVCCV(BaseSVCSearchCV):
    """Cost-sensitive linear SVM with cross-validated C, costs and margin, for many samples.

    The search of `CostSensitiveSVCCV` with the models of `CostSensitiveLinearSVC`. On each fold the samples are read
    and prepared once, points that differ in C start from the solution of the last one, and those that differ in kappa
    follow by a closed formula. The scores are those of training each point on each fold by itself, within `tol`.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C to try, or a number of automatic ones.
    fn_costs : int or array-like of float, default=None
        Costs of a false negative to train with, or a number of automatic ones; None means `fn_cost`.
    kappas : int, "tied" or array-like of float and "tied", default=None
        Margins of the negative class to try, or a number of automatic ones; None means 1.
    fn_cost, fp_cost : float, default=1.0
        Cost of a false negative and of a false positive, by which points are scored.
    scoring : str or callable, default="risk"
        ``"risk"``, ``"min_risk"``, ``"tp_auc"``, ``"tn_auc"``, ``"income"``, or a scikit-learn scorer or its name.
    decision : {"auto", "zero", "threshold", "bayes"}, default="auto"
        How the final model predicts.
    cv, transformer, pos_label, n_jobs, checkpoint, verbose
        As in `CostSensitiveSVCCV`, which also says more about the parameters above.
    tol : float, default=1e-6
        Largest duality gap of a fit, relative to the objective.

    Attributes
    ----------
    best_params_ : dict
        Arguments of `CostSensitiveLinearSVC` at the best point: C, fn_cost, fp_cost and kappa.
    best_estimator_ : CostSensitiveLinearSVC
        The final model; its fitted attributes are also attributes of the search.
    best_score_, best_index_, cv_results_, transformer_, threshold_, held_out_scores_, n_splits_, n_fits_, interrupted_
        As in `CostSensitiveSVCCV`.
    classes_, coef_, intercept_, C_, solver_, n_iter_, fit_status_, primal_objective_, dual_objective_, dual_gap_
        As in `CostSensitiveLinearSVC`.

    Notes
    -----
    All values of C are trained together, fold by fold: after Ctrl-C no point is complete before the last fold.

    A feature map is a transformer: ``transformer=Nystroem(n_components=300)`` makes it an approximate search for a
    kernel SVM on many samples; see `feature_map_gap`.

    Examples
    --------
    >>> import numpy as np
    >>> from cssvm import CostSensitiveLinearSVCCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(5_000, 5))
    >>> fraud = X[:, 0] + X[:, 1] + rng.normal(size=5_000) > 3
    >>> amount = rng.lognormal(4, 1, 5_000)
    >>> search = CostSensitiveLinearSVCCV(Cs=4, fp_cost=5.0, decision="bayes").fit(X, fraud, fn_cost=amount)
    >>> sorted(search.best_params_)
    ['C', 'fn_cost', 'fp_cost', 'kappa']
    >>> blocked = search.predict(X, fn_cost=amount)
    >>> bool(amount[blocked].mean() > amount.mean())
    True
    """

    _checked = ("tol", "verbose")

    def __init__(
        self,
        *,
        Cs: Any = 10,
        fn_costs: Any = None,
        kappas: Any = None,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        scoring: Any = "risk",
        decision: str = "auto",
        cv: Any = None,
        transformer: Any = None,
        pos_label: Any = None,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.fn_costs = fn_costs
        self.kappas = kappas
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.scoring = scoring
        self.decision = decision
        self.cv = cv
        self.transformer = transformer
        self.pos_label = pos_label
        self.tol = tol
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _make_worker(self, plan: FitPlan, n_threads: int) -> Worker:
        return make_linear_worker(plan, n_threads)

    def _final_model(self) -> CostSensitiveLinearSVC:
        return CostSensitiveLinearSVC(**self.best_params_, pos_label=self._positive_class.label, tol=self.tol)
