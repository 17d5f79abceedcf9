"""Reports of a fit: one warning without convergence, and a summary on request."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from cssvm import BiasedPenaltySVC, BoundaryMovementSVC, CostSensitiveSVC
from cssvm._solvers.dual import Status

ESTIMATORS = [CostSensitiveSVC, BiasedPenaltySVC, BoundaryMovementSVC]
X, Y = make_classification(2000, 10, flip_y=0.3, random_state=0)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_iteration_limit_warns_once_with_violation_gap_and_remedy(estimator):
    with pytest.warns(
        ConvergenceWarning, match=r"iteration limit after .* violation .* gap .* Raise max_iter"
    ) as caught:
        model = estimator(max_iter=5).fit(X, Y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.fit_status_ is Status.ITERATION_LIMIT
    assert model.dual_gap_ > 0
    assert np.isfinite(model.decision_function(X)).all()


def test_folds_that_do_not_converge_share_one_warning():
    with pytest.warns(ConvergenceWarning) as caught:
        BoundaryMovementSVC(max_iter=5, cv=3).fit(X, Y)
    assert len(caught) == 1


def test_a_fit_prints_nothing_by_default(capsys):
    CostSensitiveSVC().fit(X, Y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_verbose_prints_one_line_and_verbose_two_the_profile(estimator, capsys):
    model = estimator(verbose=1).fit(X, Y)
    (summary,) = capsys.readouterr().out.splitlines()
    assert summary.startswith(f"{estimator.__name__}: converged after")
    assert f"{len(model.support_)} support vectors" in summary
    estimator(verbose=2).fit(X, Y)
    _, profile = capsys.readouterr().out.splitlines()
    assert profile.count(" s") >= 1
