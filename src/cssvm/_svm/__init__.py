"""scikit-learn estimators: validate the input, translate the costs, solve, store the machine."""

from .biased_penalty import BiasedPenaltySVC
from .boundary_movement import BoundaryMovementSVC
from .cost_sensitive import CostSensitiveSVC
from .designed_loss import DesignedLossClassifier
from .feature_map_gap import FeatureMapGap, feature_map_gap
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
