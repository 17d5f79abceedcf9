"""Intervals and tests of the study, against SciPy and formulas written out."""

import numpy as np
import pytest
from scipy import stats

from study.statistics import corrected_estimate, friedman_ranks, wilcoxon

VALUES = np.array([0.3, 0.1, 0.25, 0.4, 0.2, 0.15, 0.3, 0.35, 0.22, 0.28])


def test_without_overlap_the_corrected_t_is_students():
    found = corrected_estimate(VALUES, test_share=0.0)
    expected = stats.ttest_1samp(VALUES, 0.0)
    low, high = expected.confidence_interval(0.95)
    assert found.p_value == pytest.approx(expected.pvalue)
    assert (found.low, found.high) == pytest.approx((low, high))


def test_overlap_widens_the_interval_by_nadeau_and_bengios_factor():
    """(1 / k + n_test / n_train) instead of 1 / k: for ten folds sqrt((1/10 + 1/9) / (1/10))."""
    student, corrected = corrected_estimate(VALUES, 0.0), corrected_estimate(VALUES, 1 / 9)
    factor = np.sqrt((1 / 10 + 1 / 9) / (1 / 10))
    assert corrected.high - corrected.mean == pytest.approx(factor * (student.high - student.mean))


def test_one_split_has_no_interval_and_equal_methods_no_difference():
    assert np.isnan(corrected_estimate([0.4], 1.0).low)
    assert corrected_estimate(np.zeros(10), 1 / 9).p_value == 1.0
    assert corrected_estimate(np.full(10, 0.1), 1 / 9).p_value == 0.0


def test_wilcoxon_is_scipys_and_equal_sets_give_one():
    other = VALUES + np.array([0.01, -0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.1])
    assert wilcoxon(VALUES, other) == pytest.approx(stats.wilcoxon(VALUES - other, zero_method="zsplit").pvalue)
    assert wilcoxon(VALUES, VALUES) == 1.0


def test_ranks_share_ties_and_the_critical_difference_has_nemenyis_constant():
    """q of the studentised range at 0.05 for four methods over sqrt(2): 2.569 (Demsar 2006, table 5a)."""
    table = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 2.0, 1.0, 5.0], [0.1, 0.3, 0.2, 0.3]])
    found = friedman_ranks(table)
    np.testing.assert_allclose(found.mean, np.mean([[1, 2, 3, 4], [2.5, 2.5, 1, 4], [1, 3.5, 2, 3.5]], axis=0))
    assert found.critical == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 3)), abs=2e-3)
    assert found.p_value == pytest.approx(stats.friedmanchisquare(*table.T).pvalue)
    assert friedman_ranks(np.ones((5, 3))).p_value == 1.0
