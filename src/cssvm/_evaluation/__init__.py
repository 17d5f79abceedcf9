"""Evaluation in costs: `evaluate`, the table it returns, and the same table for predictions made elsewhere."""

from .evaluate import evaluate, evaluate_predictions
from .result import Evaluation, HeldOutPredictions

__all__ = ["Evaluation", "HeldOutPredictions", "evaluate", "evaluate_predictions"]
