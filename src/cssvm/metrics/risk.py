"""Cost-sensitive zero-one risk: of decisions, of a threshold on scores, and of the best threshold.

    R = P_1 C_1 P_FN + P_{-1} C_{-1} P_FP

with the priors P, the costs C of a miss and of a false alarm, and the rates P_FN and P_FP of misses and false alarms.
With a cost for every row it is the mean cost,

    R = sum over wrong rows of s_i / sum_i w_i,    s_i = w_i cost_i,

which is the same for class-dependent costs and the priors of the sample; s_i is the *stake* of row i. Another prior
p of the target multiplies the stakes by p / (share of the target), those of the other class by (1 - p) / (its share).
Normalised, R is divided by what being wrong on every row costs, P_1 C_1 + P_{-1} C_{-1}, and lies in [0, 1].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._types import Mask, Vector, is_number
from .ranking import RankedMetric, Ranking
from .sample import Sample

# Risks this close, relative to the cost of being wrong everywhere, are equal: sums in another order round differently.
RISK_TIE = 1e-12


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
    pos_label: Any = 1,
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
    pos_label : label, default=1
        The target class, the one that `fn_cost` is about.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weight of each row; None means 1. Rows of weight zero do not count.
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
    sample, cost = _priced(y_true, fn_cost, fp_cost, pos_label, sample_weight, prior)
    wrong = sample.decisions(y_pred) != sample.target
    stakes, total = stakes_and_total(sample.target, sample.weight, cost, prior, normalize)
    return float(stakes[wrong].sum() / total)


def min_cost_risk(
    y_true: Any,
    y_score: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = 1,
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
        Scores, higher for the target class.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
        Costs of a miss and of a false alarm, as in `cost_risk`.
    pos_label : label, default=1
        The target class.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weight of each row; None means 1.
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
    sample, cost = _priced(y_true, fn_cost, fp_cost, pos_label, sample_weight, prior)
    sample.check_both_classes("the best threshold")
    scores = sample.scores(y_score)
    stakes, total = stakes_and_total(sample.target, sample.weight, cost, prior, normalize)

    ranking = Ranking.of(scores)
    risks = lost_stakes(ranking, sample.target[ranking.order], stakes[ranking.order])
    best = np.argmax(risks <= risks.min() + RISK_TIE * stakes.sum())
    threshold = ranking.threshold(int(best))

    # Summed again as `cost_risk` does it, so that the two agree to the last digit.
    accepted = scores >= threshold
    risk = stakes[accepted != sample.target].sum() / total
    fpr = _share(sample.weight, accepted, among=~sample.target)
    fnr = _share(sample.weight, ~accepted, among=sample.target)
    return MinimumRisk(float(risk), threshold, fpr, fnr)


def expected_cost_at(
    y_true: Any,
    y_score: Any,
    thresholds: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = 1,
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
        Scores, higher for the target class.
    thresholds : float or array-like
        Thresholds, of any shape and order; infinite ones are allowed.
    fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
        Costs of a miss and of a false alarm, as in `cost_risk`.
    pos_label : label, default=1
        The target class.
    sample_weight : float or array-like of shape (n_samples,), default=None
        Weight of each row; None means 1.
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
    levels = np.asarray(thresholds, dtype=np.float64)
    if np.isnan(levels).any():
        raise ValueError("thresholds must be numbers or infinite; got nan. Drop the missing thresholds.")
    sample, cost = _priced(y_true, fn_cost, fp_cost, pos_label, sample_weight, prior)
    ranking = Ranking.of(sample.scores(y_score))
    stakes, total = stakes_and_total(sample.target, sample.weight, cost, prior, normalize)
    risks = lost_stakes(ranking, sample.target[ranking.order], stakes[ranking.order])
    return risks[ranking.cut(levels)] / total


def ranked_min_risk(
    y_true: Any,
    y_score: Any,
    *,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    pos_label: Any = 1,
    sample_weight: Any = None,
    prior: float | None = None,
    normalize: bool = False,
) -> RankedMetric:
    """The risk of `min_cost_risk` as a function of the weights."""
    sample, cost = _priced(y_true, fn_cost, fp_cost, pos_label, sample_weight, prior)
    sample.check_both_classes("the best threshold")
    ranking = Ranking.of(sample.scores(y_score))
    target, cost = sample.target[ranking.order], cost[ranking.order]

    def values(weights: Vector) -> Vector:
        stakes, total = stakes_and_total(target, weights, cost, prior, normalize)
        return lost_stakes(ranking, target, stakes).min(axis=-1) / total

    return RankedMetric(sample, ranking, values)


def stakes_and_total(
    target: Mask, weights: Vector, cost: Vector, prior: float | None, normalize: bool
) -> tuple[Vector, Vector]:
    """Stakes s (..., n) and total T (...,) such that the risk is (sum of s over the wrong rows) / T.

    Dividing last keeps whole numbers whole: costs and weights that are integers give exact ties.
    """
    if prior is None:
        stakes, total = weights * cost, weights.sum(axis=-1)
    else:
        positive = np.where(target, weights, 0.0).sum(axis=-1, keepdims=True)
        negative = np.where(target, 0.0, weights).sum(axis=-1, keepdims=True)
        stakes = weights * cost * np.where(target, prior / positive, (1.0 - prior) / negative)
        total = np.ones(weights.shape[:-1])
    return stakes, stakes.sum(axis=-1) if normalize else total


def lost_stakes(ranking: Ranking, target: Mask, stakes: Vector) -> Vector:
    """Sum of the stakes of the wrong rows at each cut, (..., n_cuts): missed targets and accepted others.

    Accepting a target takes its stake off the sum, accepting another row adds its stake.
    """
    missed_by_all = np.where(target, stakes, 0.0).sum(axis=-1, keepdims=True)
    return missed_by_all + ranking.accepted(np.where(target, -stakes, stakes))


def _priced(
    y_true: Any, fn_cost: Any, fp_cost: Any, pos_label: Any, sample_weight: Any, prior: Any
) -> tuple[Sample, Vector]:
    """The checked rows, and what a wrong decision costs on each."""
    sample = Sample.read(y_true, pos_label=pos_label, sample_weight=sample_weight)
    _check_prior(sample, prior)
    return sample, sample.costs(fn_cost, fp_cost)


def _share(weight: Vector, rows: Mask, *, among: Mask) -> float:
    """Weight of `rows` within the rows `among`, relative to the weight of all those."""
    return float(weight[rows & among].sum() / weight[among].sum())


def _check_prior(sample: Sample, prior: Any) -> None:
    """Refuse a prior that is no probability, or that speaks of a class without rows."""
    if prior is None:
        return
    if not is_number(prior) or not 0 <= prior <= 1:
        raise ValueError(
            f"prior must be the share of the target class, between 0 and 1, or None; got prior={prior!r}. "
            "Pass for example prior=0.01 if one row in a hundred is of the target class."
        )
    sample.check_both_classes(f"prior={prior!r}")
