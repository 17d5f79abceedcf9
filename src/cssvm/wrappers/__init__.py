"""Classifiers around any learner: decisions of least cost from its scores, whatever it was trained with."""

from .cost_threshold import CostThresholdClassifier

__all__ = ["CostThresholdClassifier"]
