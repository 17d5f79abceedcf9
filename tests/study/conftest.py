"""Fixtures for data files, shared with the tests of the data sets."""

from tests.datasets.conftest import provide, register

__all__ = ["provide", "register"]
