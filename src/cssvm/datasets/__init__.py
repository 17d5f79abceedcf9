"""The data sets of the paper's Table 1 with their costs, and generated data for its figures."""

from .._preprocessing import make_preprocessor
from ._files import ChecksumError, MissingDatasetError, cache_folder
from ._generated import make_checkerboard, make_separable_2d
from ._loading import fetch, list_datasets, load, where

__all__ = [
    "ChecksumError",
    "MissingDatasetError",
    "cache_folder",
    "fetch",
    "list_datasets",
    "load",
    "make_checkerboard",
    "make_preprocessor",
    "make_separable_2d",
    "where",
]
