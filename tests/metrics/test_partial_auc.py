from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from cssvm.metrics import tn_auc_loss, tp_auc_loss

from .samples import cases, rates_by_definition, thresholds


def exact_mean_height(points, width):
    """Mean of y over x in [0, width], piece by piece, in fractions."""
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x1 == x0 or x0 >= width:
            continue
        end = min(x1, width)
        y_end = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
        area += (end - x0) * (y0 + y_end) / 2
    return area / width


@given(case=cases(), t=st.sampled_from([0, Fraction(1, 4), Fraction(1, 2), Fraction(7, 8)]))
def test_both_losses_equal_the_exact_area(case, t):
    points = [rates_by_definition(case, level) for level in thresholds(case)]
    tn = exact_mean_height(points, 1 - t)
    tp = exact_mean_height([(fnr, fpr) for fpr, fnr in reversed(points)], 1 - t)
    # At most ten pieces, each rounded a few times.
    close = {"rel": 1e-13, "abs": 1e-15}
    assert tn_auc_loss(case.y, case.score, t=float(t), sample_weight=case.weight) == pytest.approx(float(tn), **close)
    assert tp_auc_loss(case.y, case.score, t=float(t), sample_weight=case.weight) == pytest.approx(float(tp), **close)


@given(case=cases(max_rows=20))
def test_with_t_zero_both_are_the_area_above_the_roc_curve(case):
    above = 1 - roc_auc_score(case.y, case.score, sample_weight=case.weight)
    for loss in (tp_auc_loss, tn_auc_loss):
        assert loss(case.y, case.score, t=0, sample_weight=case.weight) == pytest.approx(above, abs=1e-14)


@given(case=cases(), t=st.floats(0, 0.99))
def test_swapping_classes_and_signs_turns_one_loss_into_the_other(case, t):
    swapped = tn_auc_loss(case.y, -case.score, t=t, pos_label=0, sample_weight=case.weight)
    assert tp_auc_loss(case.y, case.score, t=t, sample_weight=case.weight) == pytest.approx(swapped, abs=1e-12)


def test_losses_follow_from_scikit_learns_curve():
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 500), rng.normal(size=500).round(1)
    fpr, tpr, _ = roc_curve(y, score, drop_intermediate=False)
    # Integrals on a grid of 10^6 steps: an error of one step at each of at most 100 jumps.
    grid = (np.arange(1_000_000) + 0.5) / 1_000_000
    few_misses = np.interp(0.8 + 0.2 * grid, tpr, fpr).mean()
    few_alarms = 1 - np.interp(0.2 * grid, fpr, tpr).mean()
    assert tp_auc_loss(y, score, t=0.8) == pytest.approx(few_misses, abs=1e-4)
    assert tn_auc_loss(y, score, t=0.8) == pytest.approx(few_alarms, abs=1e-4)


def test_the_cut_falls_inside_a_sloping_piece():
    # One tie of a positive and a negative sample: the ROC curve is the diagonal, FPR = TPR.
    assert tp_auc_loss([0, 1], [1.0, 1.0], t=0.9) == pytest.approx(0.95, rel=1e-15)
    assert tn_auc_loss([0, 1], [1.0, 1.0], t=0.9) == pytest.approx(0.95, rel=1e-15)


def test_perfect_scores_lose_nothing_and_reversed_ones_everything():
    y = [0, 0, 1, 1, 1]
    for loss in (tp_auc_loss, tn_auc_loss):
        assert loss(y, [1, 2, 3, 4, 5]) == 0.0
        assert loss(y, [5, 4, 3, 2, 1]) == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("t", [1.0, -0.1, 1.5, np.nan, "0.9", None])
@pytest.mark.parametrize("loss", [tp_auc_loss, tn_auc_loss])
def test_t_is_a_rate_below_one(loss, t):
    with pytest.raises(ValueError, match=r"t must be a rate in \[0, 1\); got t="):
        loss([0, 1], [0.1, 0.2], t=t)


@pytest.mark.parametrize("loss", [tp_auc_loss, tn_auc_loss])
def test_a_roc_curve_needs_both_classes(loss):
    with pytest.raises(ValueError, match=r"both classes.* for a ROC curve; got none of the other class"):
        loss([1, 1], [0.1, 0.2], pos_label=1)
