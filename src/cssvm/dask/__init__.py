"""Training on data that does not fit in memory, and predictions of any fitted model, with Dask."""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError("cssvm.dask needs dask and distributed: pip install 'cssvm[dask]'") from error

from ._linear_svc import CostSensitiveLinearSVC
from ._predict import decision_function, predict, predict_proba

__all__ = ["CostSensitiveLinearSVC", "decision_function", "predict", "predict_proba"]
