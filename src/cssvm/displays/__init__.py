"""Displays of losses, costs and thresholds, in the style of scikit-learn.

A display holds numbers. `plot` draws them on given axes or in a new figure, and never changes them. The class methods
`from_...` compute the numbers and draw them. Displays require matplotlib: ``pip install cssvm[plot]``.
"""

from ._cost_curve import CostCurveDisplay
from ._cost_roc import CostRocDisplay, OperatingPoint
from ._gains import GainsDisplay
from ._loss import LossCurves, LossDisplay
from ._threshold import ThresholdDisplay

__all__ = [
    "CostCurveDisplay",
    "CostRocDisplay",
    "GainsDisplay",
    "LossCurves",
    "LossDisplay",
    "OperatingPoint",
    "ThresholdDisplay",
]
