"""What searches do: read the rows, try the points of a grid on folds of them, train the best one on all."""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._core.alignment import align_to_samples
from .._core.classifier import unchanged_on_failure
from .._core.samples import Samples
from .._core.types import Vector, is_number
from .._kernels import is_pairwise, kernel_class
from .._runtime.backends import in_this_process
from .._runtime.interrupts import SearchInterruptedWarning
from .._svm.inputs import raw_data, training_data
from .._svm.parameters import CHECKS, check_parameters
from ..metrics._thresholds import score_tie
from .axes import Axes
from .decision import BAYES, LEAST_ODDS_RATIO, ByProbability, balanced, check_decision
from .engine import MakeWorker
from .features import Features
from .folds import make_folds
from .growth import OF_POINT
from .outcome import Outcome
from .process import Search
from .results import results_table
from .scoring import make_scoring
from .searched import SearchedClassifier

# A class with fewer samples than this does not tell one point from another.
FEW = 10

# Of the final model's fitted attributes, those that describe the X and y given to the search, and one it has itself.
OWN_ATTRIBUTES = ("classes_", "n_features_in_", "feature_names_in_", "coef_")


class SearchingClassifier(SearchedClassifier):
    """A classifier whose parameters are searched for; a subclass says which machines, and which points of them."""

    cv: Any
    n_jobs: int | None
    checkpoint: Any
    grow: bool
    stages: bool
    # Parameters whose checks are in `CHECKS`.
    _checked: ClassVar[tuple[str, ...]]

    @property
    def _make_worker(self) -> MakeWorker | None:
        """How the machines of a fold are trained; None for kernel machines."""
        return None

    def _final_model(self) -> Any:
        """The estimator of the best point, to be fitted on all rows."""
        raise NotImplementedError

    def _select(self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any, groups: Any) -> None:
        """Search, and train the best point on all rows; a failure leaves the estimator as it was."""
        with unchanged_on_failure(self), in_this_process():
            X, sample, groups = self._read(X, y, fn_cost, fp_cost, sample_weight, groups)
            decision = check_decision(self.decision, self.scoring)
            scoring = make_scoring(self.scoring, X, sample, decision, score_tie(self.tol))
            ranking = scoring.ranking and not scoring.pooled
            training = balanced(sample) if decision == BAYES else sample
            folds = make_folds(self.cv, X, training, ranking=ranking, groups=groups, decision=decision)
            features = Features(X, sample.labels, self.transformer, sample.counted_rows)
            axes = Axes.of(self, features.whole[0], training)
            search = Search(self, features, sample, training, folds, scoring, self._make_worker)
            if self.stages:
                axes, self.first_stage_ = search.with_first_kernel(axes)
            found = search.outcome(axes)
            self.n_splits_, self.n_fits_, self.interrupted_ = len(folds), found.n_machines, found.interrupted
            self._warn(found)
            if len(found.points) > 1:
                _warn_of_few(sample)
            self.cv_results_, self.best_index_ = results_table(found.points, found.values)
            self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
            self.best_params_ = self.cv_results_["params"][self.best_index_]
            if self.refit:
                scores = found.held_out_scores(self.best_index_)
                self._learn_decision(scores, folds, sample)
                self._warn_of_constant(scores)
                self._train_best(features, training)

    def _read(
        self, X: Any, y: Any, fn_cost: Any, fp_cost: Any, sample_weight: Any, groups: Any
    ) -> tuple[Any, Samples, Any]:
        """Check parameters and data; X, its rows and their groups."""
        check_parameters(self, {name: CHECKS[name] for name in self._checked})
        if self.n_jobs is not None and (not is_number(self.n_jobs) or self.n_jobs % 1 != 0 or self.n_jobs == 0):
            raise ValueError(f"n_jobs must be None or an integer other than 0; got n_jobs={self.n_jobs!r}.")
        pairwise = is_pairwise(self.kernel)
        if pairwise and self.transformer is not None:
            raise ValueError(f'transformer must be None with kernel="{self.kernel}": a kernel matrix has no features.')
        given = align_to_samples(X, y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
        groups = align_to_samples(X, y, groups=groups)["groups"]
        if self.transformer is None:
            X, y = training_data(self, X, y, pairwise=pairwise)
            kernel_class(self.kernel).check_training_matrix(X)
        else:
            X, y = raw_data(self, X, y)
        sample = self._read_sample(y, **given)
        for name in ("fn_costs", "fp_costs", "kappas"):
            if getattr(self, name) is not None:
                sample.target.require_pos_label_for(f"{name}={reprlib.repr(getattr(self, name))}")
        return X, sample, groups

    def _warn(self, found: Outcome) -> None:
        if found.interrupted:
            warnings.warn(
                f"The search was interrupted: {found.n_complete} of {len(found.values)} points were scored on all "
                "folds; the best of them is used." + (" Call fit again to go on." if self.checkpoint else ""),
                SearchInterruptedWarning,
                stacklevel=4,
            )
        elif not found.n_complete:
            warnings.warn(
                "No point has a score on all folds, so the first one is used: scoring returned NaN. Check the scorer, "
                "or use stratified folds.",
                UserWarning,
                stacklevel=4,
            )
        if found.edge is not None:
            name, best = found.edge.name, found.points[found.best]
            warnings.warn(
                f"The best point lies at the edge of the grid, {name}={OF_POINT[name](best):.3g}"
                + (", after the grid has grown in that direction" if self.grow else "")
                + f". Pass {name}s of your own that go further, or scale the features.",
                UserWarning,
                stacklevel=4,
            )
        if found.n_failed:
            scale = "scale the features, for example with transformer=StandardScaler(), or "
            warnings.warn(
                f"{found.n_failed} of the search's {found.n_machines * self.n_splits_} fits did not converge, so that "
                "their scores are approximate. That matters if the best C, "
                f"{found.points[found.best].params['C']:.3g}, is one of the largest: then "
                f"{scale * (self.transformer is None)}pass smaller Cs or a larger tol.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _warn_of_constant(self, scores: Sequence[Vector]) -> None:
        """Warn of probabilities that do not vary."""
        if isinstance(self._decision, ByProbability) and not self._decision.varies(np.concatenate(scores)):
            warnings.warn(
                "The probabilities of the held-out samples hardly vary: their odds differ by less than "
                f"{LEAST_ODDS_RATIO - 1:.0%}, so that the costs alone decide. Try other features or kernels, scale the "
                "features (for example with transformer=StandardScaler()), or pass other Cs and gammas.",
                UserWarning,
                stacklevel=4,
            )

    def _train_best(self, features: Features, sample: Samples) -> None:
        """Train the best point on all rows, and show its fitted attributes as our own."""
        X, fitted = features.whole
        self.__dict__.pop("transformer_", None)  # that of an earlier fit
        if fitted is not None:
            self.transformer_ = fitted
        best = self._final_model()
        priced = sample.priced(self.best_params_["fn_cost"], self.best_params_["fp_cost"])
        self.best_estimator_ = best.fit(
            X, sample.labels, fn_cost=priced.fn_cost, fp_cost=priced.fp_cost, sample_weight=sample.weights
        )
        for name, value in vars(best).items():
            if name.endswith("_") and name not in OWN_ATTRIBUTES:
                setattr(self, name, value)


def _warn_of_few(sample: Samples) -> None:
    """Warn of a class with so few samples of positive weight that the selection is chance."""
    positive = sample.positive[sample.counted()]
    rarer = int(min(positive.sum(), (~positive).sum()))
    if rarer < FEW:
        warnings.warn(
            f"The rarer class has {rarer} samples, fewer than {FEW}: which parameters score best is mostly chance. Add "
            "samples of it, or set the parameters yourself and pass one value of each.",
            UserWarning,
            stacklevel=4,
        )
