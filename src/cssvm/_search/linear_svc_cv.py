"""`CostSensitiveLinearSVCCV`: model selection for the linear SVM, for many rows."""

from __future__ import annotations

from typing import Any

from .._kernels import Linear
from .._svm import CostSensitiveLinearSVC
from .base import BaseSVCSearchCV
from .engine import MakeWorker
from .grid import SHARED
from .linear_worker import make_linear_worker


class CostSensitiveLinearSVCCV(BaseSVCSearchCV):
    """Cost-sensitive SVM with a linear function and cross-validated C, slopes and margin, for many rows.

    The search of `CostSensitiveSVCCV` with the machines of `CostSensitiveLinearSVC`. In each fold the rows are read
    and prepared once, points that differ in C begin where the last one has ended, and those that differ in kappa are
    had by a closed formula. The scores are those of training each point on each fold by itself, up to what `tol`
    allows.

    Parameters
    ----------
    Cs : int or array-like of float, default=10
        Values of C to try, or a number of automatic ones, which depend on the costs. They are the C of a machine
        with both margins 1. Another kappa is tried with C (1 + kappa) / 2, which leaves the trained machine the same
        up to scale and shift; `cv_results_` and `best_params_` hold the C that `CostSensitiveLinearSVC` is to be given.
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
    grow : bool, default=True
        Whether an automatic axis of C goes on where the best point lies at its end.
    pos_label : label, default=None
        The target class; None means ``classes_[1]``. It must be given where labels are words and costs differ.
    tol : float, default=1e-6
        Largest relative gap between primal and dual objective of a machine.
    refit : bool, default=True
        Whether to train the best point on all rows at the end.
    n_jobs : int, default=None
        Threads of this process to use; None for all that BLAS may use, -1 for all cores. A search shares what it has
        prepared between its threads and so never leaves its process, whatever ``joblib.parallel_config`` says.
    checkpoint : path, default=None
        A file that keeps what is done. The same search with the same file goes on where it stopped; other searches
        have entries of their own in it.
    verbose : int, default=0
        1 shows progress and the time left.

    Attributes
    ----------
    best_params_ : dict
        Arguments of `CostSensitiveLinearSVC` at the best point: C, fn_cost, fp_cost, kappa. With a cost for each
        row, fn_cost and fp_cost are factors of those; with ``decision="bayes"`` they are slopes of the classes.
    best_score_ : float
        Mean score of the best point over the folds.
    best_index_ : int
        Its row in `cv_results_`. Of equal scores the first wins.
    cv_results_ : dict of arrays
        ``params``, a ``param_...`` column for each parameter, ``split{i}_test_score``, ``mean_test_score``,
        ``std_test_score``, ``rank_test_score``: ``pandas.DataFrame(cv_results_)`` reads it.
    best_estimator_ : CostSensitiveLinearSVC
        The final model; its fitted attributes are also found on the search itself.
    transformer_ : transformer
        The fitted transformer of the final model, where one was given.
    threshold_ : float
        Subtracted from the score of the final model by `decision_function`; 0 for ``"zero"``, nan for ``"bayes"``.
    held_out_scores_ : ndarray of shape (n_samples,)
        Scores f of the best point for each row, positive for ``classes_[1]``, by machines that have not seen the row;
        nan for rows that no fold holds out. For pictures and intervals: they are not less `threshold_`.
    n_splits_ : int
        Number of folds.
    n_fits_ : int
        Number of machines in each fold; points with different kappas share them.
    interrupted_ : bool
        Whether Ctrl-C ended the search before all points were scored.
    classes_, coef_, intercept_, C_, solver_, n_iter_, fit_status_
        As in `CostSensitiveLinearSVC`.
    primal_objective_, dual_objective_, dual_gap_ : float
        The certificate of the final model.

    Notes
    -----
    Where the best point lies at the end of an automatic axis of C, and is better than those inside by more than a
    standard error over the folds, the grid grows there, up to three times and at most 64-fold, and a warning says so if
    that was not enough.

    Ctrl-C ends the search early: points with all folds done are kept, a warning says how many, and the best of them is
    trained. All values of C are trained together, fold by fold, so that none is complete before the last fold. With a
    `checkpoint` nothing is lost.

    A feature map is a transformer: ``transformer=Nystroem(n_components=300)`` makes it a search for a kernel machine
    with many rows, approximately; see `feature_map_gap`.

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
    >>> refused = search.predict(X, fn_cost=amount)
    >>> bool(amount[refused].mean() > amount.mean())
    True
    """

    # What kernel machines have a choice of.
    kernel, gammas, degree, coef0 = Linear.name, 1, 3, 0.0
    grid, stages, racing, cache_size = SHARED, False, False, "auto"
    _checked = ("tol", "verbose")

    def __init__(
        self,
        *,
        Cs: Any = 10,
        fn_costs: Any = None,
        fp_costs: Any = None,
        kappas: Any = None,
        fn_cost: float = 1.0,
        fp_cost: float = 1.0,
        scoring: Any = "risk",
        decision: str = "auto",
        cv: Any = None,
        transformer: Any = None,
        grow: bool = True,
        pos_label: Any = None,
        tol: float = 1e-6,
        refit: bool = True,
        n_jobs: int | None = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        self.Cs = Cs
        self.fn_costs = fn_costs
        self.fp_costs = fp_costs
        self.kappas = kappas
        self.fn_cost = fn_cost
        self.fp_cost = fp_cost
        self.scoring = scoring
        self.decision = decision
        self.cv = cv
        self.transformer = transformer
        self.grow = grow
        self.pos_label = pos_label
        self.tol = tol
        self.refit = refit
        self.n_jobs = n_jobs
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
    ) -> CostSensitiveLinearSVCCV:
        """Search, and train the best point on all rows; a failed fit leaves the estimator as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows. With a transformer whatever that takes: a data frame with gaps and words, for example.
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
        CostSensitiveLinearSVCCV
            The estimator itself.
        """
        self._select(X, y, fn_cost, fp_cost, sample_weight, groups)
        return self

    @property
    def _make_worker(self) -> MakeWorker:
        return make_linear_worker

    def _final_model(self) -> CostSensitiveLinearSVC:
        return CostSensitiveLinearSVC(**self.best_params_, pos_label=self._positive_class.label, tol=self.tol)
