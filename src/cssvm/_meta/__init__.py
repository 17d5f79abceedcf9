"""Cost-sensitive classifiers around any other classifier: by its scores, or by how it is fitted."""

from .cost_threshold import CostThresholdClassifier
from .direct_cost import DirectCostClassifier
from .ensembles import CostProportionateClassifier
from .meta_cost import MetaCostClassifier

__all__ = ["CostProportionateClassifier", "CostThresholdClassifier", "DirectCostClassifier", "MetaCostClassifier"]
