"""Numbers of support vectors over the negative margin: those of a fit at each kappa."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cssvm import CostSensitiveSVC
from cssvm._search import margin_path

KAPPAS = [1.0, 1 / 4, 1 / 8]
SVC = CostSensitiveSVC(fn_cost=8.0)


def test_counts_are_those_of_a_fit_at_each_kappa(data):
    path = margin_path(SVC, *data, kappas=KAPPAS)
    for i, kappa in enumerate(KAPPAS):
        model = clone(SVC).set_params(kappa=kappa).fit(*data)
        assert [path.n_negative[i], path.n_positive[i]] == model.n_support_.tolist()
    assert SVC.kappa == 1.0


def test_a_tied_kappa_sets_the_slope_instead(data):
    path = margin_path(clone(SVC).set_params(kappa="tied"), *data, kappas=KAPPAS)
    for i, kappa in enumerate(KAPPAS):
        model = CostSensitiveSVC(fn_cost=8.0, fp_cost=1 / kappa, kappa=kappa).fit(*data)
        assert [path.n_negative[i], path.n_positive[i]] == model.n_support_.tolist()


def test_a_vanishing_kappa_at_fixed_slopes_is_a_doubled_C(data):
    path = margin_path(SVC, *data, kappas=[2.0**-40])
    doubled = clone(SVC).set_params(C=2.0 * clone(SVC).fit(*data).C_).fit(*data)
    assert [path.n_negative[0], path.n_positive[0]] == doubled.n_support_.tolist()


def test_the_target_is_the_positive_class_when_it_comes_first(data):
    X, y = data
    plain = margin_path(SVC, X, y, kappas=KAPPAS)
    turned = margin_path(clone(SVC).set_params(pos_label="bad"), X, np.where(y == 1, "bad", "good"), kappas=KAPPAS)
    assert_array_equal(turned.n_positive, plain.n_positive)
    assert_array_equal(turned.n_negative, plain.n_negative)


def test_arguments_of_fit_are_passed_on(data):
    X, y = data
    weight = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    path = margin_path(SVC, X, y, kappas=[1.0], sample_weight=weight)
    assert [path.n_negative[0], path.n_positive[0]] == clone(SVC).fit(X[1::2], y[1::2]).n_support_.tolist()


@pytest.mark.parametrize("kappas", [[], [0.0], [1.0, -1.0], [np.nan], [np.inf], 1.0])
def test_margins_that_are_not_positive_are_refused(data, kappas):
    with pytest.raises(ValueError, match="kappas must be a list of positive finite margins"):
        margin_path(SVC, *data, kappas=kappas)


def test_an_estimator_without_kappa_is_refused(data):
    with pytest.raises(ValueError, match="LogisticRegression has no parameter kappa"):
        margin_path(LogisticRegression(), *data, kappas=KAPPAS)
