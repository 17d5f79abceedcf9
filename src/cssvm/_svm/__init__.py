"""scikit-learn estimators: validate the input, translate the costs, solve, store the machine."""

from .boundary_movement import BoundaryMovementSVC
from .designed_loss import DesignedLossClassifier
from .feature_map import FeatureMapGap, feature_map_gap
from .kernel_svc import BiasedPenaltySVC, CostSensitiveSVC
from .linear_svc import CostSensitiveLinearSVC

__all__ = [
    "BiasedPenaltySVC",
    "BoundaryMovementSVC",
    "CostSensitiveLinearSVC",
    "CostSensitiveSVC",
    "DesignedLossClassifier",
    "FeatureMapGap",
    "feature_map_gap",
]
