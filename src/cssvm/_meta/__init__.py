"""Classifiers around any learner: decisions of least cost from its scores, or from how it is trained."""

from .cost_proportionate import CostProportionateClassifier
from .cost_threshold import CostThresholdClassifier
from .direct_cost import DirectCostClassifier
from .meta_cost import MetaCostClassifier

__all__ = ["CostProportionateClassifier", "CostThresholdClassifier", "DirectCostClassifier", "MetaCostClassifier"]
