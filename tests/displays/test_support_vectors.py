import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cssvm import CostSensitiveSVC
from cssvm.displays import SupportVectorPathDisplay

KAPPAS = [1.0, 1 / 4, 1 / 8]
SVC = CostSensitiveSVC(fn_cost=8.0)


def test_counts_are_those_of_a_fit_at_each_kappa(data):
    display = SupportVectorPathDisplay.from_estimator(SVC, *data, kappas=KAPPAS)
    for i, kappa in enumerate(KAPPAS):
        model = clone(SVC).set_params(kappa=kappa).fit(*data)
        assert [display.n_negative[i], display.n_positive[i]] == model.n_support_.tolist()
    assert SVC.kappa == 1.0


def test_a_tied_kappa_sets_the_slope_instead(data):
    display = SupportVectorPathDisplay.from_estimator(clone(SVC).set_params(kappa="tied"), *data, kappas=KAPPAS)
    for i, kappa in enumerate(KAPPAS):
        model = CostSensitiveSVC(fn_cost=8.0, fp_cost=1 / kappa, kappa=kappa).fit(*data)
        assert [display.n_negative[i], display.n_positive[i]] == model.n_support_.tolist()


@pytest.mark.filterwarnings("ignore::cssvm.CostConditionWarning")
def test_a_vanishing_kappa_at_fixed_slopes_is_a_doubled_C(data):
    display = SupportVectorPathDisplay.from_estimator(SVC, *data, kappas=[2.0**-40])
    doubled = clone(SVC).set_params(C=2.0).fit(*data)
    assert [display.n_negative[0], display.n_positive[0]] == doubled.n_support_.tolist()


def test_the_target_is_the_positive_class_when_it_comes_first(data):
    X, y = data
    plain = SupportVectorPathDisplay.from_estimator(SVC, X, y, kappas=KAPPAS)
    turned = SupportVectorPathDisplay.from_estimator(
        clone(SVC).set_params(pos_label="bad"), X, np.where(y == 1, "bad", "good"), kappas=KAPPAS
    )
    assert_array_equal(turned.n_positive, plain.n_positive)
    assert_array_equal(turned.n_negative, plain.n_negative)


def test_arguments_of_fit_are_passed_on(data):
    X, y = data
    weight = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    display = SupportVectorPathDisplay.from_estimator(SVC, X, y, kappas=[1.0], sample_weight=weight)
    assert [display.n_negative[0], display.n_positive[0]] == clone(SVC).fit(X[1::2], y[1::2]).n_support_.tolist()


def test_kappa_decreases_to_the_right_on_a_binary_axis():
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(1, 2)
    display = SupportVectorPathDisplay([1 / 4, 1.0, 1 / 2], [20, 90, 40], [10, 10, 10]).plot(ax=axes)
    display.plot(ax=axes)
    assert display.axes_.tolist() == axes.tolist()
    assert display.negative_line_.get_xdata().tolist() == [1.0, 1 / 2, 1 / 4]
    assert display.negative_line_.get_ydata().tolist() == [90, 40, 20]
    assert display.positive_line_.get_ydata().tolist() == [10, 10, 10]
    assert display.ratio_line_.get_ydata().tolist() == [9.0, 4.0, 2.0]
    for drawn in axes:
        left, right = drawn.get_xlim()
        assert left > right
        assert drawn.get_xscale() == "log"


def test_drawing_does_not_alter_the_numbers():
    display = SupportVectorPathDisplay([1 / 4, 1.0], [20, 90], [10, 0])
    display.plot()
    assert display.kappas.tolist() == [1 / 4, 1.0]
    assert display.n_negative.tolist() == [20, 90]
    assert display.ratio.tolist() == [2.0, np.inf]


@pytest.mark.parametrize("kappas", [[], [0.0], [1.0, -1.0], [np.nan], [np.inf], 1.0])
def test_margins_that_are_not_positive_are_refused(data, kappas):
    with pytest.raises(ValueError, match="kappas must be a list of positive finite margins"):
        SupportVectorPathDisplay.from_estimator(SVC, *data, kappas=kappas)


def test_an_estimator_without_kappa_is_refused(data):
    with pytest.raises(ValueError, match="LogisticRegression has no parameter kappa"):
        SupportVectorPathDisplay.from_estimator(LogisticRegression(), *data, kappas=KAPPAS)


def test_one_axis_is_refused(axis):
    with pytest.raises(ValueError, match="two axes"):
        SupportVectorPathDisplay([1.0], [2], [1]).plot(ax=axis)
