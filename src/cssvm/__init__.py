"""Cost-sensitive support vector machines: a cost and a margin for every example, solved exactly.

Names are imported when they are first asked for (PEP 562), so that ``import cssvm`` and the help of the command line
cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .costs import CostConditionWarning, paper_costs
    from .estimators import (
        BiasedPenaltySVC,
        BoundaryMovementSVC,
        CostSensitiveLinearSVC,
        CostSensitiveSVC,
        DesignedLossClassifier,
        FeatureMapGap,
        KernelBoundaryAlignmentSVC,
        feature_map_gap,
    )
    from .evaluation import Evaluation, evaluate
    from .outcomes import DecisionCosts, decision_costs
    from .report import Report
    from .search import CostSensitiveLinearSVCCV, CostSensitiveSVCCV
    from .target import target_scores
    from .wrappers import CostProportionateClassifier, CostThresholdClassifier, DirectCostClassifier, MetaCostClassifier

__version__ = "0.1.0"

__all__ = [
    "BiasedPenaltySVC",
    "BoundaryMovementSVC",
    "CostConditionWarning",
    "CostProportionateClassifier",
    "CostSensitiveLinearSVC",
    "CostSensitiveLinearSVCCV",
    "CostSensitiveSVC",
    "CostSensitiveSVCCV",
    "CostThresholdClassifier",
    "DecisionCosts",
    "DesignedLossClassifier",
    "DirectCostClassifier",
    "Evaluation",
    "FeatureMapGap",
    "KernelBoundaryAlignmentSVC",
    "MetaCostClassifier",
    "Report",
    "decision_costs",
    "evaluate",
    "feature_map_gap",
    "paper_costs",
    "target_scores",
]

_HOME = {
    "BiasedPenaltySVC": "estimators",
    "BoundaryMovementSVC": "estimators",
    "CostConditionWarning": "costs",
    "CostProportionateClassifier": "wrappers",
    "CostSensitiveLinearSVC": "estimators",
    "CostSensitiveLinearSVCCV": "search",
    "CostSensitiveSVC": "estimators",
    "CostSensitiveSVCCV": "search",
    "CostThresholdClassifier": "wrappers",
    "DecisionCosts": "outcomes",
    "DesignedLossClassifier": "estimators",
    "DirectCostClassifier": "wrappers",
    "Evaluation": "evaluation",
    "FeatureMapGap": "estimators",
    "KernelBoundaryAlignmentSVC": "estimators",
    "MetaCostClassifier": "wrappers",
    "Report": "report",
    "decision_costs": "outcomes",
    "evaluate": "evaluation",
    "feature_map_gap": "estimators",
    "paper_costs": "costs",
    "target_scores": "target",
}
_PACKAGES = (
    "dask",
    "datasets",
    "deploy",
    "displays",
    "estimators",
    "experiments",
    "kernels",
    "losses",
    "metrics",
    "search",
    "tables",
    "wrappers",
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value  # asked for once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
