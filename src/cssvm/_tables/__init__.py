"""From tables to decisions: CSV, Parquet, LIBSVM text and data frames, read by one stated rule.

`train_table` makes a model with a card of a table, `predict_table` decides on the rows of another, of any size, and
`evaluate_table` measures a model where labels are known, `report_table` makes a page of it; `train_on_cluster` trains
on a cluster. The command line is these.
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
