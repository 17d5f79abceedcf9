"""Cost-sensitive losses by probability elicitation: losses, links, minimum risks, the design of new losses."""

from .base import DUAL, GRADIENT, Loss
from .classical import ExponentialLoss, LogisticLoss, ZeroOneLoss
from .conditions import Condition, DesignReport, link_symmetry
from .design import DesignedLoss, design_loss
from .hinge import CostSensitiveHinge, ExampleBiasedHinge, ExampleCostSensitiveHinge, HingeLoss
from .risk import bayes_gap, risk_type

__all__ = [
    "DUAL",
    "GRADIENT",
    "Condition",
    "CostSensitiveHinge",
    "DesignReport",
    "DesignedLoss",
    "ExampleBiasedHinge",
    "ExampleCostSensitiveHinge",
    "ExponentialLoss",
    "HingeLoss",
    "LogisticLoss",
    "Loss",
    "ZeroOneLoss",
    "bayes_gap",
    "design_loss",
    "link_symmetry",
    "risk_type",
]
