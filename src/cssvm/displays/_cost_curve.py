"""Cost curves: what a model costs over all costs and class frequencies, each reduced to one number.

With the share of the target in the cost of being wrong on every row,

    PC(+) = P_1 C_1 / (P_1 C_1 + P_{-1} C_{-1}),

a threshold with rates (FPR, FNR) costs the normalised FNR PC(+) + FPR (1 - PC(+)): a straight line. The lower
envelope of the lines of all thresholds is the cost curve. Calling no row a target costs PC(+), calling all of
them costs 1 - PC(+); a model helps where its curve runs below both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from .._core.types import Vector
from ..metrics import CostCurve
from ..metrics._operating import cost_curve_at_costs, mean_cost_curve
from ._canvas import BLACK, GREY, axis_or_new, label_once, legend_above_curves, unused_color
from ._scored import ScoredDisplayMixin

Curve = tuple[Vector, Vector]

# The two constant decisions cost the same here, and no curve runs above it.
HALF = 0.5


class CostCurveDisplay(ScoredDisplayMixin):
    """Normalised expected cost over the probability-cost PC(+), with the operating point of given costs.

    Several models may share an axis: pass the `ax_` of the first display to the others. Where costs differ
    from row to row, rates weigh each row by its cost. Use `from_estimator`, `from_predictions` or
    `from_cv_results` to make one.

    Parameters
    ----------
    probability_cost, cost : ndarray of shape (n_vertices,)
        Vertices of the curve; it is straight between them.
    operating_point : float
        PC(+) of the given costs and the class frequencies of the rows.
    fold_curves : sequence of (probability_cost, cost), default=()
        Curves of folds, drawn thin; the main curve is their mean.
    name : str, default=None
        Name of the model in the legend.

    Attributes
    ----------
    operating_cost : float
        The curve at the operating point: the smallest normalised risk of any threshold.
    line_ : matplotlib Line2D
        The curve.
    fold_lines_ : list of matplotlib Line2D
        The curves of the folds.
    trivial_lines_ : list of two matplotlib Line2D
        Calling no row and calling every row a target, each where it is the cheaper one.
    point_ : matplotlib Line2D
        The operating point.
    ax_, figure_ : matplotlib Axes, Figure
        Where they were drawn.

    Examples
    --------
    >>> from cssvm.displays import CostCurveDisplay
    >>> y, scores = [0, 0, 1, 0, 1, 1], [-3.0, -2.0, -1.0, 0.5, 1.0, 2.0]
    >>> display = CostCurveDisplay.from_predictions(y, scores, fn_cost=5.0, fp_cost=1.0)
    >>> print(round(display.operating_point, 3), round(display.operating_cost, 3))
    0.833 0.056
    """

    _numbers = staticmethod(cost_curve_at_costs)
    _fold_numbers = staticmethod(mean_cost_curve)
    _name_of_folds = "mean of folds"

    line_: Any
    fold_lines_: list[Any]
    trivial_lines_: list[Any]
    point_: Any
    ax_: Any
    figure_: Any

    def __init__(
        self,
        *,
        probability_cost: Vector,
        cost: Vector,
        operating_point: float,
        fold_curves: Sequence[Curve] = (),
        name: str | None = None,
    ) -> None:
        self.probability_cost = probability_cost
        self.cost = cost
        self.operating_point = operating_point
        self.fold_curves = fold_curves
        self.name = name

    @property
    def operating_cost(self) -> float:
        """The curve at the operating point."""
        return float(CostCurve(self.probability_cost, self.cost).at(self.operating_point))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> CostCurveDisplay:
        """Score X with a fitted classifier and draw.

        Parameters
        ----------
        estimator : estimator
            A fitted binary classifier with `decision_function` or `predict_proba`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score.
        y : array-like of shape (n_samples,)
            Their labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            Cost of a missed row of the target and of a false alarm; entries of the other class are ignored.
        pos_label : label, default=None
            The target. None: the estimator's own `pos_label` if it has one, otherwise ``classes_[1]``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Where scores come from; "auto" prefers `decision_function`.
        name : str, default=None
            Name in the legend; None takes the class of the estimator.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        CostCurveDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        return cls._from_estimator(
            estimator,
            X,
            y,
            of_rows=of_rows,
            response_method=response_method,
            options={},
            name=name,
            drawing={"ax": ax, **plot_params},
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> CostCurveDisplay:
        """Draw given scores.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_score : array-like of shape (n_samples,)
            Scores, higher for the target.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            Cost of a missed row of the target and of a false alarm; entries of the other class are ignored.
        pos_label : label, default=None
            The target; None means the larger of the two labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        name : str, default=None
            Name in the legend.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        CostCurveDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        return cls._from_predictions(
            y_true,
            y_score,
            of_rows=of_rows,
            options={},
            name=name,
            drawing={"ax": ax, **plot_params},
        )

    @classmethod
    def from_cv_results(
        cls,
        cv_results: dict[str, Any],
        X: Any,
        y: Any,
        *,
        fn_cost: float | ArrayLike = 1.0,
        fp_cost: float | ArrayLike = 1.0,
        pos_label: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: str = "auto",
        name: str | None = None,
        ax: Any = None,
        **plot_params: Any,
    ) -> CostCurveDisplay:
        """Draw a thin curve for the held-out rows of each fold, and the mean of the curves.

        Parameters
        ----------
        cv_results : dict
            What ``cross_validate(..., return_estimator=True, return_indices=True)`` returned.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows that were cross-validated.
        y : array-like of shape (n_samples,)
            Their labels.
        fn_cost, fp_cost : float or array-like of shape (n_samples,), default=1.0
            Cost of a missed row of the target and of a false alarm; entries of the other class are ignored.
        pos_label : label, default=None
            The target. None: the estimator's own `pos_label` if it has one, otherwise ``classes_[1]``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Where scores come from; "auto" prefers `decision_function`.
        name : str, default=None
            Name in the legend; None takes the class of the estimators.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **plot_params : dict
            Passed to `plot`.

        Returns
        -------
        CostCurveDisplay
            The display, drawn.
        """
        of_rows = {"fn_cost": fn_cost, "fp_cost": fp_cost, "pos_label": pos_label, "sample_weight": sample_weight}
        return cls._from_cv_results(
            cv_results,
            X,
            y,
            of_rows=of_rows,
            response_method=response_method,
            options={},
            name=name,
            drawing={"ax": ax, **plot_params},
        )

    def plot(self, ax: Any = None, *, color: str | None = None) -> CostCurveDisplay:
        """Draw the curve, the constant decisions and the operating point.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure. Several models may share an axis.
        color : str, default=None
            Colour of the curve; None takes the next one of the palette.

        Returns
        -------
        CostCurveDisplay
            The display itself.
        """
        ax = axis_or_new(ax)
        color = unused_color(ax) if color is None else color
        nobody, everybody = "call no row a target", "call every row a target"
        self.trivial_lines_ = [
            *ax.plot([0, HALF], [0, HALF], color=GREY, linestyle="--", label=label_once(ax, nobody)),
            *ax.plot([HALF, 1], [HALF, 0], color=GREY, linestyle=":", label=label_once(ax, everybody)),
        ]
        self.fold_lines_ = [ax.plot(*curve, color=color, linewidth=0.7, alpha=0.5)[0] for curve in self.fold_curves]
        label = f"{self.name or 'model'}: {self.operating_cost:.3g} at these costs"
        (self.line_,) = ax.plot(self.probability_cost, self.cost, color=color, label=label)
        (self.point_,) = ax.plot(
            [self.operating_point],
            [self.operating_cost],
            marker="o",
            markersize=8,
            markerfacecolor=color,
            markeredgecolor=BLACK,
            linestyle="none",
            zorder=3,
        )
        ax.set(
            xlabel="probability-cost PC(+): the target's share of the cost",
            ylabel="normalised expected cost",
            xlim=(0, 1),
        )
        ax.set_ylim(bottom=0)
        legend_above_curves(ax)
        self.ax_ = ax
        self.figure_ = ax.figure
        return self
