"""Cost-sensitive support vector machines: a cost and a margin for every sample, solved exactly.

Names are imported when they are first asked for (PEP 562), so that ``import cssvm`` and the help of the command line
cost nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core.cost_matrix import CostMatrix, decision_costs
    from ._core.margins_and_bounds import paper_costs
    from ._core.positive_class import positive_class_scores
    from ._evaluation import Evaluation, evaluate
    from ._meta import (
        CostProportionateClassifier,
        CostThresholdClassifier,
        DirectCostClassifier,
        MetaCostClassifier,
    )
    from ._report import Report
    from ._search import CostSensitiveLinearSVCCV, CostSensitiveSVCCV
    from ._svm import (
        BiasedPenaltySVC,
        BoundaryMovementSVC,
        CostSensitiveLinearSVC,
        CostSensitiveSVC,
        DesignedLossClassifier,
        FeatureMapGap,
        feature_map_gap,
    )

__version__ = "0.1.0"

__all__ = [
    "BiasedPenaltySVC",
    "BoundaryMovementSVC",
    "CostMatrix",
    "CostProportionateClassifier",
    "CostSensitiveLinearSVC",
    "CostSensitiveLinearSVCCV",
    "CostSensitiveSVC",
    "CostSensitiveSVCCV",
    "CostThresholdClassifier",
    "DesignedLossClassifier",
    "DirectCostClassifier",
    "Evaluation",
    "FeatureMapGap",
    "MetaCostClassifier",
    "Report",
    "decision_costs",
    "evaluate",
    "feature_map_gap",
    "paper_costs",
    "positive_class_scores",
]

_HOME = {
    "BiasedPenaltySVC": "_svm",
    "BoundaryMovementSVC": "_svm",
    "CostProportionateClassifier": "_meta",
    "CostSensitiveLinearSVC": "_svm",
    "CostSensitiveLinearSVCCV": "_search",
    "CostSensitiveSVC": "_svm",
    "CostSensitiveSVCCV": "_search",
    "CostThresholdClassifier": "_meta",
    "CostMatrix": "_core.cost_matrix",
    "DesignedLossClassifier": "_svm",
    "DirectCostClassifier": "_meta",
    "Evaluation": "_evaluation",
    "FeatureMapGap": "_svm",
    "MetaCostClassifier": "_meta",
    "Report": "_report",
    "decision_costs": "_core.cost_matrix",
    "evaluate": "_evaluation",
    "feature_map_gap": "_svm",
    "paper_costs": "_core.margins_and_bounds",
    "positive_class_scores": "_core.positive_class",
}
_PACKAGES = ("dask", "datasets", "deploy", "displays", "losses", "metrics")


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
