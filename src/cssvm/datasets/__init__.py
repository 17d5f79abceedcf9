"""The data sets of the paper's Table 1, checked and with their costs, and generated rows for its figures."""

from .cache import cache_folder
from .files import MissingDatasetError, TamperedFileError
from .generated import make_checkerboard, make_separable_2d
from .listing import list_datasets, where
from .loading import fetch, load
from .preparation import make_preprocessor

__all__ = [
    "MissingDatasetError",
    "TamperedFileError",
    "cache_folder",
    "fetch",
    "list_datasets",
    "load",
    "make_checkerboard",
    "make_preprocessor",
    "make_separable_2d",
    "where",
]
