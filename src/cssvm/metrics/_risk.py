"""Cost-sensitive zero-one risk: of decisions, of a threshold on scores, and of the best threshold.

    R = P_1 C_1 P_FN + P_{-1} C_{-1} P_FP

with the priors P, the costs C of a miss and of a false alarm, and the rates P_FN and P_FP of misses and false alarms.
With a cost for every row it is the mean cost,

    R = sum over wrong rows of s_i / sum_i w_i,    s_i = w_i cost_i,

which is the same for class-dependent costs and the priors of the sample; s_i is the *stake* of row i. Another prior
p of the target multiplies the weighted costs by p / (share of the target), those of the other class by (1 - p) / (its share).
Normalised, R is divided by what being wrong on every row costs, P_1 C_1 + P_{-1} C_{-1}, and lies in [0, 1].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.decision import cheapest_threshold
from .._core.samples import Samples
from .._core.types import Mask, Vector, is_number
from ._scored import RankedMetric, ScoredSamples


class MinimumRisk(NamedTuple):
    """The smallest risk over all thresholds, the threshold that reaches it and its two error rates."""

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
    """Cost-sensitive risk of decisions: ``P_1 C_1 P_FN + P_{-1} C_{-1} P_FP``.

    With a cost for every row it is the mean cost per row. Smaller is better.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes. A sample of one class is accepted unless `prior` is given.
    y_pred : array-like of shape (n_samples,)
        Decisions, with the labels of `y_true`.
    fn_cost : float or array-like of shape (n_samples,), default=1.0
        Cost of missing each row of the target class; entries on other rows are ignored. A pandas Series is matched
        to `y_true` by index where both have one.
    fp_cost : float or array-like of shape (n_samples,), default=1.0
        Cost of a false alarm on each row of the other class, the rest ignored.
    pos_label : label, default=None
        The target class, the one that `fn_cost` is about; None means the larger of the two labels. It must be given
        where labels are words and costs differ.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1. Rows of weight zero do not count.
    prior : float, default=None
        Share P_1 of the target class where the decisions will be made. None: its weighted share in the sample.
    normalize : bool, default=False
        Whether to divide by P_1 C_1 + P_{-1} C_{-1}, the risk of being always wrong.

    Returns
    -------
    float
        The risk: a cost per row, or a number in [0, 1] if normalised.

    Examples
    --------
    Accepting every applicant of 300 bad and 700 good ones, where a bad one who is accepted costs 5 and a good one
    who is refused 1; and refusing them all:

    >>> from cssvm.metrics import cost_risk
    >>> y = ["bad"] * 300 + ["good"] * 700
    >>> cost_risk(y, ["good"] * 1000, fn_cost=5, fp_cost=1, pos_label="bad")
    1.5
    >>> cost_risk(y, ["bad"] * 1000, fn_cost=5, fp_cost=1, pos_label="bad")
    0.7
    """
    sample = Samples.read(
        y_true, y_pred, pos_label=pos_label, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight
    )
    sample, accepted = sample.present(sample.decisions(y_pred))
    return float(risk_of_decisions(sample, accepted, prior=prior, normalize=normalize))


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
    """Smallest cost-sensitive risk of the decisions "target if score >= threshold", over all thresholds.

    It is exact: the risk changes only at the scores, and all of them are looked at after one sort.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes, both present.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the positive class, or what `positive_class_scores` returns.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
        Costs of a false negative and of a false positive, as in `cost_risk`.
    pos_label : label, default=None
        The positive class. If None, the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.
    prior : float, default=None
        Share of the target class; None: its weighted share in the sample.
    normalize : bool, default=False
        Whether to divide by the risk of being always wrong.

    Returns
    -------
    MinimumRisk
        Named tuple ``(risk, threshold, fpr, fnr)``. `cost_risk` of the decisions at `threshold` is `risk`. The
        threshold is half-way between two neighbouring scores, ``inf`` to accept nobody or ``-inf`` to accept
        everybody. Among thresholds of equal risk it is the highest, which has the fewest false alarms. The rates
        are weighted.

    Examples
    --------
    >>> from cssvm.metrics import min_cost_risk
    >>> y, score = [0, 0, 1, 0, 1], [0.1, 0.2, 0.4, 0.6, 0.8]
    >>> best = min_cost_risk(y, score)
    >>> print(f"{best.risk:.1f} at {best.threshold:.1f}, fpr {best.fpr:.2f}, fnr {best.fnr:.2f}")
    0.2 at 0.7, fpr 0.00, fnr 0.50
    >>> best = min_cost_risk(y, score, fn_cost=5)
    >>> print(f"{best.risk:.1f} at {best.threshold:.1f}, fpr {best.fpr:.2f}, fnr {best.fnr:.2f}")
    0.2 at 0.3, fpr 0.33, fnr 0.00
    """
    rows = ScoredSamples.from_labels(
        y_true, y_score, fn_cost=fn_cost, fp_cost=fp_cost, pos_label=pos_label, sample_weight=sample_weight
    )
    return minimum_risk(rows, prior=prior, normalize=normalize)


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
    """Cost-sensitive risk of the decisions "target if score >= threshold", at each of the given thresholds.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes. A sample of one class is accepted unless `prior` is given.
    y_score : array-like of shape (n_samples,)
        Scores, higher for the positive class, or what `positive_class_scores` returns.
    thresholds : float or array-like
        Thresholds, of any shape and order; infinite ones are allowed.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
        Costs of a false negative and of a false positive, as in `cost_risk`.
    pos_label : label, default=None
        The positive class. If None, the larger of the two labels.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Sample weights. If None, all weights are 1.
    prior : float, default=None
        Share of the target class; None: its weighted share in the sample.
    normalize : bool, default=False
        Whether to divide by the risk of being always wrong.

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
    rows = ScoredSamples.from_labels(
        y_true, y_score, fn_cost=fn_cost, fp_cost=fp_cost, pos_label=pos_label, sample_weight=sample_weight
    )
    return risk_at(rows, np.asarray(thresholds, dtype=np.float64), prior=prior, normalize=normalize)


def risk_of_decisions(
    sample: Samples, accepted: Mask, *, prior: float | None = None, normalize: bool = False
) -> Vector:
    """Risk (...,) of decisions (..., n_samples), of one machine or of many: `cost_risk` of checked rows."""
    weighted_costs, total = _checked_weighted_costs(sample, prior, normalize)
    return (accepted != sample.positive) @ weighted_costs / total


def minimum_risk(rows: ScoredSamples, *, prior: float | None = None, normalize: bool = False) -> MinimumRisk:
    """`min_cost_risk` of checked rows."""
    sample = rows.samples
    sample.check_both_classes_weighted("the best threshold")
    weighted_costs, _ = _checked_weighted_costs(sample, prior, normalize)
    threshold = cheapest_threshold(rows.ranking, rows.ranked(sample.positive), rows.ranked(weighted_costs))

    # Summed again as `cost_risk` does it, so that the two agree to the last digit.
    accepted = rows.scores >= threshold
    risk = risk_of_decisions(sample, accepted, prior=prior, normalize=normalize)
    fpr = _share(sample.weights, accepted, among=~sample.positive)
    fnr = _share(sample.weights, ~accepted, among=sample.positive)
    return MinimumRisk(float(risk), threshold, fpr, fnr)


def risk_at(rows: ScoredSamples, thresholds: Vector, *, prior: float | None = None, normalize: bool = False) -> Vector:
    """`expected_cost_at` of checked rows, in the shape of `thresholds`."""
    if np.isnan(thresholds).any():
        raise ValueError("thresholds must be numbers or infinite; got nan. Drop the missing thresholds.")
    weighted_costs, total = _checked_weighted_costs(rows.samples, prior, normalize)
    lost = rows.ranking.cost_at_cuts(rows.ranked(rows.samples.positive), rows.ranked(weighted_costs))
    return lost[rows.ranking.cut(thresholds)] / total


def ranked_min_risk(rows: ScoredSamples, *, prior: float | None = None, normalize: bool = False) -> RankedMetric:
    """The risk of `minimum_risk` as a function of the weights."""
    rows.samples.check_both_classes_weighted("the best threshold")
    _check_prior(rows.samples, prior)
    positive, cost = rows.ranked(rows.samples.positive), rows.ranked(rows.samples.cost)

    def values(weights: Vector) -> Vector:
        weighted_costs, total = weighted_costs_and_total(positive, weights, cost, prior, normalize)
        return rows.ranking.cost_at_cuts(positive, weighted_costs).min(axis=-1) / total

    return RankedMetric(rows, values)


def weighted_costs_and_total(
    positive: Mask, weights: Vector, cost: Vector, prior: float | None, normalize: bool
) -> tuple[Vector, Vector]:
    """Stakes s (..., n) and total T (...,) such that the risk is (sum of s over the wrong rows) / T.

    Dividing last keeps whole numbers whole: costs and weights that are integers give exact ties.
    """
    if prior is None:
        weighted_costs, total = weights * cost, weights.sum(axis=-1)
    else:
        targets = np.where(positive, weights, 0.0).sum(axis=-1, keepdims=True)
        others = np.where(positive, 0.0, weights).sum(axis=-1, keepdims=True)
        weighted_costs = weights * cost * np.where(positive, prior / targets, (1.0 - prior) / others)
        total = np.ones(weights.shape[:-1])
    return weighted_costs, weighted_costs.sum(axis=-1) if normalize else total


def _checked_weighted_costs(sample: Samples, prior: float | None, normalize: bool) -> tuple[Vector, Vector]:
    """`weighted_costs_and_total` of a sample."""
    _check_prior(sample, prior)
    return weighted_costs_and_total(sample.positive, sample.weights, sample.cost, prior, normalize)


def _share(weights: Vector, rows: Mask, *, among: Mask) -> float:
    """Weight of `rows` within the rows `among`, relative to the weight of all those."""
    return float(weights[rows & among].sum() / weights[among].sum())


def _check_prior(sample: Samples, prior: Any) -> None:
    """Refuse a prior that is no probability, or that speaks of a class without rows."""
    if prior is None:
        return
    if not is_number(prior) or not 0 <= prior <= 1:
        raise ValueError(
            f"prior must be the share of the target class, between 0 and 1, or None; got prior={prior!r}. "
            "Pass for example prior=0.01 if one row in a hundred is of the target class."
        )
    sample.check_both_classes_weighted(f"prior={prior!r}")
