"""A loss seen from its three sides: the loss pair over f, the minimum risk over eta, the link between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core.types import Vector
from ..losses import CostSensitiveHinge, Loss, ZeroOneLoss
from ._canvas import BLUE, GREEN, GREY, VERMILION, legend_above_curves, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANELS = ("loss", "min_risk", "link")

# Inches of one panel in a figure of our own; a single panel keeps matplotlib's default size.
PANEL_WIDTH, PANEL_HEIGHT = 4.0, 3.4

N_POINTS = 401  # of each curve, one for every pixel or two

# A longer repr does not fit over one panel; the class name does.
LONGEST_NAME = 48


class LossCurves(NamedTuple):
    """The numbers of one loss, over scores f and over probabilities eta of y = +1.

    Attributes
    ----------
    name : str
        Title of the row of panels.
    f, pos_loss, neg_loss : ndarray of shape (n_scores,)
        Scores, and the loss of y = +1 and of y = -1 at these.
    eta, min_risk, zero_one_risk, link : ndarray of shape (n_etas,)
        Probabilities from 0 to 1, the minimum conditional risks of this and of the zero-one loss, the optimal score.
    threshold, costs : float, tuple of two floats
        The eta above which +1 is predicted, and C1 and C_minus1, whose Bayes rule the loss implements.
    printed_risk : ndarray of shape (n_etas,) or None
        For `CostSensitiveHinge`, if it differs, the minimum risk as printed in the paper.
    """

    name: str
    f: Vector
    pos_loss: Vector
    neg_loss: Vector
    eta: Vector
    min_risk: Vector
    zero_one_risk: Vector
    link: Vector
    threshold: float
    costs: tuple[float, float]
    printed_risk: Vector | None = None


@dataclass(eq=False, repr=False)
class LossDisplay:
    """Losses, their minimum risks and their links: a row of panels for each loss.

    With eta = P(y = +1 | x), the panels show::

        loss        value(+1, f) and value(-1, f) over the score f
        min_risk    min over f of eta value(+1, f) + (1 - eta) value(-1, f) over eta, and behind it the
                    zero-one risk min(C1 eta, C_minus1 (1 - eta)) of the same costs; for the paper's
                    `CostSensitiveHinge` also the curve that the paper prints, of the scores -1 and +1 only
        link        the minimising f over eta; it crosses zero at the same threshold

    Use `from_losses` to create one.

    Parameters
    ----------
    curves : sequence of LossCurves
        The numbers, a row of panels each.
    panels : sequence of {"loss", "min_risk", "link"}, default=("loss", "min_risk", "link")
        The panels of a row, from left to right.

    Attributes
    ----------
    axes_, figure_ : ndarray of shape (n_losses, n_panels) of matplotlib Axes, Figure
        Where the panels were drawn.
    lines_ : list of dict
        For each loss, its lines by name: "pos_loss", "neg_loss"; "min_risk", "zero_one_risk", "threshold" and, for
        the paper's loss, "printed_risk"; "link", "link_threshold".

    Examples
    --------
    >>> from cssvm.displays import LossDisplay
    >>> from cssvm.losses import CostSensitiveHinge
    >>> display = LossDisplay.from_losses([CostSensitiveHinge(4, 2), CostSensitiveHinge(1, 1)])
    >>> display.axes_.shape
    (2, 3)
    >>> print(round(display.curves[0].threshold, 4))
    0.4286
    """

    curves: Sequence[LossCurves]
    panels: Sequence[str] = field(default=PANELS, kw_only=True)

    @classmethod
    def from_losses(
        cls,
        losses: Loss | Sequence[Loss],
        *,
        panels: Sequence[str] = PANELS,
        f_range: tuple[float, float] = (-2.0, 2.0),
        names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> LossDisplay:
        """Draw one or more losses, below each other; return the display.

        Parameters
        ----------
        losses : Loss or sequence of Loss
            Losses with one pair of costs each.
        panels
            As in `LossDisplay`.
        f_range : tuple of two floats, default=(-2.0, 2.0)
            Smallest and largest score of the panel "loss".
        names : sequence of str, default=None
            Titles of the losses. If None, the repr of each loss.
        ax
            As in `plot`.
        """
        losses = [losses] if isinstance(losses, Loss) else losses
        if len(losses) == 0:
            raise ValueError("losses must hold at least one loss, for example [CostSensitiveHinge(4, 2)]; got none.")
        if names is not None and len(names) != len(losses):
            raise ValueError(f"names must hold one name for each of the {len(losses)} losses; got {len(names)}.")
        titles = [_name(loss) for loss in losses] if names is None else names
        curves = [_loss_curves(loss, title, f_range) for loss, title in zip(losses, titles, strict=True)]
        return cls(curves, panels=panels).plot(ax=ax)

    def plot(self, ax: Any = None) -> LossDisplay:
        """Draw the panels; return the display.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            One axis for each loss and panel, of shape (n_losses, n_panels) or flat. If None, a new figure is created.
        """
        unknown = [panel for panel in self.panels if panel not in PANELS]
        if unknown or len(self.panels) == 0:
            raise ValueError(f"panels must be some of {PANELS}; got {tuple(self.panels)!r}.")
        axes = self._axes(ax)
        draw = {"loss": _draw_loss, "min_risk": _draw_min_risk, "link": _draw_link}
        lines: list[dict[str, Any]] = []
        for curves, row in zip(self.curves, axes, strict=True):
            drawn: dict[str, Any] = {}
            for panel, axis in zip(self.panels, row, strict=True):
                drawn |= draw[panel](axis, curves)
            row[0].set_title(curves.name, loc="left", fontsize="medium")
            lines.append(drawn)
        self.lines_ = lines
        self.axes_ = axes
        self.figure_ = axes[0, 0].figure
        return self

    def _axes(self, ax: Any) -> NDArray[Any]:
        """(n_losses, n_panels) axes: the given ones in order, or those of a new figure."""
        shape = len(self.curves), len(self.panels)
        plt = pyplot()
        if ax is None:
            size = None if shape == (1, 1) else (PANEL_WIDTH * shape[1], PANEL_HEIGHT * shape[0])
            _, axes = plt.subplots(*shape, figsize=size, squeeze=False, layout="constrained")
            return axes
        axes = np.asarray(ax, dtype=object)
        if axes.size != shape[0] * shape[1]:
            raise ValueError(
                f"ax must hold {shape[0]} x {shape[1]} axes, one for each loss and panel; got {axes.size}. "
                f"Make them with plt.subplots{shape}."
            )
        return axes.reshape(shape)


def _name(loss: Loss) -> str:
    """The repr of the loss where it fits over a panel, otherwise its class."""
    name = repr(loss)
    return name if len(name) <= LONGEST_NAME and "\n" not in name else type(loss).__name__


def _loss_curves(loss: Loss, name: str, f_range: tuple[float, float]) -> LossCurves:
    """The loss on grids of scores and of probabilities, with points on both sides of possible jumps."""
    low, high = f_range
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"f_range must be two finite scores, the smaller first; got f_range={f_range!r}.")
    if np.size(loss.threshold) != 1:
        raise ValueError(
            f"losses must have one pair of costs each; {type(loss).__name__} has {np.size(loss.threshold)}. Draw the "
            "loss of a single sample, for example HingeLoss(pos_slope=c)."
        )
    threshold = float(loss.threshold)
    f = np.linspace(low, high, N_POINTS)
    if low < 0 < high:
        f = np.union1d(f, [np.nextafter(0.0, -1.0), 0.0])
    eta = np.union1d(
        np.linspace(0.0, 1.0, N_POINTS), [np.nextafter(threshold, 0.0), threshold, np.nextafter(threshold, 1.0)]
    )
    C1, C_minus1 = (float(cost) for cost in loss.costs)
    printed = loss if isinstance(loss, CostSensitiveHinge) and loss.C_minus1 != 1.0 else None
    if printed is not None:
        eta = np.union1d(eta, printed.C_minus1 / (printed.C1 + printed.C_minus1))
    return LossCurves(
        name=name,
        f=f,
        pos_loss=np.asarray(loss.value(1, f)),
        neg_loss=np.asarray(loss.value(-1, f)),
        eta=eta,
        min_risk=np.asarray(loss.min_risk(eta)),
        zero_one_risk=np.asarray(ZeroOneLoss(C1, C_minus1).min_risk(eta)),
        link=np.asarray(loss.link(eta)),
        threshold=threshold,
        costs=(C1, C_minus1),
        printed_risk=None if printed is None else np.asarray(printed.printed_risk(eta)),
    )


def _draw_loss(ax: Axes, curves: LossCurves) -> dict[str, Any]:
    (positive,) = ax.plot(curves.f, curves.pos_loss, color=BLUE, label="y = +1")
    (negative,) = ax.plot(curves.f, curves.neg_loss, color=VERMILION, linestyle="--", label="y = \N{MINUS SIGN}1")
    ax.set(xlabel="score f", ylabel="loss", xlim=(curves.f[0], curves.f[-1]))
    ax.set_ylim(bottom=0.0)
    legend_above_curves(ax, ncols=2)
    return {"pos_loss": positive, "neg_loss": negative}


def _draw_min_risk(ax: Axes, curves: LossCurves) -> dict[str, Any]:
    zero_one = "zero-one, costs {:.3g} and {:.3g}".format(*curves.costs)
    (behind,) = ax.plot(curves.eta, curves.zero_one_risk, color=GREY, linewidth=3.0, alpha=0.6, label=zero_one)
    (risk,) = ax.plot(curves.eta, curves.min_risk, color=BLUE, label="this loss")
    lines = {"min_risk": risk, "zero_one_risk": behind}
    if curves.printed_risk is not None:
        label = f"as the paper prints it, peak at {curves.eta[np.argmax(curves.printed_risk)]:.3g}"
        (lines["printed_risk"],) = ax.plot(curves.eta, curves.printed_risk, color=VERMILION, ls="--", label=label)
    there = np.searchsorted(curves.eta, curves.threshold)
    lines["threshold"] = _mark_threshold(ax, curves, (0.0, max(curves.min_risk[there], curves.zero_one_risk[there])))
    ax.set(xlabel="probability η of y = +1", ylabel="minimum conditional risk", xlim=(0.0, 1.0))
    ax.set_ylim(bottom=0.0)
    legend_above_curves(ax)
    return lines


def _draw_link(ax: Axes, curves: LossCurves) -> dict[str, Any]:
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    (link,) = ax.plot(curves.eta, curves.link, color=BLUE)
    threshold = _mark_threshold(ax, curves, (ax.get_ylim()[0], ax.dataLim.y1))
    ax.set(xlabel="probability η of y = +1", ylabel="optimal score f", xlim=(0.0, 1.0))
    legend_above_curves(ax)
    return {"link": link, "link_threshold": threshold}


def _mark_threshold(ax: Axes, curves: LossCurves, height: tuple[float, float]) -> Any:
    """A vertical line no higher than the curves, which leaves the legend above them alone."""
    label = f"decision changes at {curves.threshold:.3g}"
    bottom, top = ax.get_ylim()
    (line,) = ax.plot([curves.threshold] * 2, height, color=GREEN, linestyle=":", label=label)
    ax.set_ylim(bottom, top)
    return line
