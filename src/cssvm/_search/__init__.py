"""The search: a whole cost-sensitive model selection for the price of a few fits, and paths of models."""

from .cost_path import CostPath, cost_path
from .cost_sensitive_svc_cv import CostSensitiveSVCCV
from .linear_svc_cv import CostSensitiveLinearSVCCV
from .margin_path import MarginPath, margin_path

__all__ = ["CostPath", "CostSensitiveLinearSVCCV", "CostSensitiveSVCCV", "MarginPath", "cost_path", "margin_path"]
