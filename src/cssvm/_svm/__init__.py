"""scikit-learn estimators: they validate the input, translate the costs, solve and store the solution."""

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
