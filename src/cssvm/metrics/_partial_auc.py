"""Area above the part of the ROC curve that matters when costs and priors are not known.

    TP-t:  mean false positive rate over true positive rates in [t, 1]    (few false negatives are wanted)
    TN-t:  mean false negative rate over true negative rates in [t, 1]    (few false positives are wanted)

Both are losses: 0 is perfect, 1 the worst. With t = 0 each is 1 - AUC. With x the error rate that is kept small and y
the other one, both are

    1 / (1 - t)  *  integral of y over x in [0, 1 - t]

along the ROC curve, whose vertices are joined by straight lines; samples with equal scores make one sloping
piece.
Swapping the classes and the sign of the scores turns one into the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.types import Vector
from .._core.validation import is_number
from ._scored import RankedMetric, ScoredSamples


def tp_auc_loss(
    y_true: Any, y_score: Any, *, t: float = 0.9, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Mean false positive rate over true positive rates between t and 1 (TP-t-AUC). Lower is better.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_convex_hull`.
    t : float, default=0.9
        Smallest true positive rate considered, in [0, 1).

    Returns
    -------
    float
        The loss, in [0, 1]; it is 1 - AUC for ``t=0``.

    Examples
    --------
    Finding the last positive sample takes one of the two negative ones as a false positive:

    >>> from cssvm.metrics import tp_auc_loss
    >>> tp_auc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], t=0.5)
    0.5
    """
    scored = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return ranked_tp_auc_loss(scored, t=t).value


def tn_auc_loss(
    y_true: Any, y_score: Any, *, t: float = 0.9, pos_label: Any = None, sample_weight: Any = None
) -> float:
    """Mean false negative rate over true negative rates between t and 1 (TN-t-AUC). Lower is better.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As in `roc_convex_hull`.
    t : float, default=0.9
        Smallest true negative rate considered, in [0, 1): false positive rates up to 1 - t.

    Returns
    -------
    float
        The loss, in [0, 1]; it is 1 - AUC for ``t=0``.

    Examples
    --------
    Half of the positive samples are false negatives up to the false positive rate 1/2, and none beyond it:

    >>> from cssvm.metrics import tn_auc_loss
    >>> tn_auc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], t=0.5)
    0.5
    >>> tn_auc_loss([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], t=0)
    0.25
    """
    scored = ScoredSamples.from_labels(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    return ranked_tn_auc_loss(scored, t=t).value


def ranked_tp_auc_loss(scored: ScoredSamples, *, t: float = 0.9) -> RankedMetric:
    """`tp_auc_loss` of scored samples, as a function of the weights."""
    return _ranked_loss(scored, t, lambda fpr, fnr: (fnr[..., ::-1], fpr[..., ::-1]))


def ranked_tn_auc_loss(scored: ScoredSamples, *, t: float = 0.9) -> RankedMetric:
    """`tn_auc_loss` of scored samples, as a function of the weights."""
    return _ranked_loss(scored, t, lambda fpr, fnr: (fpr, fnr))


def mean_height(x: Vector, y: Vector, width: float) -> Vector:
    """Mean of y over x in [0, width] along the polygon (x, y), (..., n_points), x rising from 0 to at least width.

    A piece from (x0, y0) to (x1, y1) that `width` cuts counts with its part f of the way, where y is
    y0 + f (y1 - y0); vertical pieces have no area.
    """
    steps = np.diff(x, axis=-1)
    inside = np.diff(np.minimum(x, width), axis=-1)
    part = np.divide(inside, steps, out=np.zeros_like(steps), where=steps > 0)
    heights = y[..., :-1] + part * np.diff(y, axis=-1) / 2
    return np.einsum("...i,...i->...", inside, heights) / width


def _ranked_loss(
    scored: ScoredSamples, t: Any, curve: Callable[[Vector, Vector], tuple[Vector, Vector]]
) -> RankedMetric:
    """Mean height of a curve (x, y), made from false positive and false negative rates, over x in [0, 1 - t]."""
    if not is_number(t) or not 0 <= t < 1:
        raise ValueError(f"t must be a rate in [0, 1); got t={t!r}. Pass for example t=0.9, or t=0 for 1 - AUC.")
    scored.samples.check_both_classes_weighted("a ROC curve")
    positive = scored.ranked(scored.positive)
    return RankedMetric(
        scored, lambda weights: mean_height(*curve(*scored.ranking.rates(positive, weights)), 1.0 - float(t))
    )
