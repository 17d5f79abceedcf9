"""scikit-learn estimators: validate the input, translate the costs, solve the dual, store the machine."""

from .biased_penalty import BiasedPenaltySVC
from .boundary_alignment import KernelBoundaryAlignmentSVC
from .boundary_movement import BoundaryMovementSVC
from .cost_sensitive import CostSensitiveSVC
from .designed_loss import DesignedLossClassifier

__all__ = [
    "BiasedPenaltySVC",
    "BoundaryMovementSVC",
    "CostSensitiveSVC",
    "DesignedLossClassifier",
    "KernelBoundaryAlignmentSVC",
]
