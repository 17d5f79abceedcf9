"""Cost-sensitive zero-one risk: of predictions, of a threshold on scores, and of the best threshold.

    R = P_1 C_1 FNR + P_{-1} C_{-1} FPR

with the priors P, the costs C of a false negative and of a false positive, and the rates of both. With a cost for every
sample it is the mean cost,

    R = sum over wrong predictions of s_i / sum_i w_i,    s_i = w_i cost_i.

Another prior p of the positive class multiplies its weighted costs s_i by p / (its share), those of the negative class
by (1 - p) / (its share). Normalised, R is divided by the cost of being wrong on every sample and lies in [0, 1].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.decision import cheapest_threshold
from .._core.samples import Samples
from .._core.types import Mask, Vector
from .._core.validation import is_number
from ._scored import RankedMetric, ScoredSamples


class MinimumRisk(NamedTuple):
    """The smallest risk over all thresholds, as `min_cost_risk` returns it."""

    risk: float
    threshold: float
    fpr: float
    fnr: float


def cost_risk(
    y_true: Any,
    y_pred: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    prior: float | None = None,
    normalize: bool = False,
) -> float:
    """Cost-sensitive risk of predictions: ``P_1 C_1 FNR + P_{-1} C_{-1} FPR``. Lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, or of one if `prior` is None.
    y_pred : array-like of shape (n_samples,)
        Predictions, with the labels of `y_true`.
    fn_cost : float or array-like of shape (n_samples,), default=1.0
        Cost of a false negative; entries of samples of the negative class are ignored. A pandas Series is matched to
        `y_true` by index if both have one.
    fp_cost : float or array-like of shape (n_samples,), default=1.0
        Cost of a false positive; entries of samples of the positive class are ignored.
    pos_label : label, default=None
        The positive class, which `fn_cost` refers to. If None, the larger of the two labels. Required if the labels are
        strings and ``fn_cost != fp_cost``.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1. Samples of weight zero are left out.
    prior : float, default=None
        Share P_1 of the positive class where the model will be used. If None, its weighted share among the samples.
    normalize : bool, default=False
        Whether to divide by P_1 C_1 + P_{-1} C_{-1}, the risk of being wrong on every sample.

    Returns
    -------
    float
        The mean cost per sample, or a number in [0, 1] if normalised.

    Examples
    --------
    Granting or refusing a loan to all of 300 bad and 700 good applicants; a loan to a bad one costs 5, turning down a
    good one 1:

    >>> from cssvm.metrics import cost_risk
    >>> y = ["bad"] * 300 + ["good"] * 700
    >>> cost_risk(y, ["good"] * 1000, fn_cost=5, fp_cost=1, pos_label="bad")
    1.5
    >>> cost_risk(y, ["bad"] * 1000, fn_cost=5, fp_cost=1, pos_label="bad")
    0.7
    """
    samples = Samples.from_labels(
        y_true, y_pred, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight
    )
    samples, predicted = samples.drop_zero_weights(samples.predicted_positive(y_pred))
    return float(risk_of_predictions(samples, predicted, prior=prior, normalize=normalize))


def min_cost_risk(
    y_true: Any,
    y_score: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    prior: float | None = None,
    normalize: bool = False,
) -> MinimumRisk:
    """Smallest cost-sensitive risk of the predictions "positive if score >= threshold". Lower is better.

    The minimum over all thresholds is exact: the risk changes only at the scores, which are sorted once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the positive class, or what `positive_class_scores` returns.
    fn_cost, fp_cost, pos_label, sample_weight, prior, normalize
        As in `cost_risk`.

    Returns
    -------
    MinimumRisk
        Named tuple ``(risk, threshold, fpr, fnr)`` with the weighted false positive and false negative rates. The
        threshold is half-way between two neighbouring scores, ``inf`` to predict all samples negative or ``-inf`` to
        predict all positive. Among thresholds of equal risk it is the highest, which has the fewest false positives.

    Examples
    --------
    >>> from cssvm.metrics import min_cost_risk
    >>> y, score = [0, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.6, 0.8]
    >>> best = min_cost_risk(y, score, fn_cost=5)
    >>> print(f"{best.risk:.1f} at {best.threshold:.1f}, fpr {best.fpr:.2f}, fnr {best.fnr:.2f}")
    0.2 at 0.3, fpr 0.33, fnr 0.00
    """
    scored = ScoredSamples.from_labels(
        y_true, y_score, fn_cost=fn_cost, fp_cost=fp_cost, pos_label=pos_label, sample_weight=sample_weight
    )
    return minimum_risk(scored, prior=prior, normalize=normalize)


def expected_cost_at(
    y_true: Any,
    y_score: Any,
    thresholds: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    prior: float | None = None,
    normalize: bool = False,
) -> Vector:
    """Cost-sensitive risk of the predictions "positive if score >= threshold", by threshold. Lower is better.

    Parameters
    ----------
    y_true, y_score
        As in `min_cost_risk`; labels may be of one class if `prior` is None.
    thresholds : float or array-like
        Thresholds, of any shape and order; infinite ones are allowed.
    fn_cost, fp_cost, pos_label, sample_weight, prior, normalize
        As in `cost_risk`.

    Returns
    -------
    ndarray of the shape of `thresholds`
        The risk at each threshold.

    Examples
    --------
    >>> from cssvm.metrics import expected_cost_at
    >>> expected_cost_at([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], [0.0, 0.5, 1.0], fn_cost=3)
    array([0.5, 1. , 1.5])
    """
    scored = ScoredSamples.from_labels(
        y_true, y_score, fn_cost=fn_cost, fp_cost=fp_cost, pos_label=pos_label, sample_weight=sample_weight
    )
    return risk_at(scored, np.asarray(thresholds, dtype=np.float64), prior=prior, normalize=normalize)


def risk_of_predictions(
    samples: Samples, predicted: Mask, *, prior: float | None = None, normalize: bool = False
) -> Vector:
    """Risk (...,) of predictions (..., n_samples), of one model or of many: `cost_risk` of checked samples."""
    weighted_costs, total = _checked_weighted_costs(samples, prior, normalize)
    return (predicted != samples.positive) @ weighted_costs / total


def minimum_risk(scored: ScoredSamples, *, prior: float | None = None, normalize: bool = False) -> MinimumRisk:
    """`min_cost_risk` of scored samples."""
    samples = scored.samples
    samples.check_both_classes_weighted("the best threshold")
    weighted_costs, _ = _checked_weighted_costs(samples, prior, normalize)
    threshold = cheapest_threshold(scored.ranking, scored.ranked(samples.positive), scored.ranked(weighted_costs))

    # Summed again as `cost_risk` does it, so that the two agree to the last digit.
    predicted = scored.scores >= threshold
    risk = risk_of_predictions(samples, predicted, prior=prior, normalize=normalize)
    positive, weights = samples.positive, samples.weights
    fpr = weights[predicted & ~positive].sum() / weights[~positive].sum()
    fnr = weights[~predicted & positive].sum() / weights[positive].sum()
    return MinimumRisk(float(risk), threshold, float(fpr), float(fnr))


def risk_at(
    scored: ScoredSamples, thresholds: Vector, *, prior: float | None = None, normalize: bool = False
) -> Vector:
    """`expected_cost_at` of scored samples, in the shape of `thresholds`."""
    if np.isnan(thresholds).any():
        raise ValueError("thresholds must be numbers or infinite; got nan. Drop the missing thresholds.")
    weighted_costs, total = _checked_weighted_costs(scored.samples, prior, normalize)
    cost = scored.ranking.cost_at_cuts(scored.ranked(scored.positive), scored.ranked(weighted_costs))
    return cost[scored.ranking.cut(thresholds)] / total


def ranked_min_risk(scored: ScoredSamples, *, prior: float | None = None, normalize: bool = False) -> RankedMetric:
    """The risk of `minimum_risk` as a function of the weights."""
    scored.samples.check_both_classes_weighted("the best threshold")
    _check_prior(scored.samples, prior)
    positive, cost = scored.ranked(scored.positive), scored.ranked(scored.samples.cost)

    def values(weights: Vector) -> Vector:
        weighted_costs, total = _weighted_costs_and_total(positive, weights, cost, prior, normalize)
        return scored.ranking.cost_at_cuts(positive, weighted_costs).min(axis=-1) / total

    return RankedMetric(scored, values)


def _weighted_costs_and_total(
    positive: Mask, weights: Vector, cost: Vector, prior: float | None, normalize: bool
) -> tuple[Vector, Vector]:
    """Weighted costs s (..., n) and total T (...,): the risk is (sum of s over wrong predictions) / T.

    Dividing last keeps whole numbers whole: costs and weights that are integers give exact ties.
    """
    if prior is None:
        weighted_costs, total = weights * cost, weights.sum(axis=-1)
    else:
        of_positive = np.where(positive, weights, 0.0).sum(axis=-1, keepdims=True)
        of_negative = np.where(positive, 0.0, weights).sum(axis=-1, keepdims=True)
        weighted_costs = weights * cost * np.where(positive, prior / of_positive, (1.0 - prior) / of_negative)
        total = np.ones(weights.shape[:-1])
    return weighted_costs, weighted_costs.sum(axis=-1) if normalize else total


def _checked_weighted_costs(samples: Samples, prior: float | None, normalize: bool) -> tuple[Vector, Vector]:
    """`_weighted_costs_and_total` of samples."""
    _check_prior(samples, prior)
    return _weighted_costs_and_total(samples.positive, samples.weights, samples.cost, prior, normalize)


def _check_prior(samples: Samples, prior: Any) -> None:
    """Raise if the prior is not a probability, or refers to a class without samples."""
    if prior is None:
        return
    if not is_number(prior) or not 0 <= prior <= 1:
        raise ValueError(
            f"prior must be the share of the positive class, between 0 and 1, or None; got prior={prior!r}. "
            "Pass for example prior=0.01 if one sample in a hundred is positive."
        )
    samples.check_both_classes_weighted(f"prior={prior!r}")
