"""Rows drawn at random by what is at stake in them, for the members of an ensemble.

With weighted costs s_1, ..., s_n, at least 0, a draw has

    with_replacement       k rows: row i with chance s_i / sum of s, each time
    without_replacement    k different rows, one after the other: row i with chance s_i / sum of s over the rows left
    rejection              each row once, and keeps it with chance s_i / max of s

Rejection alone gives independent rows of the distribution that is proportional to the weighted costs; the second gives other
shares, the first the same row several times. Every draw has a seed of its own, so that it does not matter who makes
which. Rows are in the order of the table. A draw that holds one class only is made again, as few learners can be
trained on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core.samples import has_both_classes
from .._core.types import Mask, RowNumbers, Vector, is_integer, is_number

WITH, WITHOUT, REJECTION = "with_replacement", "without_replacement", "rejection"
SAMPLINGS = (REJECTION, WITH, WITHOUT)

ATTEMPTS = 100  # at a draw with both classes: less than one in a million draws fails if one in seven succeeds


def draw_rows(
    sampling: str, weighted_costs: Vector, positive: Mask, seeds: Iterable[int], *, size: int | None = None, whose: str
) -> list[RowNumbers]:
    """Row numbers of a draw for each seed, from rows of positive weighted costs.

    weighted_costs : (n,), positive : (n,) rows of the target, size : k, not for rejection, whose : names who asks in errors.
    """
    chances = weighted_costs / weighted_costs.max() if sampling == REJECTION else weighted_costs / weighted_costs.sum()
    return [_draw_both_classes(sampling, chances, positive, seed, size, whose) for seed in seeds]


def _draw_both_classes(
    sampling: str, chances: Vector, positive: Mask, seed: int, size: int | None, whose: str
) -> RowNumbers:
    """The first draw of this seed that holds rows of both classes."""
    rng = np.random.default_rng(seed)
    for _ in range(ATTEMPTS):
        rows = _draw(sampling, chances, rng, size)
        if has_both_classes(positive[rows]):
            return rows
    share = chances[positive].sum() / chances.sum()
    raise ValueError(
        f"draws of {whose} must hold rows of both classes; got {ATTEMPTS} in a row of one class only. Of what is at "
        f"stake {share:.2g} is in rows of the target, and a draw holds about "
        f"{chances.sum() if size is None else size:.3g} rows. Cap the largest costs or weights"
        + (f', or use sampling="{WITH}".' if sampling == REJECTION else ", or draw more rows.")
    )


def _draw(sampling: str, chances: Vector, rng: np.random.Generator, size: int | None) -> RowNumbers:
    """Row numbers, sorted; a uniform number in [0, 1) is below a chance of 1, never below one of 0."""
    if sampling == REJECTION:
        return np.flatnonzero(rng.random(len(chances)) < chances)
    return np.sort(rng.choice(len(chances), size, replace=sampling == WITH, p=chances))


def draw_size(max_samples: Any, n_rows: int, *, whose: str) -> int:
    """Rows of a draw: their number, or their share of all rows."""
    if is_integer(max_samples) and max_samples >= 1:
        return int(max_samples)
    if is_number(max_samples) and not is_integer(max_samples) and 0.0 < max_samples <= 1.0:
        return max(1, round(float(max_samples) * n_rows))
    raise ValueError(
        f"max_samples of {whose} must be a number of rows, at least 1, or a share of them, above 0 and at most 1.0; "
        f"got max_samples={max_samples!r}. Pass for example max_samples=0.5."
    )
