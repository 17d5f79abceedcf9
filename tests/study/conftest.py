"""Data files made in a test, as the tests of the data sets make them."""

from tests.datasets.conftest import provide, register

__all__ = ["provide", "register"]
