"""`_predict_all` returns in one pass what `predict`, `positive_class_scores` and `predict_proba` return."""

import numpy as np
import pytest

from cssvm import CostSensitiveSVCCV, evaluate, positive_class_scores


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("decision", ["zero", "threshold", "bayes"])
def test_one_pass_gives_the_results_of_three_methods(decision, pos_label, data, amounts):
    X, y = data
    search = CostSensitiveSVCCV(Cs=[1.0], gammas=[0.2], cv=2, decision=decision, fn_cost=3.0, pos_label=pos_label)
    search.fit(X, y)
    costs = {"fn_cost": amounts, "fp_cost": 4.0} if decision == "bayes" else {}
    found = search._predict_all(X, **costs)
    np.testing.assert_array_equal(found.labels, search.predict(X, **costs))
    np.testing.assert_array_equal(found.scores, positive_class_scores(search, X).values)
    if decision == "bayes":
        p = found.probabilities
        np.testing.assert_array_equal(p, search.predict_proba(X)[:, pos_label])
        np.testing.assert_array_equal(found.labels == pos_label, p * amounts > (1 - p) * 4.0)
    else:
        assert found.probabilities is None
        with pytest.raises(ValueError, match="takes no costs"):
            search._predict_all(X, fn_cost=2.0)


def test_evaluate_counts_its_fits_on_the_error_stream(data, capsys):
    X, y = data
    evaluate(CostSensitiveSVCCV(Cs=[1.0], gammas=[0.2], cv=2), X, y, cv=3, n_resamples=1, verbose=1)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "evaluate: 6 of 6 fits" in shown.err
