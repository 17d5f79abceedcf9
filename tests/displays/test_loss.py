import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from cssvm.displays import LossDisplay
from cssvm.losses import CostSensitiveHinge, ExponentialLoss, HingeLoss, LogisticLoss, ZeroOneLoss

# A value computed by two formulas of a few operations differs by a few roundings.
ROUNDING = 1e-12


def test_the_papers_figure_is_one_call():
    display = LossDisplay.from_losses([CostSensitiveHinge(4, 2), CostSensitiveHinge(1, 1)], panels=("min_risk", "loss"))
    assert display.axes_.shape == (2, 2)
    top, bottom = display.lines_
    f, eta = top["pos_loss"].get_xdata(), top["min_risk"].get_xdata()
    assert_allclose(top["pos_loss"].get_ydata(), 4 * np.maximum(0, 1 - f), atol=ROUNDING)
    assert_allclose(top["neg_loss"].get_ydata(), np.maximum(0, 1 + 3 * f), atol=ROUNDING)
    assert_allclose(top["min_risk"].get_ydata(), (1 + 1 / 3) * np.minimum(4 * eta, 3 * (1 - eta)), atol=ROUNDING)
    assert_allclose(top["zero_one_risk"].get_ydata(), np.minimum(4 * eta, 3 * (1 - eta)), atol=ROUNDING)
    assert_allclose(top["threshold"].get_xdata(), 3 / 7)
    # The curve that the paper prints, eq. (CstarSVMmm), is there too and peaks at 1/3; for costs of 1 they are one.
    score = np.where(6 * eta >= 2, 1, -1)
    printed = eta * np.maximum(0, 4 - 4 * score) + (1 - eta) * np.maximum(0, 1 + 3 * score)
    assert_allclose(top["printed_risk"].get_ydata(), printed, atol=ROUNDING)
    assert_allclose(eta[np.argmax(printed)], 1 / 3)
    assert "as the paper prints it, peak at 0.333" in [t.get_text() for t in display.axes_[0, 0].get_legend().texts]
    assert "printed_risk" not in bottom
    assert_allclose(bottom["min_risk"].get_ydata(), 2 * np.minimum(eta_of(bottom), 1 - eta_of(bottom)), atol=ROUNDING)


def eta_of(lines):
    return lines["min_risk"].get_xdata()


@pytest.mark.parametrize(
    "loss", [ExponentialLoss(4, 2), LogisticLoss(2, 5), CostSensitiveHinge(4, 2), ZeroOneLoss(3, 1)]
)
def test_lines_hold_what_the_loss_computes(loss):
    (lines,) = LossDisplay.from_losses(loss, f_range=(-1.5, 0.5)).lines_
    f, eta = lines["pos_loss"].get_xdata(), lines["link"].get_xdata()
    assert (f[0], f[-1], eta[0], eta[-1]) == (-1.5, 0.5, 0.0, 1.0)
    assert_array_equal(lines["pos_loss"].get_ydata(), loss.value(1, f))
    assert_array_equal(lines["neg_loss"].get_ydata(), loss.value(-1, f))
    assert_array_equal(lines["link"].get_ydata(), loss.link(eta))
    assert_array_equal(lines["min_risk"].get_ydata(), loss.min_risk(eta))
    assert loss.threshold in eta


def test_the_zero_one_risk_peaks_at_the_threshold():
    curves = LossDisplay.from_losses(LogisticLoss(5, 2), panels=["min_risk"]).curves[0]
    assert curves.eta[np.argmax(curves.zero_one_risk)] == curves.threshold == 2 / 7


def test_jumps_are_drawn_upright():
    """Next to a jump the grid has two points that no pixel separates."""
    curves = LossDisplay.from_losses(ZeroOneLoss(3, 1)).curves[0]
    jump = np.flatnonzero(np.abs(np.diff(curves.neg_loss)) > 0.5)
    assert_allclose(np.diff(curves.f)[jump], 0, atol=ROUNDING)
    step = LossDisplay.from_losses(CostSensitiveHinge(4, 2)).curves[0]
    jump = np.flatnonzero(np.abs(np.diff(step.link)) > 0.1)
    assert_allclose(np.diff(step.eta)[jump], 0, atol=ROUNDING)


def test_given_axes_are_drawn_on():
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3)
    display = LossDisplay.from_losses(ExponentialLoss(), ax=axes)
    assert display.axes_.ravel().tolist() == axes.tolist()
    assert display.figure_ is figure
    _, axis = plt.subplots()
    assert LossDisplay.from_losses(ExponentialLoss(), panels=["link"], ax=axis).axes_.item() is axis


def test_drawing_twice_does_not_alter_the_numbers():
    display = LossDisplay.from_losses(LogisticLoss(4, 2))
    before = [np.copy(values) for values in display.curves[0][1:]]
    first = display.lines_
    display.plot()
    assert all(map(np.array_equal, before, display.curves[0][1:]))
    for name, line in display.lines_[0].items():
        assert line is not first[0][name]
        assert_array_equal(line.get_ydata(), first[0][name].get_ydata())


def test_panels_are_titled_with_the_loss_or_a_given_name():
    plain = LossDisplay.from_losses(CostSensitiveHinge(4, 2))
    assert plain.axes_[0, 0].get_title(loc="left") == "CostSensitiveHinge(C1=4.0, C_minus1=2.0)"
    named = LossDisplay.from_losses(CostSensitiveHinge(4, 2), names=["CS-SVM"])
    assert named.axes_[0, 0].get_title(loc="left") == "CS-SVM"


def test_every_axis_is_labelled():
    for axis in LossDisplay.from_losses(ExponentialLoss()).axes_.ravel():
        assert axis.get_xlabel()
        assert axis.get_ylabel()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"panels": ("risk",)}, "panels must be some of"),
        ({"panels": ()}, "panels must be some of"),
        ({"f_range": (1.0, -1.0)}, "f_range must be two finite scores"),
        ({"f_range": (0.0, np.inf)}, "f_range must be two finite scores"),
        ({"ax": []}, "ax must hold 1 x 3 axes"),
    ],
)
def test_wrong_arguments_are_rejected_with_the_reason(arguments, message):
    with pytest.raises(ValueError, match=message):
        LossDisplay.from_losses(ExponentialLoss(), **arguments)


def test_no_losses_and_missing_names_are_rejected():
    with pytest.raises(ValueError, match="at least one loss"):
        LossDisplay.from_losses([])
    with pytest.raises(ValueError, match="one name for each of the 1 losses"):
        LossDisplay.from_losses([ExponentialLoss()], names=["a", "b"])


def test_a_loss_with_many_costs_is_rejected():
    with pytest.raises(ValueError, match="one pair of costs"):
        LossDisplay.from_losses(HingeLoss(pos_slope=[1.0, 2.0], neg_slope=[1.0, 2.0]))
