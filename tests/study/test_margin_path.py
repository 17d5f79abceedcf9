"""Numbers of support vectors over the negative margin: those of a fit at each kappa."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cssvm import CostSensitiveSVC
from study.paths import MarginPath, margin_path, plot_margin_path

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


def test_the_positive_class_may_be_the_first_one(data):
    X, y = data
    expected = margin_path(SVC, X, y, kappas=KAPPAS)
    found = margin_path(clone(SVC).set_params(pos_label="bad"), X, np.where(y == 1, "bad", "good"), kappas=KAPPAS)
    assert_array_equal(found.n_positive, expected.n_positive)
    assert_array_equal(found.n_negative, expected.n_negative)


def test_fit_params_are_passed_to_fit(data):
    X, y = data
    weight = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    path = margin_path(SVC, X, y, kappas=[1.0], sample_weight=weight)
    assert [path.n_negative[0], path.n_positive[0]] == clone(SVC).fit(X[1::2], y[1::2]).n_support_.tolist()


@pytest.mark.parametrize("kappas", [[], [0.0], [1.0, -1.0], [np.nan], [np.inf], 1.0])
def test_margins_that_are_not_positive_are_rejected(data, kappas):
    with pytest.raises(ValueError, match="kappas must be a list of positive finite margins"):
        margin_path(SVC, *data, kappas=kappas)


def test_an_estimator_without_kappa_is_rejected(data):
    with pytest.raises(ValueError, match="LogisticRegression has no parameter kappa"):
        margin_path(LogisticRegression(), *data, kappas=KAPPAS)


def test_kappa_decreases_to_the_right_on_a_binary_axis():
    plt = pytest.importorskip("matplotlib.pyplot")
    path = MarginPath(np.array([1 / 4, 1.0, 1 / 2]), np.array([20, 90, 40]), np.array([10, 10, 10]))
    _, axes = plt.subplots(1, 2)
    counts, ratio = plot_margin_path(path, axes)
    negative, positive = counts.get_lines()
    assert negative.get_xdata().tolist() == [1.0, 1 / 2, 1 / 4]
    assert negative.get_ydata().tolist() == [90, 40, 20]
    assert positive.get_ydata().tolist() == [10, 10, 10]
    assert ratio.get_lines()[0].get_ydata().tolist() == [9.0, 4.0, 2.0]
    for drawn in axes:
        left, right = drawn.get_xlim()
        assert left > right
        assert drawn.get_xscale() == "log"
    plt.close("all")


def test_the_ratio_is_infinite_without_positive_support_vectors():
    path = MarginPath(np.array([1 / 4, 1.0]), np.array([20, 90]), np.array([10, 0]))
    assert path.ratio.tolist() == [2.0, np.inf]


def test_one_axis_is_rejected():
    plt = pytest.importorskip("matplotlib.pyplot")
    path = MarginPath(np.array([1.0]), np.array([2]), np.array([1]))
    with pytest.raises(ValueError, match="two axes"):
        plot_margin_path(path, plt.subplots()[1])
    plt.close("all")
