"""Metrics of cost-sensitive predictions and scores: pure functions of labels, predictions and costs.

All take ``(y_true, y_pred or y_score, *, fn_cost=1.0, fp_cost=1.0, pos_label=None, sample_weight=None)``, or part of
it. `pos_label` is the positive class, by default the larger label. A false negative costs `fn_cost`, a false positive
`fp_cost`; each is a number or one value for each sample.
"""

from .._core.positive_class import PositiveClassScores, positive_class_scores
from ._bootstrap import BootstrapInterval, bootstrap_interval
from ._curves import (
    CostCurve,
    NeymanPearson,
    RocConvexHull,
    cost_curve,
    neyman_pearson,
    roc_convex_hull,
    tn_auc_loss,
    tp_auc_loss,
)
from ._income import income, savings_score
from ._risk import MinimumRisk, cost_risk, expected_cost_at, min_cost_risk
from ._scorers import (
    cost_risk_scorer,
    income_scorer,
    min_cost_risk_scorer,
    savings_scorer,
    tn_auc_scorer,
    tp_auc_scorer,
)

__all__ = [
    "BootstrapInterval",
    "CostCurve",
    "MinimumRisk",
    "NeymanPearson",
    "PositiveClassScores",
    "RocConvexHull",
    "bootstrap_interval",
    "cost_curve",
    "cost_risk",
    "cost_risk_scorer",
    "expected_cost_at",
    "income",
    "income_scorer",
    "min_cost_risk",
    "min_cost_risk_scorer",
    "neyman_pearson",
    "positive_class_scores",
    "roc_convex_hull",
    "savings_score",
    "savings_scorer",
    "tn_auc_loss",
    "tn_auc_scorer",
    "tp_auc_loss",
    "tp_auc_scorer",
]
