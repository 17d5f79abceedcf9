"""From tables to decisions: CSV, Parquet, LIBSVM text and data frames, read by one stated rule.

`train_table` makes a model with a card of a table, `predict_table` decides on the rows of another, of any size, and
`evaluate_table` measures a model where labels are known. The command line is these three.
"""

from .chunk import TableError
from .evaluating import EvaluatedTable, evaluate_table
from .predicting import PredictedTable, predict_table
from .training import TrainedTable, train_table

__all__ = [
    "EvaluatedTable",
    "PredictedTable",
    "TableError",
    "TrainedTable",
    "evaluate_table",
    "predict_table",
    "train_table",
]
