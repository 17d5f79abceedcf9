"""Costs given by the user, translated to the margins and boxes of the dual problem.

The positive class (y = +1) is the target, the one that is dearer to miss. The loss of row i of weight s_i is

    y_i = +1:   s_i fn_cost_i max(0, 1       - f(x_i))
    y_i = -1:   s_i fp_cost_i max(0, kappa_i + f(x_i))

and the training problem min 1/2 |w|^2 + C sum_i loss_i has the dual

    max sum_i m_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij,   0 <= a_i <= c_i,   sum_i a_i y_i = 0

    y_i = +1:   margin m_i = 1,         box c_i = C s_i fn_cost_i
    y_i = -1:   margin m_i = kappa_i,   box c_i = C s_i fp_cost_i

This module is the only place that knows these two tables: below it, only margins and boxes exist.
"""

from __future__ import annotations

import reprlib
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._types import Vector, is_number

TIED = "tied"

# 1 / (1 / x) differs from x by a rounding error, which must not count as leaving the type-II condition.
CONDITION_SLACK = 1e-12


class CostConditionWarning(UserWarning):
    """The costs leave the type-II condition 0 < kappa <= 1 <= 1/kappa <= fn_cost of the CS-SVM."""


class PaperCosts(NamedTuple):
    """`(fn_cost, fp_cost, kappa)` that also unpacks with `**` into the arguments of those names."""

    fn_cost: float
    fp_cost: float
    kappa: float

    def keys(self) -> Iterator[str]:
        """Names of the entries, for ``**``."""
        return iter(self._fields)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self._fields:
                raise KeyError(key)
            return getattr(self, key)
        return tuple.__getitem__(self, key)


def paper_costs(C1: float, C_minus1: float) -> PaperCosts:
    """Slopes and margin of the cost-sensitive hinge loss with the costs C_1 and C_{-1}.

    The loss is ``C1 max(0, 1 - f)`` for y = +1 and ``max(0, 1 + (2 C_minus1 - 1) f)`` for y = -1, hence

        fn_cost = C1,    fp_cost = 2 C_minus1 - 1,    kappa = 1 / (2 C_minus1 - 1).

    Parameters
    ----------
    C1 : float
        Cost C_1 > 0 of a false negative.
    C_minus1 : float
        Cost C_{-1} > 1/2 of a false positive. The loss is of type II for C_{-1} >= 1 and C_1 >= 2 C_{-1} - 1.

    Returns
    -------
    PaperCosts
        Named tuple ``(fn_cost, fp_cost, kappa)``; it also unpacks with ``**``.

    Examples
    --------
    >>> from cssvm import CostSensitiveSVC, paper_costs
    >>> fn_cost, fp_cost, kappa = paper_costs(4, 2)
    >>> print(fn_cost, fp_cost, round(kappa, 4))
    4.0 3.0 0.3333
    >>> CostSensitiveSVC(**paper_costs(4, 1))
    CostSensitiveSVC(fn_cost=4.0)
    """
    if not is_number(C1) or not 0 < C1 < np.inf:
        raise ValueError(
            f"C1 must be a positive finite number; got C1={C1!r}. Pass the cost of a false negative, for example C1=4."
        )
    if not is_number(C_minus1) or not 0.5 < C_minus1 < np.inf:
        raise ValueError(
            "C_minus1 must be a finite number above 1/2, so that the slope 2 C_minus1 - 1 is positive; "
            f"got C_minus1={C_minus1!r}. Scale both costs up so that C_minus1 >= 1."
        )
    slope = 2.0 * float(C_minus1) - 1.0
    return PaperCosts(float(C1), slope, 1.0 / slope)


def row_weights(sample_weight: Any, n_samples: int) -> Vector:
    """`sample_weight` as (n_samples,) float64, ones for None; finite, non-negative, not all zero."""
    if sample_weight is None:
        return np.ones(n_samples)
    return _row_values("sample_weight", sample_weight, np.ones(n_samples, dtype=bool), "")


def example_costs(y: NDArray[Any], *, fn_cost: Any = 1.0, fp_cost: Any = 1.0, sample_weight: Any = None) -> Vector:
    """What a wrong decision costs on each row: s_i fn_cost_i for y_i = +1, s_i fp_cost_i for y_i = -1.

    y : (n_samples,) in {-1, +1}; fn_cost, fp_cost, sample_weight : a number or (n_samples,), the costs
    checked only on the rows of their own class. Returns (n_samples,) float64.
    """
    positive = y > 0
    fn = _row_values("fn_cost", fn_cost, positive, " of the positive class")
    fp = _row_values("fp_cost", fp_cost, ~positive, " of the negative class")
    return row_weights(sample_weight, len(y)) * np.where(positive, fn, fp)


def margins_and_boxes(
    y: NDArray[Any],
    *,
    C: float = 1.0,
    fn_cost: Any = 1.0,
    fp_cost: Any = 1.0,
    kappa: Any = 1.0,
    sample_weight: Any = None,
) -> tuple[Vector, Vector]:
    """Margins m and boxes c of the dual problem, by the table that opens this module.

    y : (n_samples,) in {-1, +1}; kappa : a number, (n_samples,) or "tied", that is kappa_i = 1 / fp_cost_i.
    Returns two (n_samples,) float64 arrays.
    """
    margins = np.where(y > 0, 1.0, _negative_margins(y, kappa, fp_cost))
    with np.errstate(over="ignore"):
        boxes = C * example_costs(y, fn_cost=fn_cost, fp_cost=fp_cost, sample_weight=sample_weight)
    if not (np.isfinite(margins).all() and np.isfinite(boxes).all()):
        raise ValueError(
            f"C={C!r} times cost times sample_weight, or a tied kappa = 1 / fp_cost, must be finite; "
            "it overflows. Divide the costs by their mean and adapt C instead."
        )
    return margins, boxes


def warn_outside_type_two(y: NDArray[Any], margins: Vector, boxes: Vector, fn_cost: Any, *, stacklevel: int) -> None:
    """Warn once, with the reason, unless 0 < kappa <= 1 <= 1/kappa <= fn_cost for all rows that count.

    The condition is on the margin and the positive slope only. fp_cost does not enter: with an untied
    negative slope (fp_cost kappa != 1) the ratio of the slopes sets the decision rule, whatever the margins.
    """
    counts = boxes > 0
    kappa = margins[counts & (y < 0)]
    fn = np.broadcast_to(np.asarray(fn_cost, dtype=np.float64), len(y))[counts & (y > 0)]
    if kappa.size == 0 or fn.size == 0:
        return
    if kappa.max() > 1 + CONDITION_SLACK:
        reason = f"kappa={kappa.max():g} exceeds 1, so the negative class gets the larger margin. Lower kappa"
    elif fn.min() * kappa.min() < 1 - CONDITION_SLACK:
        needed = 1 / kappa.min()
        reason = f"kappa={kappa.min():g} needs fn_cost >= {needed:g}, got {fn.min():g}. Raise fn_cost or kappa"
    else:
        return
    warnings.warn(
        f"The costs leave the type-II condition 0 < kappa <= 1 <= 1/kappa <= fn_cost: {reason}, or filter "
        "out CostConditionWarning where this is meant; the fit is exact either way.",
        CostConditionWarning,
        stacklevel=stacklevel + 1,
    )


def _negative_margins(y: NDArray[Any], kappa: Any, fp_cost: Any) -> Vector:
    """kappa_i where y_i = -1. A tied row that costs nothing has an empty box, so any margin does."""
    negative = y < 0
    if not isinstance(kappa, str):
        return _row_values("kappa", kappa, negative, " of the negative class", positive=True)
    if kappa != TIED:
        raise ValueError(
            f"kappa must be a positive number, an array of them or {TIED!r}; got kappa={kappa!r}. "
            f"Pass kappa={TIED!r} for kappa = 1 / fp_cost."
        )
    fp = _row_values("fp_cost", fp_cost, negative, " of the negative class")
    with np.errstate(over="ignore"):
        return np.divide(1.0, fp, out=np.ones_like(fp), where=fp > 0)


def _row_values(name: str, value: Any, rows: NDArray[np.bool_], whose: str, *, positive: bool = False) -> Vector:
    """`value` as (n,) float64, validated where `rows` is true and 0 elsewhere, where it may hold anything."""
    values = np.where(rows, float(value) if is_number(value) else _as_vector(name, value, len(rows)), 0.0)
    wrong = rows & ~(np.isfinite(values) & ((values > 0) if positive else (values >= 0)))
    if wrong.any():
        expected = "finite and positive" if positive else "finite and non-negative"
        where = "" if is_number(value) else f" in row {np.argmax(wrong)} ({wrong.sum()} such rows)"
        raise ValueError(
            f"{name} must be {expected} on every row{whose}; got {name}={values[np.argmax(wrong)]}{where}. "
            "Correct these values, or drop the rows"
            + (" (values on rows of the other class are ignored)." if whose else ".")
        )
    if rows.any() and not values.any():
        raise ValueError(
            f"{name} must be positive on at least one row{whose}; got zero on all {rows.sum()} of them. "
            f"Pass {name}=1.0 if these rows all matter the same."
        )
    return values


def _as_vector(name: str, value: Any, n_samples: int) -> Vector:
    """An array-like (list, NumPy, pandas or polars) as (n_samples,) float64."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a number or an array of numbers; got {name}={reprlib.repr(value)}. "
            "Pass one number, or one for each row of X."
        ) from error
    if values.shape != (n_samples,):
        raise ValueError(
            f"{name} must hold one value for each row of X, shape ({n_samples},); got shape {values.shape}. "
            f"Pass a number, or select the entries of {name} that belong to the rows of X."
        )
    return values
