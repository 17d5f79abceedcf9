"""The package imports nothing until a name is used, and all its public names exist."""

import subprocess
import sys

import pytest

import cssvm


def test_every_announced_name_can_be_had():
    assert [getattr(cssvm, name).__name__ for name in cssvm.__all__] == list(cssvm.__all__)


def test_every_name_has_a_home_and_is_announced():
    assert sorted(cssvm._HOME) == sorted(cssvm.__all__)
    assert {*cssvm.__all__, *cssvm._PACKAGES} <= set(dir(cssvm))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cssvm.nonsense  # noqa: B018


def test_importing_the_package_imports_neither_numba_nor_scikit_learn():
    code = "import sys, cssvm; print(sorted({'numba', 'sklearn', 'numpy', 'pandas'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    code = "import cssvm; print(cssvm.metrics.cost_risk([1, 0], [0, 0], fn_cost=4.0))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "2.0"
