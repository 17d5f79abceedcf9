"""Pictures of losses, costs, thresholds and support vectors, in the style of scikit-learn's displays.

A display holds numbers, which `cssvm.metrics` and `cssvm.losses` compute. `plot` draws them on a given axis, or on one
of its own, and never alters them. The class methods `from_...` ask for the numbers and draw. Needs matplotlib:
``pip install cssvm[plot]``.
"""

from ..losses._curves import LossCurves
from ..metrics._operating import OperatingPoint
from ._cost_curve import CostCurveDisplay
from ._cost_path import CostPathDisplay
from ._cost_roc import CostRocDisplay
from ._gains import GainsDisplay
from ._loss import LossDisplay
from ._support_vectors import SupportVectorPathDisplay
from ._threshold import ThresholdDisplay

__all__ = [
    "CostCurveDisplay",
    "CostPathDisplay",
    "CostRocDisplay",
    "GainsDisplay",
    "LossCurves",
    "LossDisplay",
    "OperatingPoint",
    "SupportVectorPathDisplay",
    "ThresholdDisplay",
]
