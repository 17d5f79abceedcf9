"""Cost-sensitive losses by probability elicitation: losses, links, minimum risks, the design of new losses."""

from ._base import DUAL, GRADIENT, Loss
from ._classical import ExponentialLoss, LogisticLoss, ZeroOneLoss
from ._conditions import Condition, DesignReport, link_symmetry
from ._design import DesignedLoss, design_loss
from ._hinge import CostSensitiveHinge, ExampleBiasedHinge, ExampleCostSensitiveHinge, HingeLoss
from ._risk import bayes_gap, risk_type

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
