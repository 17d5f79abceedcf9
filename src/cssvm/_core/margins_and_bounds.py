"""Costs given by the user, translated to margins and upper bounds, and to bounds of the signed dual variables.

With y_i = +1 for the positive class, the loss of sample i of weight s_i is

    y_i = +1:   s_i fn_cost_i max(0, 1       - f(x_i))
    y_i = -1:   s_i fp_cost_i max(0, kappa_i + f(x_i))

and the training problem min 1/2 |w|^2 + C sum_i loss_i has the dual

    max sum_i m_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij,   0 <= a_i <= c_i,   sum_i a_i y_i = 0

    y_i = +1:   margin m_i = 1,         upper bound c_i = C s_i fn_cost_i
    y_i = -1:   margin m_i = kappa_i,   upper bound c_i = C s_i fp_cost_i

or, in the signed variables beta_i = y_i a_i that the solver works with,

    y_i = +1:   linear term p_i =  m_i,   bounds [0, c_i]
    y_i = -1:   linear term p_i = -m_i,   bounds [-c_i, 0]

This module is the only place that knows these tables: below it, only a linear term and bounds exist. Values are checked
sample by sample, so that a fold or a partition can be checked alone; `check_nonzero_*` need all samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .types import Mask, Vector
from .validation import as_floats, check_sample_values, check_some_positive, is_number

TIED = "tied"
SCALE = "scale"

# Of all upper bounds: the objective is a sum of them times decision values, and must be a number.
LARGEST_TOTAL = 1e150

OF_POSITIVE, OF_NEGATIVE = " of the positive class", " of the negative class"


def paper_costs(C1: Any, C_minus1: Any) -> dict[str, Any]:
    """Slopes and margin of the cost-sensitive hinge loss with the costs C_1 and C_{-1}, of the classes or per sample.

    The loss is ``C1 max(0, 1 - f)`` for y = +1 and ``max(0, 1 + (2 C_minus1 - 1) f)`` for y = -1, hence::

        fn_cost = C1,    fp_cost = 2 C_minus1 - 1,    kappa = 1 / (2 C_minus1 - 1).

    Parameters
    ----------
    C1 : float or array-like
        Cost C_1 > 0 of a false negative; an array holds one per sample.
    C_minus1 : float or array-like
        Cost C_{-1} > 1/2 of a false positive, likewise. If it is smaller, divide all costs, C_1 too, by the smallest
        C_{-1}, and multiply C by it.

    Returns
    -------
    dict
        ``fn_cost``, ``fp_cost`` and ``kappa``: numbers for the constructor, arrays for `fit`, in which nan stays nan:
        samples of the other class have no cost.

    Notes
    -----
    The paper states its loss for C_{-1} >= 1 and C_1 >= 2 C_{-1} - 1, where the positive class has the larger margin
    and the steeper loss. Training does not need this condition, and it is not checked.

    Examples
    --------
    >>> from cssvm import CostSensitiveSVC, paper_costs
    >>> paper_costs(4, 1)
    {'fn_cost': 4.0, 'fp_cost': 1.0, 'kappa': 1.0}
    >>> CostSensitiveSVC(**paper_costs(4, 1))
    CostSensitiveSVC(fn_cost=4.0)

    One cost per sample, the example-dependent loss of the paper:

    >>> cost = [1.0, 1.5, 3.0]
    >>> paper_costs(cost, cost)["fp_cost"]
    array([1., 2., 5.])
    """
    fn_cost = _costs_above("C1", C1, 0.0, "Pass the cost of a false negative, for example C1=4.")
    C_minus1 = _costs_above(
        "C_minus1", C_minus1, 0.5, "Divide all costs, C1 too, by the smallest C_minus1 and multiply C by it."
    )
    shapes = {np.shape(cost) for cost in (fn_cost, C_minus1) if np.ndim(cost)}
    if len(shapes) > 1 or any(len(shape) != 1 or shape == (0,) for shape in shapes):
        raise ValueError(
            "C1 and C_minus1 must be numbers, or hold one value per sample, in one dimension and of one length; got "
            f"shapes {np.shape(fn_cost)} and {np.shape(C_minus1)}."
        )
    fp_cost = 2.0 * C_minus1 - 1.0
    return {"fn_cost": fn_cost, "fp_cost": fp_cost, "kappa": 1.0 / fp_cost}


def _costs_above(name: str, value: Any, minimum: float, fix: str) -> Any:
    """A float above the minimum, or an array of them in which nan stands for a sample without such a cost."""
    values = as_floats(name, value, "Pass one number, or one per sample.")
    valid = (values > minimum) & (values < np.inf) | (np.isnan(values) & (values.ndim > 0))
    expected = f"{name} must be a finite number above {minimum:g}"
    if values.ndim == 0 and not (is_number(value) and valid):
        raise ValueError(f"{expected}; got {name}={value!r}. {fix}")
    if not valid.all():
        first = np.argmin(valid)
        raise ValueError(f"{expected} on every sample; got {name}={values.flat[first]} in sample {first}. {fix}")
    return values if values.ndim else float(values)


def is_tied(kappa: Any) -> bool:
    """Whether kappa is to be 1 / fp_cost."""
    return isinstance(kappa, str) and kappa == TIED


def tied_kappa(fp_cost: Any) -> Any:
    """Kappa = 1 / fp_cost, a number or an array; 1 where fp_cost is 0, so that C_i = 0 and no margin is used."""
    fp = np.asarray(fp_cost, dtype=np.float64)
    with np.errstate(over="ignore"):
        kappa = np.divide(1.0, fp, out=np.ones_like(fp), where=fp > 0)
    return kappa if kappa.ndim else float(kappa)


def check_sample_weight(sample_weight: Any, n_samples: int) -> Vector:
    """`sample_weight` as (n_samples,) float64, ones for None; finite and non-negative."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = check_sample_values("sample_weight", sample_weight, n_samples)
    return np.full(n_samples, weights) if weights.ndim == 0 else weights


def check_error_costs(positive: Mask, fn_cost: Any, fp_cost: Any) -> Vector:
    """The cost of a wrong prediction of each sample: fn_cost_i or fp_cost_i, checked on their own class only."""
    fn = check_sample_values("fn_cost", fn_cost, len(positive), on=positive, where=OF_POSITIVE)
    fp = check_sample_values("fp_cost", fp_cost, len(positive), on=~positive, where=OF_NEGATIVE)
    return np.where(positive, fn, fp)


def check_nonzero_weights(weights: Vector) -> None:
    """Raise if no sample has a positive weight."""
    check_some_positive("sample_weight", bool(weights.any()), len(weights))


def check_nonzero_costs(positive: Mask, cost: Vector) -> None:
    """Raise if errors on all samples of a class cost nothing."""
    if cost.all():
        return
    for name, of_class, where in (("fn_cost", positive, OF_POSITIVE), ("fp_cost", ~positive, OF_NEGATIVE)):
        check_some_positive(name, bool(cost[of_class].any()), int(of_class.sum()), where)


class WeightedCostTotals(NamedTuple):
    """The sum of weights and of weighted costs; those of partitions add up.

    relative : sum of weighted cost / `largest` weighted cost, as a sum of costs of 1e300 overflows
    unit_costs : whether each weighted cost is the weight itself
    """

    weights: float
    largest: float
    relative: float
    unit_costs: bool

    @classmethod
    def from_samples(cls, weights: Vector, weighted_costs: Vector) -> WeightedCostTotals:
        """Totals of some samples, (n,) each."""
        largest = float(weighted_costs.max(initial=0.0))
        relative = float((weighted_costs / largest).sum()) if largest > 0.0 else 0.0
        return cls(float(weights.sum()), largest, relative, np.array_equal(weighted_costs, weights))

    def plus(self, other: WeightedCostTotals) -> WeightedCostTotals:
        """Totals of the samples of both."""
        largest = max(self.largest, other.largest)
        relative = sum(each.relative * each.largest / largest if largest > 0.0 else 0.0 for each in (self, other))
        return WeightedCostTotals(self.weights + other.weights, largest, relative, self.unit_costs and other.unit_costs)


def resolve_C(C: Any, totals: WeightedCostTotals) -> float:
    """C as a number: "scale" is 1 / the weighted mean cost, so that the unit of the costs does not matter."""
    if not isinstance(C, str):
        return float(C)
    if not totals.largest > 0.0 or totals.unit_costs:
        return 1.0
    return totals.weights / totals.relative / totals.largest


def margins_and_upper_bounds(
    positive: Mask, weighted_costs: Vector, *, C: float = 1.0, kappa: Any = 1.0, fp_cost: Any = 1.0
) -> tuple[Vector, Vector]:
    """Margins m and upper bounds c (n_samples,) by the table above; fp_cost is read only for kappa "tied"."""
    margins = check_margins(positive, kappa, fp_cost)
    with np.errstate(over="ignore"):
        upper_bounds = C * weighted_costs
        total = upper_bounds.sum()
    if not (np.isfinite(margins).all() and total < LARGEST_TOTAL):
        raise ValueError(
            f"C={C!r} times cost times sample_weight, or a tied kappa = 1 / fp_cost, overflows: the sum over all "
            f"samples, {total:.3g}, must be below {LARGEST_TOTAL:g}. "
            "Divide the costs by their mean and adapt C instead."
        )
    return margins, upper_bounds


def signed_terms(y: NDArray[Any], margins: Vector, upper_bounds: Vector) -> tuple[Vector, Vector, Vector]:
    """Linear term, lower and upper bounds of the signed variables, by the second table above."""
    return y * margins, np.where(y > 0, 0.0, -upper_bounds), np.where(y > 0, upper_bounds, 0.0)


def check_margins(positive: Mask, kappa: Any, fp_cost: Any) -> Vector:
    """The margin of each sample: 1 for the positive class, else kappa_i, which is 1 / fp_cost_i if "tied"."""
    own: dict[str, Any] = {"on": ~positive, "where": OF_NEGATIVE}
    if not isinstance(kappa, str):
        margins = check_sample_values("kappa", kappa, len(positive), above=0.0, **own)
    elif is_tied(kappa):
        margins = tied_kappa(check_sample_values("fp_cost", fp_cost, len(positive), **own))
    else:
        raise ValueError(
            f"kappa must be a positive number, an array of them or {TIED!r}; got kappa={kappa!r}. "
            f"Pass kappa={TIED!r} for kappa = 1 / fp_cost."
        )
    return np.where(positive, 1.0, margins)
