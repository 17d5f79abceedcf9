"""Fingerprints of functions include everything that they refer to."""

import importlib
import sys
import threading
from functools import cached_property, lru_cache, partial

import numpy as np
import pandas as pd
import pytest

from cssvm._search.checkpoint import fingerprint

VALUE = None  # set by the tests


def reads_global(model, X, y):
    return VALUE


def reads_inside(model, X, y):
    return [(lambda: VALUE)() for _ in X]


class ReadsInMethod:
    def __call__(self, model, X, y):
        return VALUE


def times(x, factor):
    return factor * x


def one(x):
    return x + 1.0


def two(x):
    return x + 2.0


def renamed(function):
    """The function under another name."""
    function.__name__ = function.__qualname__ = "same"
    return function


class Prices:
    def __init__(self, fn_cost):
        self.fn_cost = fn_cost


class WithCached:
    """A class whose methods are made by descriptors."""

    __slots__ = ("a",)
    rate = staticmethod(one)
    table = lru_cache(one)
    share = cached_property(one)


VALUES = {
    "series": (pd.Series([1.0, 5.0]), pd.Series([1.0, 7.0])),
    "frame": (pd.DataFrame({"a": ["x"]}), pd.DataFrame({"a": ["y"]})),
    "index": (pd.Index(["x", "y"]), pd.Index(["y", "x"])),
    "partial": (partial(times, factor=1.0), partial(times, factor=2.0)),
    "cached function": (lru_cache(renamed(lambda x: x + 1.0)), lru_cache(renamed(lambda x: x + 2.0))),
    "vectorized function": (np.vectorize(one), np.vectorize(two)),
    "bound method": (Prices(1.0).__eq__, Prices(2.0).__eq__),
    "own object": (Prices(1.0), Prices(2.0)),
    "slice": (slice(1), slice(2)),
    "generator": (np.random.default_rng(0), np.random.default_rng(1)),
}


@pytest.mark.parametrize("function", [reads_global, reads_inside, ReadsInMethod()])
@pytest.mark.parametrize("kind", VALUES)
def test_functions_count_by_global_variables_of_any_type(kind, function, monkeypatch):
    found = []
    for value in (*VALUES[kind], VALUES[kind][0]):
        monkeypatch.setitem(globals(), "VALUE", value)
        found.append(fingerprint(scoring=function))
    assert found[0] == found[2] != found[1]


@pytest.mark.parametrize("name", ["rate", "table", "share"])
def test_classes_count_by_functions_behind_descriptors(name, monkeypatch):
    before = fingerprint(scoring=WithCached)
    wrap = {"rate": staticmethod, "table": lru_cache, "share": cached_property}[name]
    monkeypatch.setattr(WithCached, name, wrap(two))
    assert fingerprint(scoring=WithCached) != before


def test_a_call_of_a_cached_or_vectorized_function_leaves_its_fingerprint():
    for function in (lru_cache(one), np.vectorize(one, otypes=[float])):
        before = fingerprint(scoring=function)
        function(1.0)
        assert fingerprint(scoring=function) == before


@pytest.fixture
def own_modules(tmp_path, monkeypatch):
    """A package that is not installed, whose modules refer to each other, and a module of scorers that read it."""
    package = tmp_path / "own_package"
    package.mkdir()
    (package / "__init__.py").write_text("from . import prices\nRATE = 1.0\n")
    (package / "prices.py").write_text("import own_package\nfrom . import __name__ as above\nMISS = 5.0\nOTHER = 1.0\n")
    (tmp_path / "own_scorers.py").write_text(
        "import own_package, own_package.prices as prices\n"
        "def by_module(model, X, y):\n    return prices.MISS\n"
        "def by_package(model, X, y):\n    return own_package.prices.MISS\n"
        "def by_import(model, X, y):\n    import own_package.prices as here\n    return here.MISS\n"
        "def by_name(model, X, y):\n    from own_package.prices import MISS\n    return MISS\n"
        "def in_closure(module):\n    return lambda model, X, y: module.MISS\n"
        "by_closure = in_closure(prices)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "own_scorers", raising=False)
    return importlib.import_module("own_scorers")


@pytest.mark.parametrize("name", ["by_module", "by_package", "by_import", "by_name", "by_closure"])
def test_functions_count_by_the_attributes_of_own_modules_that_they_refer_to(name, own_modules, monkeypatch):
    score = getattr(own_modules, name)
    before = fingerprint(scoring=score)
    monkeypatch.setattr(own_modules.prices, "OTHER", 2.0)
    assert fingerprint(scoring=score) == before
    monkeypatch.setattr(own_modules.prices, "MISS", 7.0)
    assert fingerprint(scoring=score) != before


def test_a_global_variable_that_cannot_be_compared_later_is_rejected(monkeypatch):
    monkeypatch.setitem(globals(), "VALUE", threading.Lock())
    with pytest.raises(ValueError, match=r"a checkpoint needs scoring .*cannot pickle .*lock.*checkpoint=None"):
        fingerprint(scoring=reads_global)
