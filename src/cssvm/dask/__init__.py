"""Rows in dask collections: what any fitted model says of them, lazily and block by block."""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
except ImportError as error:
    raise ImportError("cssvm.dask needs dask: pip install 'cssvm[dask]'") from error

from .predicting import decision_function, predict, predict_proba

__all__ = ["decision_function", "predict", "predict_proba"]
