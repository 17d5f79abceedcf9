"""`CostSensitiveSVCCV`: model selection for the cost-sensitive SVM by one search with shared work."""

from __future__ import annotations

from typing import Any

from .._kernels import DEFAULT_KERNEL
from .._svm import CostSensitiveSVC
from .._svm.kernel_svc import with_kernel_tags
from .base import BaseSVCSearchCV


class CostSensitiveSVCCV(BaseSVCSearchCV):
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
        multiply it, and None means 1. With ``decision="bayes"`` costs are no slopes: None means those of
        ``class_weight="balanced"``, and given ones are slopes of the whole class.
    fp_costs : int or array-like of float, default=None
        The same for the other class. Only the ratio to `fn_costs` and the product with `Cs` matter, so there is
        rarely a need.
    kappas : int, "tied" or array-like of float and "tied", default=None
        Margins of the other class to try; None means 1. ``"tied"`` is 1 / fp_cost, row by row if it is given so; with
        it the unit of the costs matters, as it compares fp_cost with 1.
    fn_cost : float, default=1.0
        Cost of a false negative, with which points are scored. One value for each row goes to `fit`.
    fp_cost : float, default=1.0
        Cost of a false positive, with which points are scored. One value for each row goes to `fit`.
    kernel : str or callable, default="rbf"
        One of ``"linear"``, ``"rbf"``, ``"poly"``, ``"sigmoid"``, ``"laplacian"``, ``"matern32"``, ``"matern52"``,
        ``"precomputed"``, or a callable that maps two matrices to their kernel matrix. With ``"precomputed"`` X is the
        kernel matrix.
    degree : int or list of int, default=3
        Degrees of a polynomial kernel to try.
    coef0 : float or list of float, default=0.0
        Constant terms to try, of the kernels that have one.
    scoring : str or callable, default="risk"
        ``"risk"``: mean cost of the decisions; ``"min_risk"``: the same at the best threshold; ``"tp_auc"`` and
        ``"tn_auc"``: the partial areas of `cssvm.metrics` at t = 0.9; ``"income"``: sum of fn_cost over hits less
        fp_cost over false alarms; or a scikit-learn scorer or its name. Greater is better, so a risk or area has
        a minus sign.
    decision : {"auto", "zero", "threshold", "bayes"}, default="auto"
        What the final model decides by, learnt from held-out scores without further fits. ``"zero"``: the sign of f;
        ``"threshold"``: the threshold of least cost on the held-out scores of all folds together, at which points are
        scored as well; ``"bayes"``: probabilities calibrated on these scores and the costs of each new row,
        ``predict(X, fn_cost=amount)``. There costs choose the point, by what the decisions cost, but do not enter the
        training, which gives both classes the same total weight. ``"auto"`` is ``"threshold"`` for
        ``scoring="min_risk"``, else ``"zero"``.
    cv : int, splitter or iterable of splits, default=None
        An integer means stratified folds of shuffled rows, None 5 of them; fewer, with a warning, if the rarer class
        has fewer rows. A fixed validation set is ``PredefinedSplit``; rows in time want ``TimeSeriesSplit``.
    transformer : transformer, default=None
        Fitted on the training rows of each fold alone, and on all rows for the final model: for example
        ``StandardScaler()``, or a pipeline that fills gaps and encodes words. In front of the search it would see the
        validation rows as well.
    grid : {"shared", "paper"}, default="shared"
        ``"paper"`` tries the plain product of Cs, slopes and kappas, without rescaling C by kappa, and leaves out
        points with 1 / kappa > fn_cost.
    grow : bool, default=True
        Whether automatic axes of C and gamma go on where the best point lies at their end.
    stages : bool, default=False
        Whether the kernel is chosen first, with the standard SVM (equal slopes and margins), as in the paper's
        experiments; the other parameters are then searched with that kernel.
    pos_label : label, default=None
        The target class; None means ``classes_[1]``. It must be given where labels are words and costs differ.
    tol : float, default=1e-3
        Largest violation of the optimality conditions of a machine.
    refit : bool, default=True
        Whether to train the best point on all rows at the end.
    racing : bool, default=False
        Follow a kernel to larger C, and gamma to either side, only as long as that is not clearly behind the best point
        so far, over three folds or more. Often saves half of the time; points that were not trained have NaN in
        `cv_results_`, and never win.
    n_jobs : int, default=None
        Threads of this process to use; None for all that BLAS may use, -1 for all cores. A search shares what it has
        prepared between its threads and so never leaves its process, whatever ``joblib.parallel_config`` says.
    cache_size : "auto" or float, default="auto"
        Memory for kernel values, in megabytes; ``"auto"`` takes up to half of what is available. What does not fit is
        searched without kernel matrices, more slowly.
    checkpoint : path, default=None
        A file that keeps what is done. The same search with the same file goes on where it stopped; other searches
        have entries of their own in it.
    verbose : int, default=0
        1 shows progress and the time left.

    Attributes
    ----------
    best_params_ : dict
        Arguments of `CostSensitiveSVC` at the best point: C, gamma, fn_cost, fp_cost, kappa. With a cost for each
        row, fn_cost and fp_cost are factors of those; with ``decision="bayes"`` they are slopes of the classes.
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
    threshold_ : float
        Subtracted from the score of the final model by `decision_function`; 0 for ``"zero"``, nan for ``"bayes"``.
    held_out_scores_ : ndarray of shape (n_samples,)
        Scores f of the best point for each row, positive for ``classes_[1]``, by machines that have not seen the row;
        nan for rows that no fold holds out. For pictures and intervals: they are not less `threshold_`.
    first_stage_ : dict
        With `stages` the best parameters of the standard SVM.
    n_splits_ : int
        Number of folds.
    n_fits_ : int
        Number of machines in each fold; points with different kappas share them. A race trains fewer.
    interrupted_ : bool
        Whether Ctrl-C ended the search before all points were scored.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, gamma_, n_iter_, fit_status_
        As in `CostSensitiveSVC`.
    primal_objective_, dual_objective_, dual_gap_ : float
        Those of the final model, see `CostSensitiveSVC`.

    Notes
    -----
    Where the best point lies at the end of an automatic axis of C or gamma, and is better than those inside by more
    than a standard error over the folds, the grid grows there, up to three times and at most 64-fold, and a warning
    says so if that was not enough. `cv_results_` holds these points too.

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

    _checked = ("kernel", "tol", "cache_size", "verbose")

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
        decision: str = "auto",
        cv: Any = None,
        transformer: Any = None,
        grid: str = "shared",
        grow: bool = True,
        stages: bool = False,
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
        self.decision = decision
        self.cv = cv
        self.transformer = transformer
        self.grid = grid
        self.grow = grow
        self.stages = stages
        self.pos_label = pos_label
        self.tol = tol
        self.refit = refit
        self.racing = racing
        self.n_jobs = n_jobs
        self.cache_size = cache_size
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        fn_cost: Any = None,
        fp_cost: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> CostSensitiveSVCCV:
        """Search, and train the best point on all rows; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; for ``kernel="precomputed"`` the symmetric kernel matrix (n_samples, n_samples). With a
            transformer whatever that takes: a data frame with gaps and words, for example.
        y : array-like of shape (n_samples,)
            Labels of two classes.
        fn_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false negative for each sample of the positive class; other entries are ignored. If None, the
            value passed to the constructor is used.
        fp_cost : float or array-like of shape (n_samples,), default=None
            Cost of a false positive for each sample of the negative class; other entries are ignored. If None, the
            value passed to the constructor is used.
        sample_weight : float or array-like of shape (n_samples,), default=None
            Weight of each row, in training and in scoring; None means 1.
        groups : array-like of shape (n_samples,), default=None
            Rows that belong together, such as those of one customer, and are held out together.

        Returns
        -------
        CostSensitiveSVCCV
            The estimator itself.
        """
        self._select(X, y, fn_cost, fp_cost, sample_weight, groups)
        return self

    def _final_model(self) -> CostSensitiveSVC:
        return CostSensitiveSVC(
            **self.best_params_,
            kernel=self.kernel,
            pos_label=self._positive_class.label,
            tol=self.tol,
            cache_size=self.cache_size,
        )

    def __sklearn_tags__(self) -> Any:
        return with_kernel_tags(super().__sklearn_tags__(), self.kernel)
