"""Cost-sensitive support vector machines: a cost and a margin for every example, solved exactly."""

from .costs import CostConditionWarning, paper_costs
from .estimators import BiasedPenaltySVC, BoundaryMovementSVC, CostSensitiveSVC, DesignedLossClassifier
from .evaluation import Evaluation, evaluate
from .outcomes import DecisionCosts, decision_costs
from .search import CostSensitiveSVCCV
from .wrappers import CostThresholdClassifier

__version__ = "0.1.0"

__all__ = [
    "BiasedPenaltySVC",
    "BoundaryMovementSVC",
    "CostConditionWarning",
    "CostSensitiveSVC",
    "CostSensitiveSVCCV",
    "CostThresholdClassifier",
    "DecisionCosts",
    "DesignedLossClassifier",
    "Evaluation",
    "decision_costs",
    "evaluate",
    "paper_costs",
]
