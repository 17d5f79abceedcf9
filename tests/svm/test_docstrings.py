import doctest
import inspect
import re

import pytest

import cssvm
from cssvm._kernels import KERNEL_NAMES

RESULTS = (
    "CostMatrix",
    "Evaluation",
    "FeatureMapGap",
)  # made by functions that have examples


@pytest.mark.parametrize("name", [name for name in cssvm.__all__ if name not in RESULTS])
def test_examples_of_the_docstring_run_as_printed(name):
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    (test,) = finder.find(getattr(cssvm, name), name, globs={})
    assert test.examples
    runner.run(test)
    assert runner.failures == 0


@pytest.mark.parametrize("name", ["CostSensitiveSVC", "BoundaryMovementSVC", "CostSensitiveLinearSVC"])
def test_every_parameter_and_fitted_attribute_is_documented(name):
    estimator = getattr(cssvm, name)
    model = estimator().fit([[0.0], [1.0]], [0, 1])
    public = [attribute for attribute in vars(model) if not attribute.startswith("_")]
    parameters, attributes = inspect.cleandoc(estimator.__doc__).split("Parameters\n")[1].split("Attributes\n")
    for attribute in public:
        documented = attributes if attribute.endswith("_") else parameters
        names = [line.split(" : ")[0] for line in documented.splitlines() if not line.startswith(" ")]
        assert any(attribute in re.split(r"[, ]+", line) for line in names)


@pytest.mark.parametrize("name", ["CostSensitiveSVC", "CostSensitiveSVCCV"])
def test_help_names_every_kernel(name):
    assert all(f'``"{kernel}"``' in getattr(cssvm, name).__doc__ for kernel in KERNEL_NAMES)
