"""Costs of all four outcomes of a decision, of either sign, reduced to the two that matter for it.

Acting on a row costs tp_cost if it is of the target class and fp_cost if not; leaving it costs fn_cost or tn_cost.
With p the probability of the target, acting is the cheaper expectation if

    p (fn_cost - tp_cost) >= (1 - p) (fp_cost - tn_cost)

so only the two differences enter: what missing a target costs more than finding it, and what a false alarm costs more
than leaving the row alone. They are the fn_cost and fp_cost of every other part of this library. Where one difference
is negative or 0 the better action does not depend on the class, and so on no model: a donor worth less than the letter
is never written to. Where both are 0 either action is as good, and the row is left alone. Where both are negative the
rule is upside down, which is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .samples import Samples
from .types import Vector
from .validation import align_to_samples, as_floats, is_pandas

OUTCOMES = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")
NEXT_TO_NOTHING = float(np.finfo(np.float64).eps)  # of a cost


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """`fn_cost` and `fp_cost`, which unpack with ``**`` into the arguments of `fit`, `predict`, metrics and `evaluate`.

    fn_cost, fp_cost : float or (n_samples,), at least 0; fixed : 0 where the better action depends on the class, +1
    where acting and -1 where leaving is never worse, a number or (n_samples,); outcomes : the four costs as given, for
    ``income(y, decisions, **costs.outcomes)``.
    """

    fn_cost: Any
    fp_cost: Any
    fixed: Any
    outcomes: dict[str, Any]

    def keys(self) -> Iterator[str]:
        """Names of the entries, for ``**``."""
        return iter(("fn_cost", "fp_cost"))

    def __getitem__(self, name: str) -> Any:
        if name not in ("fn_cost", "fp_cost"):
            raise KeyError(name)
        return getattr(self, name)

    @property
    def n_fixed(self) -> int:
        """Rows on which the better action does not depend on the class."""
        return int(np.count_nonzero(self.fixed))

    def training(self, y: Any, *, pos_label: Any = None) -> tuple[NDArray[Any], dict[str, Any]]:
        """Labels and costs to train with, for decisions that know no costs of single rows.

        A row of the target that is better left alone counts as one of the other class, at what acting on it costs more;
        a row of the other class that is better acted on counts as a target.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of two classes.
        pos_label : label, default=None
            The target; None means the larger label.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        costs : dict with fn_cost and fp_cost
        """
        given = align_to_samples(None, y, **self.outcomes)
        sample = Samples.from_labels(y, pos_label=pos_label)
        missed, alarmed = (np.broadcast_to(each, len(sample)) for each in _differences(given))
        own = np.where(sample.positive, missed, alarmed)
        turned = own < 0.0
        labels = np.asarray(y).copy()
        labels[turned & sample.positive] = sample.positive_class.other
        labels[turned & ~sample.positive] = sample.positive_class.label
        return labels, {"fn_cost": np.abs(own), "fp_cost": np.abs(own)}

    def __repr__(self) -> str:
        rows = f", {np.size(self.fixed):,} rows, {self.n_fixed:,} of them decided by their costs"
        costs = f"fn_cost={_shown(self.fn_cost)}, fp_cost={_shown(self.fp_cost)}"
        return f"CostMatrix({costs}{rows if np.ndim(self.fixed) else ''})"


def decision_costs(*, tp_cost: Any = 0.0, fp_cost: Any = 0.0, tn_cost: Any = 0.0, fn_cost: Any = 0.0) -> CostMatrix:
    """fn_cost and fp_cost for training and decisions, from what all four outcomes cost.

    Parameters
    ----------
    tp_cost, fp_cost : float or array-like of shape (n_samples,), default=0.0
        What acting on a row costs, if it is of the target class and if it is not. Negative: it earns that much. Missing
        values stay missing: the amount of a row that is of the other class may not be known.
    tn_cost, fn_cost : float or array-like of shape (n_samples,), default=0.0
        What leaving a row alone costs, if it is of the other class and if it is of the target.

    Returns
    -------
    CostMatrix
        It unpacks with ``**`` into fn_cost = fn_cost - tp_cost and fp_cost = fp_cost - tn_cost, each at least 0, and
        says which rows are decided by their costs alone (`fixed`, `n_fixed`).

    Examples
    --------
    A letter costs 0.68, and a donor gives 10, 20 or 0.50, which is not worth the letter:

    >>> from cssvm import decision_costs
    >>> costs = decision_costs(tp_cost=[0.68 - 10, 0.68 - 20, 0.68 - 0.5], fp_cost=0.68)
    >>> costs.fn_cost.round(2), costs.fp_cost
    (array([ 9.32, 19.32,  0.  ]), array([0.68, 0.68, 0.68]))
    >>> costs
    CostMatrix(fn_cost=0 to 19.3, fp_cost=0.68, 3 rows, 1 of them decided by their costs)
    """
    given = {"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost}
    indexes = [value.index for value in given.values() if is_pandas(value)]
    if not all(index.equals(indexes[0]) for index in indexes):
        raise ValueError("costs that are pandas Series must have the same index; got different ones.")
    missed, alarmed = _differences(given)
    upside_down = (missed < 0.0) & (alarmed < 0.0)
    if upside_down.any():
        row = np.argmax(np.atleast_1d(upside_down))
        raise ValueError(
            "fn_cost - tp_cost and fp_cost - tn_cost must not both be negative: finding a target would cost more than "
            f"missing it, and a false alarm less than none; got this in {np.count_nonzero(upside_down)} rows, first in "
            f"row {row}. Check the signs: what earns money is a negative cost."
        )
    leaving = (missed < 0.0) | ((missed == 0.0) & (alarmed >= 0.0))
    acting = (alarmed < 0.0) | ((alarmed == 0.0) & (missed > 0.0))
    fixed = np.where(leaving, -1, np.where(acting, 1, 0))
    index = indexes[0] if indexes else None
    return CostMatrix(
        fn_cost=_clipped(missed, alarmed, index),
        fp_cost=_clipped(alarmed, missed, index),
        fixed=_number(fixed),
        outcomes=given,
    )


def _differences(given: dict[str, Any]) -> tuple[Vector, Vector]:
    """What a miss costs more than a hit, and a false alarm more than none: numbers or (n,) each."""
    tp, fp, tn, fn = (as_floats(name, given[name], "Pass one number, or one for each row.") for name in OUTCOMES)
    shapes = {value.shape for value in (tp, fp, tn, fn) if value.ndim}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise ValueError(
            f"{', '.join(OUTCOMES)} must be numbers, or hold one value for each row, all of one length; got shapes "
            f"{[value.shape for value in (tp, fp, tn, fn)]}."
        )
    for name, value in zip(OUTCOMES, (tp, fp, tn, fn), strict=True):
        if np.isinf(value).any():
            raise ValueError(f"{name} must be finite; got {name}={value[np.isinf(value)].flat[0]}.")
    return fn - tp, fp - tn


def _clipped(own: Vector, other: Vector, index: Any) -> Any:
    """At least 0: a number, an array, or a Series with the index that the costs came with.

    Where one difference is 0 and the other negative, the first is next to nothing, but positive: with two costs of 0
    nobody could tell which action was better.
    """
    values = np.where((own == 0.0) & (other < 0.0), NEXT_TO_NOTHING * np.abs(other), np.maximum(own, 0.0))
    if values.ndim == 0 or index is None:
        return _number(values)
    import pandas as pd  # the costs came as a Series of it

    return pd.Series(np.broadcast_to(values, len(index)), index=index)


def _number(values: Any) -> Any:
    return values if np.ndim(values) else values.item()


def _shown(values: Any) -> str:
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
