"""From tables to decisions: CSV, Parquet, LIBSVM text and data frames, read by one stated rule.

`train_table` and `train_on_cluster` train a model, `predict_table` predicts the rows of a table of any size,
`evaluate_table` and `report_table` evaluate a model where labels are known. Each command calls one of these.
"""

from .chunk import TableError
from .cluster import train_on_cluster
from .evaluating import EvaluatedTable, evaluate_table, report_table
from .predicting import PredictedTable, predict_table
from .training import TrainedTable, train_table

__all__ = [
    "EvaluatedTable",
    "PredictedTable",
    "TableError",
    "TrainedTable",
    "evaluate_table",
    "predict_table",
    "report_table",
    "train_on_cluster",
    "train_table",
]
