"""The searches for the kernel and for the linear SVM."""

from __future__ import annotations

from typing import Any

from .._kernels import DEFAULT_KERNEL
from .._svm import CostSensitiveLinearSVC, CostSensitiveSVC
from .._svm.kernel_svc import with_kernel_tags
from .base import BaseSVCSearchCV
from .workers import FitPlan, Worker, make_kernel_worker, make_linear_worker


class CostSensitiveSVCCV(BaseSVCSearchCV):
    """Cost-sensitive SVM with cross-validated C, gamma, costs and margin.

    All points of the grid that share a kernel matrix are solved from it, those that differ in C from each other's
    solutions, and those that differ in kappa by a closed formula. The scores are those of training each point on
    each fold by itself, within `tol`.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C to try, or a number of automatic ones, which depend on the costs. They are the C of a model with
        both margins 1. Another kappa is tried with C (1 + kappa) / 2, which gives the same model up to scale and shift;
        `cv_results_` and `best_params_` hold the C to pass to `CostSensitiveSVC`.
    gammas : int or array-like of float, default=10
        Values of gamma to try, or a number of automatic ones around 1 / the mean squared distance of two samples.
        Ignored by kernels without a gamma.
    fn_costs : int or array-like of float, default=None
        Costs of a false negative to train with, or a number of automatic ones; None means `fn_cost`. Only the ratio to
        `fp_cost` and the product with `Cs` matter. Where each sample has its own cost they are factors of it, and None
        means 1. With ``decision="bayes"`` they are weights of the positive class, and None means those of
        ``class_weight="balanced"``.
    kappas : int, "tied" or array-like of float and "tied", default=None
        Margins of the negative class to try, or a number of automatic ones; None means 1. ``"tied"`` is 1 / fp_cost,
        of each sample if it has its own cost; the unit of the costs then matters, as fp_cost is compared with 1.
    fn_cost, fp_cost : float, default=1.0
        Cost of a false negative and of a false positive, by which points are scored. Pass costs of single samples to
        `fit`.
    kernel : str or callable, default="rbf"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"sigmoid"``, ``"laplacian"``, ``"matern32"``, ``"matern52"``,
        ``"precomputed"``, or a callable that maps two matrices to their kernel matrix. With ``"precomputed"`` X is the
        kernel matrix. ``"poly"`` has degree 3 and coef0 0; for others pass
        ``functools.partial(sklearn.metrics.pairwise.polynomial_kernel, degree=2, coef0=1)``.
    scoring : str or callable, default="risk"
        ``"risk"``: mean cost of the predictions; ``"min_risk"``: the same at the best threshold; ``"tp_auc"`` and
        ``"tn_auc"``: the partial areas of `cssvm.metrics` at t = 0.9; ``"income"``: sum of fn_cost over true positives
        less fp_cost over false positives; or a scikit-learn scorer or its name. Greater is better, so risks and areas
        have a minus sign.
    decision : {"auto", "zero", "threshold", "bayes"}, default="auto"
        How the final model predicts, learned from out-of-fold scores without further fits. ``"zero"``: by the sign of
        f. ``"threshold"``: by the threshold of least cost on the out-of-fold scores of all folds together, at which
        points are scored as well. ``"bayes"``: by probabilities calibrated on these scores and the costs of each new
        sample, ``predict(X, fn_cost=amount)``; points are scored by the cost of these predictions, but the costs do
        not enter the training, which gives both classes the same total weight. ``"auto"`` is ``"threshold"`` for
        ``scoring="min_risk"``, else ``"zero"``.
    cv : int, splitter or iterable of splits, default=None
        An integer means shuffled stratified folds, None means 5 of them; fewer, with a warning, if the rarer class has
        fewer samples. For samples in time, pass ``TimeSeriesSplit``.
    transformer : transformer, default=None
        Fitted on the training samples of each fold, and on all samples for the final model: ``StandardScaler()``, or a
        pipeline that encodes categories. In front of the search it would see the validation samples as well.
    pos_label : label, default=None
        The positive class; None means ``classes_[1]``. Required if the labels are strings and ``fn_cost != fp_cost``.
    tol : float, default=1e-3
        Largest KKT violation of a fit.
    n_jobs : int, default=None
        Number of threads; None means all that BLAS may use, -1 all cores. The threads share what the search has
        prepared, so it never leaves its process, whatever ``joblib.parallel_config`` says.
    checkpoint : path, default=None
        A file that keeps the scores of finished points. The same search with the same file continues where it stopped;
        other searches may share the file.
    verbose : int, default=0
        1 shows progress and the time left.

    Attributes
    ----------
    best_params_ : dict
        Arguments of `CostSensitiveSVC` at the best point: C, gamma, fn_cost, fp_cost and kappa. Where samples have
        their own costs, fn_cost and fp_cost are factors of them; with ``decision="bayes"`` they are class weights.
    best_score_ : float
        Mean score of the best point over the folds.
    best_index_ : int
        Its row in `cv_results_`. Of equal scores the first wins.
    cv_results_ : dict of arrays
        As in `sklearn.model_selection.GridSearchCV`.
    best_estimator_ : CostSensitiveSVC
        The final model; its fitted attributes are also attributes of the search.
    transformer_ : transformer
        The fitted transformer of the final model, if one was given.
    threshold_ : float
        Subtracted from the score of the final model by `decision_function`; 0 for ``"zero"``, nan for ``"bayes"``.
    held_out_scores_ : ndarray of shape (n_samples,)
        Out-of-fold scores f of the best point, positive for ``classes_[1]``; nan for samples that no fold holds out.
        `threshold_` is not subtracted.
    n_splits_ : int
        Number of folds.
    n_fits_ : int
        Number of fits on each fold; points with different kappas share them.
    interrupted_ : bool
        Whether Ctrl-C ended the search before all points were scored.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, gamma_, n_iter_, fit_status_, \
primal_objective_, dual_objective_, dual_gap_
        As in `CostSensitiveSVC`.

    Notes
    -----
    Where the best point lies at the end of an automatic axis of C or gamma, and is better than those inside by more
    than a standard error over the folds, the grid is extended there, up to three times and at most 64-fold; if that
    was not enough, a warning is issued. Ctrl-C ends the search early: the best of the points scored on all folds is
    trained, and with a `checkpoint` nothing is lost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import CostSensitiveSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = CostSensitiveSVCCV(Cs=4, gammas=4, fn_cost=10, pos_label=0, transformer=StandardScaler()).fit(X, y)
    >>> sorted(search.best_params_)
    ['C', 'fn_cost', 'fp_cost', 'gamma', 'kappa']
    >>> search.predict(X[:3]).tolist()
    [0, 0, 0]
    """

    _checked = ("kernel", "tol", "verbose")

    def __init__(
        self,
        *,
        Cs: Any = 10,
        gammas: Any = 10,
        fn_costs: Any = None,
        kappas: Any = None,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        kernel: Any = DEFAULT_KERNEL,
        scoring: Any = "risk",
        decision: str = "auto",
        cv: Any = None,
        transformer: Any = None,
        pos_label: Any = None,
        tol: float = 1e-3,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.fn_costs = fn_costs
        self.kappas = kappas
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.kernel = kernel
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
        return make_kernel_worker(plan, n_threads)

    def _final_model(self) -> CostSensitiveSVC:
        return CostSensitiveSVC(
            **self.best_params_, kernel=self.kernel, pos_label=self._positive_class.label, tol=self.tol
        )

    def __sklearn_tags__(self) -> Any:
        return with_kernel_tags(super().__sklearn_tags__(), self.kernel)


class CostSensitiveLinearSVCCV(BaseSVCSearchCV):
    """Cost-sensitive linear SVM with cross-validated C, costs and margin, for many samples.

    The search of `CostSensitiveSVCCV` with the models of `CostSensitiveLinearSVC`. On each fold the samples are read
    and prepared once, points that differ in C start from the solution of the last one, and those that differ in kappa
    follow by a closed formula. The scores are those of training each point on each fold by itself, within `tol`.

    Parameters
    ----------
    Cs, fn_costs, kappas, fn_cost, fp_cost, scoring, decision, cv, transformer, pos_label, n_jobs, checkpoint, verbose
        As in `CostSensitiveSVCCV`.
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
