"""`CostSensitiveSVCCV`: model selection for the cost-sensitive SVM by one search with shared work."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._types import Vector
from ..classifier import BinaryClassifier, unchanged_on_failure
from ..costs import CostConditionWarning
from ..estimators import CostSensitiveSVC
from ..estimators.inputs import training_data
from ..estimators.kernel_svc import with_kernel_tags
from ..estimators.parameters import CHECKS, check_parameters, lists_kernels
from ..kernels import DEFAULT_KERNEL, is_pairwise, kernel_class
from ..runtime.threads import n_cores
from ..sample import Sample
from .checkpoint import fingerprint
from .engine import Machines
from .features import Features
from .folds import make_folds
from .grid import FN_COST_REACH, Grid, automatic_Cs, axis, cost_values, kappa_values, kernel_values, make_grid
from .results import results_table
from .run import Run, RunResult
from .scoring import make_scoring

# Of the final model's fitted attributes, those that describe the X and y given to the search.
OWN_ATTRIBUTES = ("classes_", "n_features_in_", "feature_names_in_")
CHECKED = ("kernel", "tol", "cache_size", "verbose")


def _refitted(estimator: CostSensitiveSVCCV) -> bool:
    if not estimator.refit:
        raise AttributeError(
            "this CostSensitiveSVCCV was made with refit=False and has no model to predict with. "
            "Pass refit=True, or fit CostSensitiveSVC(**best_params_)."
        )
    return True


@lists_kernels
class CostSensitiveSVCCV(BinaryClassifier):
    """Cost-sensitive SVM with cross-validated C, gamma, slopes and margin, found in one search.

    All points of the grid that share a kernel matrix are solved from it, those that differ in C from one another's
    solutions, and those that differ in kappa by a closed formula. The scores are those of training each point on
    each fold by itself, up to what `tol` allows.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C to try, or a number of automatic ones, which depend on the costs. They are the C of a machine
        with both margins 1. Another kappa is tried with C (1 + kappa) / 2, which leaves the trained machine the same
        up to scale and shift; `cv_results_` and `best_params_` hold the C that `CostSensitiveSVC` is to be given.
    gammas : int or array-like of float, default=10
        Values of gamma to try, or a number of automatic ones around 1 / the mean squared distance of two rows. Not
        read by kernels without a gamma.
    fn_costs : int or array-like of float, default=None
        Training slopes of the target class to try; None means the cost `fn_cost` itself. With a cost for each row they
        multiply it, and None means 1.
    fp_costs : int or array-like of float, default=None
        The same for the other class. Only the ratio to `fn_costs` and the product with `Cs` matter, so there is
        rarely a need.
    kappas : int, "tied" or array-like of float and "tied", default=None
        Margins of the other class to try; None means 1. ``"tied"`` is 1 / fp_cost, row by row if it is given so.
    fn_cost : float, default=1.0
        Cost of a false negative, with which points are scored. One value for each row goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive, with which points are scored. One value for each row goes to `fit`.
    kernel : str or callable, default="rbf"
        A name from `cssvm.kernels.KERNEL_NAMES`, or a callable that maps two matrices to their kernel matrix. With
        ``"precomputed"`` X is the kernel matrix.
    degree : int or list of int, default=3
        Degrees of a polynomial kernel to try.
    coef0 : float or list of float, default=0.0
        Constant terms to try, of the kernels that have one.
    scoring : str or callable, default="risk"
        ``"risk"``: mean cost of the decisions; ``"min_risk"``: the same at the best threshold; ``"tp_auc"`` and
        ``"tn_auc"``: the partial areas of `cssvm.metrics` at t = 0.9; ``"income"``: sum of fn_cost over hits less
        fp_cost over false alarms; or a scikit-learn scorer or its name. Greater is better, so a risk or area has
        a minus sign.
    cv : int, splitter or iterable of splits, default=None
        An integer means stratified folds, None 5 of them; fewer, with a warning, if the rarer class has fewer rows.
        A fixed validation set is ``PredefinedSplit``.
    transformer : transformer, default=None
        Fitted on the training rows of each fold alone, and on all rows for the final model: for example
        ``StandardScaler()``. In a pipeline in front of the search, a scaler would see the validation rows as well.
    pos_label : label, default=None
        The target class; None means ``classes_[1]``.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of a machine.
    refit : bool, default=True
        Whether to train the best point on all rows at the end.
    racing : bool, default=False
        Follow a kernel to larger C, and gamma to either side, only as long as that is not clearly behind the best point
        so far, over three folds or more. Often saves half of the time; points that were not trained have NaN in
        `cv_results_`, and never win.
    n_jobs : int, default=None
        Threads to use; None for all that BLAS may use.
    cache_size : "auto" or float, default="auto"
        Memory for kernel values, in megabytes; ``"auto"`` takes up to half of what is available. What does not fit is
        searched without kernel matrices, more slowly.
    checkpoint : path, default=None
        A file that keeps what is done. The same search with the same file goes on where it stopped.
    verbose : int, default=0
        1 shows progress and the time left.

    Attributes
    ----------
    best_params_ : dict
        Arguments of `CostSensitiveSVC` at the best point: C, gamma, fn_cost, fp_cost, kappa. With a cost for each
        row, fn_cost and fp_cost are factors of those.
    best_score_ : float
        Mean score of the best point over the folds.
    best_index_ : int
        Its row in `cv_results_`. Of equal scores the first wins.
    cv_results_ : dict of arrays
        ``params``, a ``param_...`` column for each parameter, ``split{i}_test_score``, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``: ``pandas.DataFrame(cv_results_)`` reads it.
    best_estimator_ : CostSensitiveSVC
        The final model; its fitted attributes are also found on the search itself.
    transformer_ : transformer
        The fitted transformer of the final model, where one was given.
    n_splits_ : int
        Number of folds.
    n_machines_ : int
        Number of machines in each fold; points with different kappas share them. A race trains fewer.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, gamma_, n_iter_, fit_status_
        As in `CostSensitiveSVC`.
    primal_objective_, dual_objective_, dual_gap_ : float
        The certificate of the final model.

    Notes
    -----
    Ctrl-C ends the search early: points with all folds done are kept, a warning says how many, and the best of them is
    trained. With a `checkpoint` nothing is lost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from cssvm import CostSensitiveSVCCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = CostSensitiveSVCCV(Cs=4, gammas=4, fn_cost=10, pos_label=0, transformer=StandardScaler()).fit(X, y)
    >>> sorted(search.best_params_)
    ['C', 'fn_cost', 'fp_cost', 'gamma', 'kappa']
    >>> bool(search.best_score_ > -0.3)  # minus the mean cost of a patient
    True
    >>> search.predict(X[:3]).tolist()
    [0, 0, 0]
    """

    def __init__(
        self,
        *,
        Cs: Any = 10,
        gammas: Any = 10,
        fn_costs: Any = None,
        fp_costs: Any = None,
        kappas: Any = None,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        kernel: Any = DEFAULT_KERNEL,
        degree: Any = 3,
        coef0: Any = 0.0,
        scoring: Any = "risk",
        cv: Any = None,
        transformer: Any = None,
        pos_label: Any = None,
        tol: float = 1e-3,
        refit: bool = True,
        racing: bool = False,
        n_jobs: int | None = None,
        cache_size: Any = "auto",
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.fn_costs = fn_costs
        self.fp_costs = fp_costs
        self.kappas = kappas
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.scoring = scoring
        self.cv = cv
        self.transformer = transformer
        self.pos_label = pos_label
        self.tol = tol
        self.refit = refit
        self.racing = racing
        self.n_jobs = n_jobs
        self.cache_size = cache_size
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None
    ) -> CostSensitiveSVCCV:
        """Search, and train the best point on all rows; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; for ``kernel="precomputed"`` the symmetric kernel matrix (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of missing each row of the target class; other entries are ignored. None takes the constructor's.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false alarm on each row of the other class, the rest ignored. None takes the constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row, in training and in scoring; None means 1.

        Returns
        -------
        CostSensitiveSVCCV
            The estimator itself.
        """
        with unchanged_on_failure(self):
            X, sample = self._read(X, y, fn_cost, fp_cost, sample_weight)
            scoring = make_scoring(self.scoring, X, sample)
            folds = make_folds(self.cv, X, sample, ranking=scoring.ranking)
            features = Features(X, sample.labels, self.transformer)
            grid = self._grid(features.whole[0], sample)
            machines = Machines(features, sample, folds, grid, self.tol, self.cache_size)
            run = Run(
                machines,
                scoring,
                racing=self.racing,
                n_jobs=n_cores() if self.n_jobs is None else effective_n_jobs(self.n_jobs),
                verbose=self.verbose,
                checkpoint=self.checkpoint,
                fingerprint=lambda: self._fingerprint(machines),
            )
            found = run.results()
            self._warn(found)
            self.n_splits_, self.n_machines_ = len(folds), grid.n_machines
            self.cv_results_, self.best_index_ = results_table(grid.points, found.values)
            self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            if self.refit:
                self._train_best(features, sample)
        return self

    def _read(self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any) -> tuple[Any, Sample]:
        """Check parameters and data; X and its rows."""
        check_parameters(self, {name: CHECKS[name] for name in CHECKED})
        if self.n_jobs is not None and (self.n_jobs != int(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0; got n_jobs={self.n_jobs!r}.")
        pairwise = is_pairwise(self.kernel)
        if pairwise and self.transformer is not None:
            raise ValueError(f'transformer must be None with kernel="{self.kernel}": a kernel matrix has no features.')
        X, y = training_data(self, X, y, pairwise=pairwise)
        kernel_class(self.kernel).check_training_matrix(X)
        return X, self._read_sample(y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)

    def _grid(self, X: Any, sample: Sample) -> Grid:
        """The axes of the grid, automatic ones from the rows, as the final model sees them, and their costs."""
        fn_base, fp_base = (1.0 if np.ndim(cost) else float(cost) for cost in (sample.fn_cost, sample.fp_cost))
        positive = sample.weights[sample.positive].sum()
        total = float(sample.weights.sum())
        imbalance = (total - positive) / max(positive, np.finfo(float).tiny)
        limits = fp_base, FN_COST_REACH * max(fn_base, fp_base * max(1.0, imbalance))
        mean_cost = sample.stakes.sum() / total
        return make_grid(
            kernels=kernel_values(self.kernel, self.gammas, self.degree, self.coef0, X, sample.weights),
            Cs=axis("Cs", self.Cs, lambda count: automatic_Cs(count, mean_cost, total)),
            slopes=list(
                itertools.product(
                    cost_values("fn_costs", self.fn_costs, fn_base, limits).tolist(),
                    cost_values("fp_costs", self.fp_costs, fp_base, limits).tolist(),
                )
            ),
            kappas=kappa_values(self.kappas),
            example_costs=sample.has_row_costs,
        )

    def _fingerprint(self, machines: Machines) -> str:
        """What the values of the points depend on."""
        sample, points = machines.sample, [point.params for point in machines.grid.points]
        return fingerprint(
            [
                *(machines.features.X, self.transformer, sample.signs, sample.weights, sample.cost),
                *(np.ndim(sample.fn_cost), np.ndim(sample.fp_cost), points, str(self.scoring), self.kernel),
                *(self.tol, self.racing, *itertools.chain(*machines.folds)),
            ]
        )

    def _warn(self, found: RunResult) -> None:
        if found.interrupted:
            go_on = "Give a checkpoint to go on later." if self.checkpoint is None else "Call fit again to go on."
            warnings.warn(
                f"The search was interrupted: {found.n_complete} of {len(found.values)} points were scored on all "
                f"folds; the best of them is used. {go_on}",
                UserWarning,
                stacklevel=3,
            )
        elif not found.n_complete:
            warnings.warn(
                "No point has a score on all folds, so the first one is used: scoring returned NaN. Check the scorer, "
                "or use stratified folds.",
                UserWarning,
                stacklevel=3,
            )
        if found.n_failed:
            warnings.warn(
                f"{found.n_failed} machines of the search did not converge; their scores are approximate. Scale the "
                "features (for example with transformer=StandardScaler()), lower the largest C or raise tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _train_best(self, features: Features, sample: Sample) -> None:
        """Train the best point on all rows, and show its fitted attributes as our own."""
        X, fitted = features.whole
        if fitted is not None:
            self.transformer_ = fitted
        best = CostSensitiveSVC(
            **self.best_params_, kernel=self.kernel, pos_label=self.pos_label, tol=self.tol, cache_size=self.cache_size
        )
        priced = sample.priced(self.best_params_["fn_cost"], self.best_params_["fp_cost"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CostConditionWarning)  # of a point that the grid was asked to hold
            self.best_estimator_ = best.fit(
                X, sample.labels, fn_cost=priced.fn_cost, fp_cost=priced.fp_cost, sample_weight=sample.weights
            )
        for name, value in vars(best).items():
            if name.endswith("_") and name not in OWN_ATTRIBUTES:
                setattr(self, name, value)

    @available_if(_refitted)
    def decision_function(self, X: Any) -> Vector:
        """Score f of each row of X by the final model, positive for ``classes_[1]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            For ``kernel="precomputed"`` the kernel between X and the training rows, (n_samples, n_training).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.transformer is not None:
            X = self.transformer_.transform(X)
        return self.best_estimator_.decision_function(X)

    predict = available_if(_refitted)(BinaryClassifier.predict)

    @available_if(_refitted)
    def score(self, X: Any, y: Any, *, fn_cost: Any = None, fp_cost: Any = None, sample_weight: Any = None) -> float:
        """The value of the final model on other rows, by the `scoring` of the search; greater is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.
        y : array-like of shape (n_samples,)
            Labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=None
            What errors on these rows cost; None takes the constructor's.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row; None means 1.

        Returns
        -------
        float
        """
        f = self.decision_function(X)
        scores = self._target.oriented(f)
        sample = self._read_scored_sample(y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        counted = sample.counted_rows
        return float(make_scoring(self.scoring, X, sample).evaluate(scores[np.newaxis, counted], counted)[0])

    def __sklearn_tags__(self) -> Any:
        return with_kernel_tags(super().__sklearn_tags__(), self.kernel)
