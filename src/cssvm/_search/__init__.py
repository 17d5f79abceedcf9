"""The search: a whole cost-sensitive model selection for the price of a few fits."""

from .estimators import CostSensitiveLinearSVCCV, CostSensitiveSVCCV

__all__ = ["CostSensitiveLinearSVCCV", "CostSensitiveSVCCV"]
