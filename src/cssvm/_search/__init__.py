"""The search: a whole cost-sensitive model selection for the price of a few fits."""

from .cost_sensitive_svc_cv import CostSensitiveSVCCV
from .linear_svc_cv import CostSensitiveLinearSVCCV

__all__ = ["CostSensitiveLinearSVCCV", "CostSensitiveSVCCV"]
