"""Pictures of losses, costs, thresholds and support vectors, in the style of scikit-learn's displays.

A display holds numbers, which `cssvm.metrics` and `cssvm.losses` compute. `plot` draws them on a given axis, or on one
of its own, and never alters them. The class methods `from_...` ask for the numbers and draw. Needs matplotlib:
``pip install cssvm[plot]``.
"""

from ..losses.curves import LossCurves
from ..metrics.operating import OperatingPoint
from .cost_curve import CostCurveDisplay
from .cost_path import CostPathDisplay
from .cost_roc import CostRocDisplay
from .gains import GainsDisplay
from .loss import LossDisplay
from .support_vectors import SupportVectorPathDisplay
from .threshold import ThresholdDisplay

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
