"""Cost-sensitive losses by probability elicitation: losses, links, minimum risks, the design of new losses."""

from ._base import Loss
from ._classical import ExponentialLoss, LogisticLoss, ZeroOneLoss
from ._design import DesignedLoss, design_loss
from ._hinge import CostSensitiveHinge, HingeLoss
from ._properties import bayes_gap, link_symmetry, risk_type

__all__ = [
    "CostSensitiveHinge",
    "DesignedLoss",
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
