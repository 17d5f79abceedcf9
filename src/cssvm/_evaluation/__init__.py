"""Evaluation in money: `evaluate`, the table it returns, and the same table for decisions made elsewhere."""

from .evaluate import evaluate
from .predictions import evaluate_predictions
from .result import Evaluation, HeldOutDecisions

__all__ = ["Evaluation", "HeldOutDecisions", "evaluate", "evaluate_predictions"]
