"""Layout: sizes of files and functions, kernel names in one place, equal descriptions of equal parameters."""

import ast
import importlib
import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

import cssvm
from cssvm._kernels import KERNEL_NAMES

SOURCE = Path(cssvm.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def functions(path):
    tree = ast.parse(path.read_text())
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def length(node):
    """Lines of a function from `def` to the end, without its docstring."""
    documented = ast.get_docstring(node) is not None
    doc = node.body[0].end_lineno - node.body[0].lineno + 1 if documented else 0
    return node.end_lineno - node.lineno + 1 - doc


def test_files_and_functions_are_short():
    files = {name_of(path): len(path.read_text().splitlines()) for path in FILES}
    assert {name: lines for name, lines in files.items() if lines > MAX_FILE_LINES} == {}
    lengths = {(name_of(path), node.name): length(node) for path in FILES for node in functions(path)}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_FUNCTION_LINES} == {}


def string_constants(tree):
    """String constants except docstrings."""
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]


def test_a_kernel_is_named_in_its_registry_only():
    """`sigmoid` is also a calibration of scikit-learn's; experiments name kernels as users do."""
    allowed = {"_kernels/functions.py"}
    named = {
        (name_of(path), text)
        for path in FILES
        for text in string_constants(ast.parse(path.read_text()))
        if text in KERNEL_NAMES and name_of(path) not in allowed
    }
    assert named - {("_meta/base.py", "sigmoid")} == set()


# Parameters and attributes of these classes have equal descriptions, except those that differ for a reason.
FAMILIES = {
    "cost-sensitive SVMs": ["CostSensitiveSVC", "CostSensitiveLinearSVC"],
    "linear SVMs": ["CostSensitiveLinearSVC", "dask.CostSensitiveLinearSVC"],
    "fits of SVMs": [
        "CostSensitiveSVC.fit",
        "CostSensitiveLinearSVC.fit",
        "CostSensitiveSVCCV.fit",
        "CostSensitiveLinearSVCCV.fit",
    ],
    "searches": ["CostSensitiveSVCCV", "CostSensitiveLinearSVCCV"],
}
DIFFERENT = {
    "cost-sensitive SVMs": {
        "tol",
        "max_iter",
        "verbose",
        "coef_",
        "n_iter_",
    },  # another solver
    "linear SVMs": {"verbose", "coef_"},  # prepared columns
    "fits of SVMs": {"X", "sample_weight"},  # a search also scores with weights, and has a transformer
    "searches": {
        "tol",
        "best_params_",
        "best_estimator_",
    },  # of other models
}


def documented(name):
    """What stands below each `name : type` line of a docstring, with that line."""
    thing = cssvm
    for part in name.split("."):
        thing = getattr(thing, part) if hasattr(thing, part) else importlib.import_module(f"cssvm.{part}")
    text = inspect.cleandoc(thing.__doc__).split("Returns\n---")[0]
    entries = re.findall(r"^(\S[^\n]*) : ([^\n]*)\n((?:    [^\n]*\n?)+)", text, flags=re.MULTILINE)
    return {key: (kind, " ".join(description.split())) for key, kind, description in entries}


@pytest.mark.parametrize("family", FAMILIES)
def test_one_parameter_has_one_description(family):
    texts = defaultdict(set)
    counts = defaultdict(int)
    for member in FAMILIES[family]:
        for key, text in documented(member).items():
            texts[key].add(text)
            counts[key] += 1
    assert max(counts.values()) == len(FAMILIES[family])
    assert {key for key, found in texts.items() if len(found) > 1} <= DIFFERENT.get(family, set())
    assert all(len(texts[key]) > 1 for key in DIFFERENT.get(family, ()))


# What the field has other words for (docs/adr/0011).
DIALECT = re.compile(
    r"\b(pair steps?|newton rounds?|plain polic(y|ies)|truth values?|anew|giveaway|asleep|awake|stakes?|learners?|"
    r"dearer|beside|learnt)\b",
    re.IGNORECASE,
)


def test_code_and_documents_use_the_words_of_the_field():
    root = SOURCE.parents[1]
    paths = [root / "README.md", root / "CONTRIBUTING.md", *root.glob("docs/*.md"), *SOURCE.rglob("*.*")]
    texts = [path for path in paths if path.suffix in (".md", ".py", ".html", ".js", ".toml")]
    found = {(path.name, word.group()) for path in texts for word in DIALECT.finditer(path.read_text())}
    assert len(texts) > 100
    assert found == set()
