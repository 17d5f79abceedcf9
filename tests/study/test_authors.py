"""The authors' run on German credit: risk and threshold by hand, and how much the figures depend on the folds."""

import numpy as np

from study.authors import LOG, normalised_risk, pooled_threshold, repeat_authors
from study.authors_rows import authors_rows_table, errors_behind


def test_the_risk_is_the_paper_s_divided_by_the_weighted_costs():
    y, predicted = np.array([1, 1, 0, 0, 0]), np.array([True, False, True, False, False])
    prior = 0.3
    expected = (0.3 * 5 * 0.5 + 0.7 * 1 * (1 / 3)) / (0.3 * 5 + 0.7 * 1)
    assert normalised_risk(y, predicted, prior) == expected
    everybody = np.ones(5, bool)
    assert np.isclose(normalised_risk(y, everybody, prior), 0.7 / 2.2)


def test_the_threshold_is_the_best_score_or_the_next_lower_one():
    scores, y = np.array([0.9, 0.8, 0.4, 0.1]), np.array([1, 1, 0, 0])
    assert pooled_threshold(scores, y, 0.5, one_too_low=False) == (0.8, 0.0)
    assert pooled_threshold(scores, y, 0.5, one_too_low=True)[0] == 0.4


def test_figures_of_the_log_lie_within_the_variation_over_folds(shared_data):
    """The three methods of the log differ by less than one method over different folds."""
    found = {method: repeat_authors(method, n_shuffles=6, data_home=shared_data) for method in LOG}
    tests = [logged.test for logged in LOG.values()]
    widest = max(np.ptp(each.test) for each in found.values())
    assert widest > max(tests) - min(tests)
    for method, logged in LOG.items():
        assert abs(found[method].test.mean() - logged.test) < 0.02
        assert abs(found[method].validation.mean() - logged.validation) < 0.02
    assert found["BM"].span < 1e-3  # smaller than the tolerance of the solver that made the log


def test_a_risk_of_the_log_determines_the_numbers_of_errors():
    prior = 237 / 800  # of the authors' training file; 63 positive and 137 negative test samples
    assert errors_behind(LOG["BM"].test, 63, 137, prior) == [(7, 78)]
    fn, fp = np.arange(63) < 7, np.arange(137) < 78
    y, predicted = np.repeat([1, 0], [63, 137]), np.concatenate([~fn, fp])
    assert abs(normalised_risk(y, predicted, prior) - 0.258700) < 5e-7


def test_libsvm_at_its_default_tolerance_gives_the_log_s_risks_of_bm_and_bp(shared_data):
    rows = {row[0]: row for row in authors_rows_table(data_home=shared_data).rows}
    assert rows["BM-SVM"][3].startswith("yes, from f = -1.000")  # the log adds 1.00 to f
    assert rows["BM-SVM"][4].startswith("no")  # the exact solution orders these samples differently
    assert rows["BP-SVM"][3].startswith("yes, from f = 0.972")
    assert rows["BP-SVM"][4].startswith("yes, from f = 0.972")
