"""The search: a whole cost-sensitive model selection for the price of a few fits."""

from .cost_path import CostPath, cost_path
from .cost_sensitive_svc_cv import CostSensitiveSVCCV

__all__ = ["CostPath", "CostSensitiveSVCCV", "cost_path"]
