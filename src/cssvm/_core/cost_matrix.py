"""`decision_costs`: costs of all four outcomes, reduced to the two that decide.

Bayes' rule with all four is p (fn_cost - tp_cost) > (1 - p) (fp_cost - tn_cost): only the two differences matter, and
they are the fn_cost and fp_cost of the rest of this library. Where one of them is negative or 0 the better action does
not depend on the class: a donation worth less than the letter is never worth the letter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alignment import align_to_samples, is_pandas
from .decision import COSTS
from .samples import Samples
from .types import Vector
from .validation import as_floats

OUTCOMES = ("tp_cost", "fp_cost", "tn_cost", "fn_cost")
NEGLIGIBLE = float(np.finfo(np.float64).eps)  # relative to the other cost


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
        return iter(COSTS)

    def __getitem__(self, name: str) -> Any:
        if name not in COSTS:
            raise KeyError(name)
        return getattr(self, name)

    @property
    def n_fixed(self) -> int:
        """Number of samples on which the better action does not depend on the class."""
        return int(np.count_nonzero(self.fixed))

    def training(self, y: Any, *, pos_label: Any = None) -> tuple[NDArray[Any], dict[str, Any]]:
        """Labels and costs to train with, for decisions that know no costs of single samples.

        A positive sample that is better left alone gets the negative label, at what acting on it costs more; a negative
        sample that is better acted on gets the positive label.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels of two classes.
        pos_label : label, default=None
            The positive class. If None, the larger label.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        costs : dict with fn_cost and fp_cost
        """
        samples = Samples.from_labels(y, pos_label=pos_label)
        fn_cost, fp_cost = _differences(align_to_samples(None, y, **self.outcomes))
        own = np.where(samples.positive, fn_cost, fp_cost)
        labels = np.asarray(y).copy()
        labels[(own < 0.0) & samples.positive] = samples.positive_class.other
        labels[(own < 0.0) & ~samples.positive] = samples.positive_class.label
        return labels, {"fn_cost": np.abs(own), "fp_cost": np.abs(own)}

    def __repr__(self) -> str:
        costs = ", ".join(f"{name}={_format_range(self[name])}" for name in COSTS)
        if not np.ndim(self.fixed):
            return f"CostMatrix({costs})"
        return f"CostMatrix({costs}, {np.size(self.fixed):,} samples, {self.n_fixed:,} of them decided by their costs)"


def decision_costs(*, tp_cost: Any = 0.0, fp_cost: Any = 0.0, tn_cost: Any = 0.0, fn_cost: Any = 0.0) -> CostMatrix:
    """fn_cost and fp_cost for training and decisions, from what all four outcomes cost.

    Parameters
    ----------
    tp_cost, fp_cost : float or array-like of shape (n_samples,), default=0.0
        What acting on a positive and on a negative sample costs. Negative: it earns that much. Missing values stay
        missing: the amount of a negative sample may not be known.
    tn_cost, fn_cost : float or array-like of shape (n_samples,), default=0.0
        What leaving a negative and a positive sample alone costs.

    Returns
    -------
    CostMatrix
        It unpacks with ``**`` into fn_cost = fn_cost - tp_cost and fp_cost = fp_cost - tn_cost, each at least 0, and
        marks the samples that are decided by their costs alone (`fixed`, `n_fixed`).

    Examples
    --------
    A letter costs 0.68, and a donor gives 10, 20 or 0.50, which is not worth the letter:

    >>> from cssvm import decision_costs
    >>> costs = decision_costs(tp_cost=[0.68 - 10, 0.68 - 20, 0.68 - 0.5], fp_cost=0.68)
    >>> costs.fn_cost.round(2), costs.fp_cost
    (array([ 9.32, 19.32,  0.  ]), array([0.68, 0.68, 0.68]))
    >>> costs
    CostMatrix(fn_cost=0 to 19.3, fp_cost=0.68, 3 samples, 1 of them decided by their costs)
    """
    given = {"tp_cost": tp_cost, "fp_cost": fp_cost, "tn_cost": tn_cost, "fn_cost": fn_cost}
    indexes = [value.index for value in given.values() if is_pandas(value)]
    if not all(index.equals(indexes[0]) for index in indexes):
        raise ValueError("costs that are pandas Series must have the same index; got different ones.")
    fn, fp = _differences(given)
    both_negative = (fn < 0.0) & (fp < 0.0)
    if both_negative.any():
        raise ValueError(
            "fn_cost - tp_cost and fp_cost - tn_cost must not both be negative, as wrong decisions would be the better "
            f"ones; got this on {np.count_nonzero(both_negative)} samples, first in sample {np.argmax(both_negative)}. "
            "Check the signs: what earns money is a negative cost."
        )
    leaving = (fn < 0.0) | ((fn == 0.0) & (fp >= 0.0))
    acting = (fp < 0.0) | ((fp == 0.0) & (fn > 0.0))
    fixed = np.where(leaving, -1, np.where(acting, 1, 0))
    index = indexes[0] if indexes else None
    return CostMatrix(
        fn_cost=_clipped(fn, fp, index),
        fp_cost=_clipped(fp, fn, index),
        fixed=fixed if fixed.ndim else fixed.item(),
        outcomes=given,
    )


def _differences(given: dict[str, Any]) -> tuple[Vector, Vector]:
    """fn_cost - tp_cost and fp_cost - tn_cost, numbers or (n,) each."""
    costs = {name: as_floats(name, given[name], "Pass one number, or one for each sample.") for name in OUTCOMES}
    shapes = {value.shape for value in costs.values() if value.ndim}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise ValueError(
            f"{', '.join(OUTCOMES)} must be numbers, or hold one value for each sample, all of one length; got shapes "
            f"{[value.shape for value in costs.values()]}."
        )
    for name, value in costs.items():
        if np.isinf(value).any():
            raise ValueError(f"{name} must be finite; got {name}={value[np.isinf(value)].flat[0]}.")
    return costs["fn_cost"] - costs["tp_cost"], costs["fp_cost"] - costs["tn_cost"]


def _clipped(own: Vector, other: Vector, index: Any) -> Any:
    """A difference of costs, at least 0: a number, an array, or a Series with the index that the costs came with.

    Where it is 0 and the other one negative, it is negligible but positive, so that acting is still the better one.
    """
    values = np.where((own == 0.0) & (other < 0.0), NEGLIGIBLE * np.abs(other), np.maximum(own, 0.0))
    if values.ndim == 0:
        return values.item()
    if index is None:
        return values
    import pandas as pd  # the costs came as a Series of it

    return pd.Series(np.broadcast_to(values, len(index)), index=index)


def _format_range(values: Any) -> str:
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
