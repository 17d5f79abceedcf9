"""Costs given by the user, translated to the margins, upper bounds and bounds of the dual problem.

The positive class (y = +1) is the target, the one that costs more to miss. The loss of row i of weight s_i is

    y_i = +1:   s_i fn_cost_i max(0, 1       - f(x_i))
    y_i = -1:   s_i fp_cost_i max(0, kappa_i + f(x_i))

and the training problem min 1/2 |w|^2 + C sum_i loss_i has the dual

    max sum_i m_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij,   0 <= a_i <= c_i,   sum_i a_i y_i = 0

    y_i = +1:   margin m_i = 1,         upper bound c_i = C s_i fn_cost_i
    y_i = -1:   margin m_i = kappa_i,   upper bound c_i = C s_i fp_cost_i

or, in the signed variables beta_i = y_i a_i that the solver works with,

    y_i = +1:   linear term p_i =  m_i,   bounds [0, c_i]
    y_i = -1:   linear term p_i = -m_i,   bounds [-c_i, 0]

This module is the only place that knows these tables: below it, only a linear term and bounds exist.

Functions named `read_...` check row by row, so that a fold or a partition of the rows can be read by itself. Checks
that need the whole sample, that not all rows cost nothing, are `check_nonzero_costs` and `check_weights_matter`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .types import Mask, Vector, as_floats, is_number

TIED = "tied"
SCALE = "scale"

# 1 / (1 / x) differs from x by a rounding error, which must not count as leaving the paper's condition.
CONDITION_SLACK = 1e-12

# Of all upper bounds: the objective is a sum of them times decision values, and must be a number.
LARGEST_TOTAL = 1e150

OF_TARGET, OF_OTHER = " of the positive class", " of the negative class"


class CostConditionWarning(UserWarning):
    """The costs leave the condition that the paper states for its loss, C_{-1} >= 1 and C_1 >= 2 C_{-1} - 1."""


class PaperCosts(NamedTuple):
    """`(fn_cost, fp_cost, kappa)` that also unpacks with `**` into the arguments of those names."""

    fn_cost: Any
    fp_cost: Any
    kappa: Any

    def keys(self) -> Iterator[str]:
        """Names of the entries, for ``**``."""
        return iter(self._fields)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._fields:
                raise KeyError(key)
            return getattr(self, key)
        return tuple.__getitem__(self, key)


def paper_costs(C1: Any, C_minus1: Any) -> PaperCosts:
    """Slopes and margin of the cost-sensitive hinge loss with the costs C_1 and C_{-1}, of the classes or of each row.

    The loss is ``C1 max(0, 1 - f)`` for y = +1 and ``max(0, 1 + (2 C_minus1 - 1) f)`` for y = -1, hence::

        fn_cost = C1,    fp_cost = 2 C_minus1 - 1,    kappa = 1 / (2 C_minus1 - 1).

    Parameters
    ----------
    C1 : float or array-like
        Cost C_1 > 0 of a false negative; an array holds one for each row.
    C_minus1 : float or array-like
        Cost C_{-1} > 1/2 of a false positive; an array holds one for each row. Costs of at most 1/2 have no such
        loss: divide all costs, C_1 too, by the smallest C_{-1}, and multiply C by it.

    Returns
    -------
    PaperCosts
        Named tuple ``(fn_cost, fp_cost, kappa)``; it also unpacks with ``**``, numbers into the constructor and
        arrays into `fit`. Missing values (nan) in an array stay missing: rows of the other class have no cost.

    Warns
    -----
    CostConditionWarning
        For class costs that leave C_{-1} >= 1 and C_1 >= 2 C_{-1} - 1, the paper's condition: both margins then are
        ordered as its figures show. Training needs none of it.

    Examples
    --------
    >>> from cssvm import CostSensitiveSVC, paper_costs
    >>> fn_cost, fp_cost, kappa = paper_costs(4, 2)
    >>> print(fn_cost, fp_cost, round(kappa, 4))
    4.0 3.0 0.3333
    >>> CostSensitiveSVC(**paper_costs(4, 1))
    CostSensitiveSVC(fn_cost=4.0)

    One cost for each row, the example-dependent loss of the paper:

    >>> cost = [1.0, 1.5, 3.0]
    >>> paper_costs(cost, cost).fp_cost
    array([1., 2., 5.])
    """
    fn_cost = _positive_costs(
        "C1", C1, 0.0, "a positive finite number", "Pass the cost of a false negative, for example C1=4."
    )
    C_minus1 = _positive_costs(
        "C_minus1",
        C_minus1,
        0.5,
        "a finite number above 1/2, so that the slope 2 C_minus1 - 1 is positive",
        "Divide all costs, C1 too, by the smallest C_minus1 and multiply C by it.",
    )
    shapes = {np.shape(cost) for cost in (fn_cost, C_minus1) if np.ndim(cost)}
    if len(shapes) > 1 or any(len(shape) != 1 or shape == (0,) for shape in shapes):
        raise ValueError(
            "C1 and C_minus1 must be numbers, or hold one value for each row, in one dimension and of one length; got "
            f"shapes {np.shape(fn_cost)} and {np.shape(C_minus1)}."
        )
    fp_cost = 2.0 * C_minus1 - 1.0
    if not shapes:
        _warn_outside_condition(fn_cost, C_minus1)
    return PaperCosts(fn_cost, fp_cost, 1.0 / fp_cost)


def _warn_outside_condition(C1: float, C_minus1: float) -> None:
    """Warn, with the reason, of class costs that the paper's figures and claims are not about."""
    slope = 2.0 * C_minus1 - 1.0
    if C_minus1 < 1.0 - CONDITION_SLACK:
        reason = f"C_minus1={C_minus1:g} gives the negative class a margin of {1.0 / slope:g}, above the target's 1"
    elif slope * (1.0 - CONDITION_SLACK) > C1:
        reason = f"C1={C1:g} is below 2 C_minus1 - 1 = {slope:g}, so the negative class has the steeper loss"
    else:
        return
    warnings.warn(
        f"The costs leave the paper's condition C_minus1 >= 1 and C1 >= 2 C_minus1 - 1: {reason}. They can be trained "
        "with all the same; to set slopes and margin freely, give fn_cost, fp_cost and kappa to CostSensitiveSVC.",
        CostConditionWarning,
        stacklevel=3,
    )


def _positive_costs(name: str, value: Any, above: float, expected: str, fix: str) -> Any:
    """A float, or an array of them in which nan stands for a row without such a cost."""
    values = as_floats(name, value, "Pass one number, or one for each row of X.")
    right = (values > above) & (values < np.inf) | (np.isnan(values) & (values.ndim > 0))
    if values.ndim == 0 and not (is_number(value) and right):
        raise ValueError(f"{name} must be {expected}; got {name}={value!r}. {fix}")
    if not right.all():
        row = np.argmin(right)
        raise ValueError(f"{name} must be {expected}; got {name}={values.flat[row]} in row {row}. {fix}")
    return values if values.ndim else float(values)


def is_tied(kappa: Any) -> bool:
    """Whether kappa is to be 1 / fp_cost."""
    return isinstance(kappa, str) and kappa == TIED


def tied_kappa(fp_cost: Any) -> Any:
    """Kappa = 1 / fp_cost, for a number or an array; 1 where fp_cost is 0, as an empty upper bound makes no use of a margin."""
    fp = np.asarray(fp_cost, dtype=np.float64)
    with np.errstate(over="ignore"):
        kappa = np.divide(1.0, fp, out=np.ones_like(fp), where=fp > 0)
    return kappa if kappa.ndim else float(kappa)


def read_weights(sample_weight: Any, n_samples: int) -> Vector:
    """`sample_weight` as (n_samples,) float64, ones for None; finite and non-negative."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = _row_values("sample_weight", sample_weight, np.ones(n_samples, dtype=bool), "")
    return np.full(n_samples, weights) if np.ndim(weights) == 0 else weights


def check_cost_column(name: str, value: Any, n_samples: int) -> Any:
    """A cost of a class as it is, a number; one for each row as (n_samples,) float64."""
    return value if is_number(value) else _as_vector(name, value, n_samples)


def read_costs(positive: Mask, fn_cost: Any, fp_cost: Any) -> Vector:
    """What a wrong decision costs on each row: fn_cost_i on rows of the target, fp_cost_i on others.

    fn_cost, fp_cost : a number or (n_samples,), checked only on the rows of their own class.
    """
    fn = _row_values("fn_cost", fn_cost, positive, OF_TARGET)
    return np.where(positive, fn, _row_values("fp_cost", fp_cost, ~positive, OF_OTHER))


def read_decision_costs(fn_cost: Any, fp_cost: Any, n_samples: int) -> tuple[Vector, Vector]:
    """Both costs of rows whose label is not known, a number or (n_samples,) each: checked on all rows.

    Rows on which both are 0 are decided (`relative_saving`), with a warning that counts them.
    """
    fn, fp = read_both_costs(
        fn_cost, fp_cost, n_samples, call="predict(X, {name}=...)", reason="the labels are not known"
    )
    if fn.ndim == 0 and fp.ndim == 0 and fn == fp == 0:
        raise ValueError("fn_cost and fp_cost must not both be 0 for all rows. Give one of the costs a value.")
    n_free = np.count_nonzero(np.broadcast_to((fn == 0) & (fp == 0), n_samples))
    if n_free:
        warnings.warn(
            f"fn_cost and fp_cost are both 0 on {n_free} of {n_samples} rows, where either decision costs nothing: "
            "they are not acted on.",
            FreeDecisionWarning,
            stacklevel=5,
        )
    return fn, fp


def read_both_costs(
    fn_cost: Any, fp_cost: Any, n_samples: int, *, call: str, reason: str, fix: str = ""
) -> tuple[Vector, Vector]:
    """What each row costs if missed and if a false alarm, whatever its label: a number or (n_samples,) each.

    call : how one value for each row is given, reason : why all rows need both costs, fix : a further way out.
    """
    costs = []
    for name, value in (("fn_cost", fn_cost), ("fp_cost", fp_cost)):
        values = as_floats(name, value, "Pass one number, or one for each row of X.")
        own_call = call.format(name=name)
        if values.shape not in ((), (n_samples,)) or (values.ndim == 0 and not is_number(value)):
            raise ValueError(
                f"{name} must be a number, or given to {own_call.split('(')[0]} with one value for each row of X, "
                f"shape ({n_samples},); got shape {values.shape}. Pass {own_call} with an entry for each row."
            )
        wrong = ~(np.isfinite(values) & (values >= 0))
        if wrong.any():
            raise ValueError(
                f"{name} must be finite and non-negative on every row, as {reason}; got "
                f"{name}={values[wrong][0]:g} ({wrong.sum()} such rows). Correct these values, or drop the rows{fix}."
            )
        costs.append(values)
    return costs[0], costs[1]


def expected_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """P fn_cost - (1 - p) fp_cost: how much less acting on a row is expected to cost than leaving it, (n,) float64.

    p : probability of the target. Bayes' rule decides for the target where it is positive; 0 is a tie.
    """
    return probability * fn_cost - (1.0 - probability) * fp_cost


def relative_saving(probability: Any, fn_cost: Any, fp_cost: Any) -> Any:
    """`expected_saving` divided by both costs together, p - fp_cost / (fn_cost + fp_cost).

    -1 where both costs are 0: such a row is not acted on.
    """
    total = np.asarray(fn_cost + fp_cost, dtype=np.float64)
    saving = expected_saving(probability, fn_cost, fp_cost)
    return np.divide(saving, total, out=np.full_like(saving, -1.0), where=total > 0)


class FreeDecisionWarning(UserWarning):
    """Rows on which neither decision costs anything."""


def check_weights_matter(weights: Vector) -> None:
    """Refuse a sample without any weight."""
    check_some_positive("sample_weight", bool(weights.any()), len(weights))


def check_nonzero_costs(positive: Mask, cost: Vector) -> None:
    """Refuse a sample in which errors on all rows of a class cost nothing."""
    if cost.all():
        return
    for name, rows, whose in (("fn_cost", positive, OF_TARGET), ("fp_cost", ~positive, OF_OTHER)):
        check_some_positive(name, bool(cost[rows].any()), int(rows.sum()), whose)


def row_weights(sample_weight: Any, n_samples: int) -> Vector:
    """`read_weights` of a whole sample."""
    weights = read_weights(sample_weight, n_samples)
    check_weights_matter(weights)
    return weights


class WeightedCostTotals(NamedTuple):
    """Sums over rows of weights and weighted costs, a stake being weight times cost; those of partitions add up.

    relative : sum of stake / `largest` stake, as sums of costs of 1e300 are no number
    plain : whether each stake is the weight itself
    """

    weights: float
    largest: float
    relative: float
    plain: bool

    @classmethod
    def of(cls, weights: Vector, weighted_costs: Vector) -> WeightedCostTotals:
        """Those of some rows, (n,) each."""
        largest = float(weighted_costs.max(initial=0.0))
        relative = float((weighted_costs / largest).sum()) if largest > 0.0 else 0.0
        return cls(float(weights.sum()), largest, relative, np.array_equal(weighted_costs, weights))

    def plus(self, other: WeightedCostTotals) -> WeightedCostTotals:
        """Those of the rows of both."""
        largest = max(self.largest, other.largest)
        relative = sum(each.relative * each.largest / largest if largest > 0.0 else 0.0 for each in (self, other))
        return WeightedCostTotals(self.weights + other.weights, largest, relative, self.plain and other.plain)


def resolve_C(C: Any, totals: WeightedCostTotals) -> float:
    """C as a number: "scale" is 1 / the weighted mean cost of a row, so that the unit of the costs does not matter."""
    if not isinstance(C, str):
        return float(C)
    if not totals.largest > 0.0 or totals.plain:
        return 1.0
    return totals.weights / totals.relative / totals.largest


def margins_and_upper_bounds(
    positive: Mask, weighted_costs: Vector, *, C: float = 1.0, kappa: Any = 1.0, fp_cost: Any = 1.0
) -> tuple[Vector, Vector]:
    """Margins m and upper bounds c of rows with weighted costs s_i cost_i, by the table that opens this module; two (n_samples,).

    kappa : a number, (n_samples,) or "tied", that is kappa_i = 1 / fp_cost_i; fp_cost is read only for that.
    """
    margins = read_margins(positive, kappa, fp_cost)
    with np.errstate(over="ignore"):
        upper_bounds = C * weighted_costs
        total = upper_bounds.sum()
    if not (np.isfinite(margins).all() and total < LARGEST_TOTAL):
        raise ValueError(
            f"C={C!r} times cost times sample_weight, or a tied kappa = 1 / fp_cost, overflows: the sum over all rows, "
            f"{total:.3g}, must be below {LARGEST_TOTAL:g}. Divide the costs by their mean and adapt C instead."
        )
    return margins, upper_bounds


def signed_terms(y: NDArray[Any], margins: Vector, upper_bounds: Vector) -> tuple[Vector, Vector, Vector]:
    """Linear term, lower and upper bounds of the signed variables, by the last table that opens this module."""
    return y * margins, np.where(y > 0, 0.0, -upper_bounds), np.where(y > 0, upper_bounds, 0.0)


def read_margins(positive: Mask, kappa: Any, fp_cost: Any) -> Vector:
    """The margin of each row: 1 for the target, kappa_i for others, checked on those; "tied" is 1 / fp_cost_i."""
    if not isinstance(kappa, str):
        own = _row_values("kappa", kappa, ~positive, OF_OTHER, strict=True)
    elif is_tied(kappa):
        own = tied_kappa(_row_values("fp_cost", fp_cost, ~positive, OF_OTHER))
    else:
        raise ValueError(
            f"kappa must be a positive number, an array of them or {TIED!r}; got kappa={kappa!r}. "
            f"Pass kappa={TIED!r} for kappa = 1 / fp_cost."
        )
    return np.where(positive, 1.0, own)


def _row_values(name: str, value: Any, rows: Mask, whose: str, *, strict: bool = False) -> Any:
    """`value` as (n,) float64, checked where `rows` is true and 0 elsewhere, where it may hold anything.

    A number stays one: it is checked once, unless `rows` are none.
    """
    if is_number(value):
        if not rows.any():
            return 0.0
        values, wrong = np.asarray(float(value)), np.asarray(not _is_right(float(value), strict))
    else:
        values = np.where(rows, _as_vector(name, value, len(rows)), 0.0)
        wrong = rows & ~_is_right(values, strict)
    if wrong.any():
        expected = "finite and positive" if strict else "finite and non-negative"
        where = "" if wrong.ndim == 0 else f" in row {np.argmax(wrong)} ({wrong.sum()} such rows)"
        raise ValueError(
            f"{name} must be {expected} on every row{whose}; got {name}={values.flat[np.argmax(wrong)]}{where}. "
            "Correct these values, or drop the rows"
            + (" (values on rows of the other class are ignored)." if whose else ".")
        )
    return values


def _is_right(values: Any, strict: bool) -> Any:
    return np.isfinite(values) & ((values > 0) if strict else (values >= 0))


def check_some_positive(name: str, some: bool, n_rows: int, whose: str = "") -> None:
    """Refuse values that are zero on all of so many rows."""
    if n_rows and not some:
        raise ValueError(
            f"{name} must be positive on at least one row{whose}; got zero on all {n_rows} of them. "
            f"Pass {name}=1.0 if these rows all matter the same."
        )


def _as_vector(name: str, value: Any, n_samples: int) -> Vector:
    """An array-like (list, NumPy, pandas or polars) as (n_samples,) float64."""
    values = as_floats(name, value, "Pass one number, or one for each row of X.")
    if values.shape != (n_samples,):
        raise ValueError(
            f"{name} must hold one value for each row of X, shape ({n_samples},); got shape {values.shape}. "
            + (
                f"Pass {name}.ravel(), or the column of a table by its name."
                if values.ndim > 1
                else f"Pass a number, or select the entries of {name} that belong to the rows of X."
            )
        )
    return values
