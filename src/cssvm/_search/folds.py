"""The folds of a search, checked before any work is done."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.folds import Fold, make_splits
from .._core.samples import Samples, check_both_classes
from .decision import ZERO


def make_folds(
    cv: Any, X: Any, sample: Samples, *, ranking: bool, groups: Any = None, decision: str = ZERO
) -> list[Fold]:
    """The folds of `cv`, without rows of weight zero.

    `ranking` measures need both classes among the validation rows of each fold as well; a `decision` that is learnt
    from the validation rows of all folds needs both among these.
    """
    splits = make_splits(cv, X, sample.labels, positive=sample.positive, weights=sample.weights, groups=groups)
    folds = []
    for number, parts in enumerate(splits):
        fold = Fold(*(rows[sample.weights[rows] > 0] for rows in parts))
        _check_fold(fold, number, sample, ranking=ranking)
        folds.append(fold)
    if decision != ZERO:
        held_out = sample.positive[np.concatenate([fold.valid for fold in folds])]
        fix = f'decision="{decision}" is learnt from them: use other folds, or decision="zero".'
        check_both_classes(held_out, "the held-out rows of all folds", fix)
    return folds


def _check_fold(fold: Fold, number: int, sample: Samples, *, ranking: bool) -> None:
    trained = fold.train[sample.weighted_costs[fold.train] > 0]  # rows that cost nothing are left out of the training
    for part, rows, needed in (("training", trained, True), ("validation", fold.valid, ranking)):
        present = np.unique(sample.positive[rows])
        if len(rows) == 0 or (needed and len(present) < 2):
            one_class = len(rows) > 0
            found = f"rows of the {'target' if present[0] else 'other'} class only" if one_class else "none that counts"
            why = ", which this scoring cannot rank" if part == "validation" and one_class else ""
            raise ValueError(
                f"the {part} rows of fold {number} hold {found}{why}. Use fewer or stratified folds, "
                "for example cv=StratifiedKFold(5, shuffle=True)."
            )
