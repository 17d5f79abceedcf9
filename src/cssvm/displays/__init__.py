"""Pictures of losses, costs and thresholds, in the style of scikit-learn's displays.

A display holds numbers, which `cssvm.metrics` and `cssvm.losses` compute. `plot` draws them on a given axis, or on one
of its own, and never alters them. The class methods `from_...` ask for the numbers and draw. Needs matplotlib:
``pip install cssvm[plot]``.
"""

from ..losses._curves import LossCurves
from ..metrics._operating import OperatingPoint
from ._cost_curve import CostCurveDisplay
from ._cost_roc import CostRocDisplay
from ._gains import GainsDisplay
from ._loss import LossDisplay
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
