"""Mutation testing: change one expression at a time, run the tests that reach it, list the undetected changes.

    python .ci/mutate.py [MODULE ...] [-j JOBS] [-t TEST ...]

A module is a path in src/cssvm such as `metrics/_risk.py`; the default is all modules of costs, decisions and metrics.
Mutations change expressions in the bodies of functions: operators, constants, conditions, arguments, slices,
statements. Messages (`raise`, `warnings.warn`, f-strings, strings with spaces), defaults, decorators and annotations
are not changed.

Tests are collected once. Each mutant is a fork of that process that replaces the code of the function objects and runs
the tests that call the function, the fastest first, until one fails.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import os
import pickle
import resource
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "_core/cost_matrix.py",
    "_core/margins_and_bounds.py",
    "_core/decision.py",
    "_core/positive_class.py",
    "metrics/*.py",
)
TESTS = ("tests/metrics", "tests/core")
OPTIONS = ("-q", "-s", "-p", "no:cacheprovider", "-p", "no:timeout", "--doctest-modules", "--disable-warnings")
# Seconds: largest total time of the tests of a mutant, and of CPU time before it counts as an endless loop.
BUDGET, PATIENCE = 3.0, 6

OPERATORS = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn], ast.NotIn: [ast.In], ast.And: [ast.Or], ast.Or: [ast.And],
    ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.Div], ast.Div: [ast.Mult], ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Mult], ast.Pow: [ast.Mult], ast.BitAnd: [ast.BitOr], ast.BitOr: [ast.BitAnd],
}  # fmt: skip
PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("zeros", "ones")]
NAMES = {**dict(PAIRS), **{second: first for first, second in PAIRS}}
SYMMETRIC = {"min", "max", "minimum", "maximum", "array_equal", "allclose", "isclose", "gcd"}
UNCHANGED = (ast.Raise, ast.JoinedStr, ast.arguments, ast.expr_context)


class Mutant(NamedTuple):
    """One changed expression, and the code of its function with the change."""

    module: str
    function: str
    line: int
    change: str
    code: CodeType


def variants(node: ast.AST) -> Iterator[ast.AST]:
    """Replacements of a node."""
    match node:
        case ast.operator() | ast.cmpop() | ast.boolop():
            yield from (kind() for kind in OPERATORS.get(type(node), ()))
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Constant(value=str(value)) if " " not in value:
            yield ast.Constant(value + "X")
        case ast.UnaryOp():
            yield node.operand
        case ast.BoolOp() if len(node.values) > 2:
            yield from (ast.BoolOp(node.op, node.values[:i] + node.values[i + 1 :]) for i in range(len(node.values)))
        case ast.BoolOp():
            yield from node.values
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.Mult() | ast.Div() | ast.Add() | ast.Sub()):
            yield node.left
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Call():
            for i, keyword in enumerate(node.keywords):
                if keyword.arg is not None:
                    yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])
            name = ast.unparse(node.func).rpartition(".")[2]
            if len(node.args) >= 2 and name not in SYMMETRIC and not isinstance(node.args[0], ast.Starred):
                yield ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords)
        case ast.Attribute(attr=name) if name in NAMES:
            yield ast.Attribute(node.value, NAMES[name], node.ctx)
        case ast.Name(id=name) if name in NAMES:
            yield ast.Name(NAMES[name], node.ctx)
        case ast.Slice():
            bounds = (node.lower, node.upper, node.step)
            for i, bound in enumerate(bounds):
                if bound is not None:
                    yield ast.Slice(*(None if i == j else each for j, each in enumerate(bounds)))
        case ast.If():
            for test in (ast.Constant(False), ast.UnaryOp(ast.Not(), node.test)):
                yield ast.If(test, node.body, node.orelse)
        case ast.Return(value=ast.expr()) | ast.Expr(value=ast.Call()) | ast.AugAssign():
            yield ast.Pass()


def is_message(node: ast.AST) -> bool:
    """Whether a node is a message or a docstring."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant) or ast.unparse(node).startswith("warnings.warn(")
    return isinstance(node, UNCHANGED)


def changes(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Apply each change below a node in place, and yield its line and description while it is applied."""
    for field, value in ast.iter_fields(node):
        if field in ("decorator_list", "returns", "annotation"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or is_message(child):
                continue
            for variant in variants(child):
                before = ast.unparse(node if not hasattr(child, "lineno") else child).split("\n")[0]
                _replace(node, field, child, ast.copy_location(variant, child))
                after = ast.unparse(node if not hasattr(child, "lineno") else variant).split("\n")[0]
                if before != after:
                    yield getattr(child, "lineno", getattr(node, "lineno", 0)), f"{before}  ->  {after}"
                _replace(node, field, variant, child)
            yield from changes(child)


def _replace(node: ast.AST, field: str, old: ast.AST, new: ast.AST) -> None:
    value = getattr(node, field)
    setattr(node, field, [new if each is old else each for each in value] if isinstance(value, list) else new)


def outer_functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of a module and methods of its classes, with their qualified names."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and node.name != "__repr__":
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from outer_functions(node, f"{prefix}{node.name}.")


def code_of(code: CodeType, name: str) -> CodeType | None:
    """The code with this qualified name in that of a module."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found = constant if constant.co_qualname == name else code_of(constant, name)
            if found is not None:
                return found
    return None


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every change to the functions of a module."""
    tree = ast.parse(path.read_text())
    for name, function in outer_functions(tree):
        for line, change in changes(function):
            code = code_of(compile(ast.fix_missing_locations(tree), str(path), "exec"), name)
            assert code is not None
            yield Mutant(str(path.relative_to(ROOT / "src/cssvm")), name, line, change, code)


def within_budget(tests: set[int], seconds: list[float]) -> list[int]:
    """The fastest tests, in that order, as many as the budget allows."""
    ordered = sorted(tests, key=seconds.__getitem__)
    spent = np.cumsum([seconds[i] for i in ordered])
    return ordered[: int(np.searchsorted(spent, BUDGET, side="right"))]


class Mutation:
    """A pytest plugin that replaces the run of the tests."""

    def __init__(self, paths: list[Path], jobs: int) -> None:
        self.paths, self.jobs = paths, jobs
        self.surveying = False
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_sessionstart(self) -> None:
        """Let Hypothesis draw the same few examples for every mutant, without shrinking."""
        settings.register_profile(
            "mutate",
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=20,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("mutate")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests that reach each mutant."""
        reached, seconds = self._survey(session.items)
        functions = self._functions()
        running: dict[int, Mutant] = {}
        gc.freeze()  # so that garbage collection in forks copies nothing
        for path in self.paths:
            for mutant in mutants_of(path):
                key = (mutant.module, mutant.function)
                tests = within_budget(reached[key], seconds)
                if len(running) == self.jobs:
                    self._finish(running)
                pid = os.fork()
                if pid == 0:
                    self._test([session.items[i] for i in tests], functions[key], mutant)
                running[pid] = mutant
        while running:
            self._finish(running)
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """End this process at the first failure, before the traceback is formatted."""
        if (
            call.excinfo is None
            or call.excinfo.errisinstance(pytest.skip.Exception)
            or item.get_closest_marker("xfail")
        ):
            return
        if self.surveying:
            print(f"fails without any change: {item.nodeid}: {call.excinfo.value}")
        os._exit(1)

    def _survey(self, items: list[Any]) -> tuple[dict[tuple[str, str], set[int]], list[float]]:
        """Which tests call which function, and their times, found in a separate process."""
        reader, writer = os.pipe()
        if os.fork() == 0:
            self.surveying = True
            names = {str(path): str(path.relative_to(ROOT / "src/cssvm")) for path in self.paths}
            reached, seconds = defaultdict(set), []

            def note(frame: Any, event: str, _: Any) -> None:
                if event == "call" and frame.f_code.co_filename in names:
                    name = frame.f_code.co_qualname.split(".<locals>")[0]
                    reached[names[frame.f_code.co_filename], name].add(len(seconds))

            threading.setprofile(note)
            for item in items:
                start = time.process_time()
                sys.setprofile(note)
                self._run(item)
                sys.setprofile(None)
                seconds.append(time.process_time() - start)
            with os.fdopen(writer, "wb") as stream:
                pickle.dump((dict(reached), seconds), stream)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            content = stream.read()
        os.wait()
        if not content:
            pytest.exit("the tests must pass without mutations", 1)
        reached, seconds = pickle.loads(content)
        return defaultdict(set, reached), seconds

    def _functions(self) -> dict[tuple[str, str], list[FunctionType]]:
        """All function objects by module and name."""
        names = {}
        for path in self.paths:
            module = str(path.relative_to(ROOT / "src"))
            importlib.import_module(module.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
            names[str(path)] = str(path.relative_to(ROOT / "src/cssvm"))
        found = defaultdict(list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType) and each.__code__.co_filename in names:
                found[names[each.__code__.co_filename], each.__code__.co_qualname].append(each)
        return found

    def _test(self, items: list[Any], functions: list[FunctionType], mutant: Mutant) -> None:
        """End this process with 0 if the mutant survives."""
        resource.setrlimit(resource.RLIMIT_CPU, 2 * (int(time.process_time() + PATIENCE),))
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        try:
            for function in functions:
                function.__code__ = mutant.code
            for item in items:
                self._run(item)
        except BaseException:
            os._exit(1)
        os._exit(0 if items else 2)

    def _run(self, item: Any) -> None:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)

    def _finish(self, running: dict[int, Mutant]) -> None:
        pid, status = os.wait()
        mutant = running.pop(pid)
        outcome = {0: "survived", 2: "unreached"}.get(os.waitstatus_to_exitcode(status), "killed")
        self.outcomes[mutant.module][outcome] += 1
        if outcome != "killed":
            print(f"{mutant.module}:{mutant.line} {mutant.function} {outcome}: {mutant.change}", flush=True)


def main() -> None:
    """Run the command: test all mutants and print the share that is detected."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", default=MODULES)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-t", "--tests", nargs="+", default=TESTS)
    given = parser.parse_args()
    paths = [path for each in given.modules for path in sorted((ROOT / "src/cssvm").glob(each))]
    mutation = Mutation(paths, given.jobs)
    tests = [str(path) for test in given.tests for path in sorted(ROOT.glob(test))] + [str(path) for path in paths]
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    pytest.main([*OPTIONS, "-o", "addopts=--import-mode=importlib", "-m", "not system", *tests], [mutation])
    total: Counter[str] = Counter()
    for module, outcomes in sorted(mutation.outcomes.items()):
        total += outcomes
        print(f"{module:32} {outcomes['killed']:5} of {outcomes.total():5} killed, {score(outcomes):6.1%}")
    print(f"{'all':32} {total['killed']:5} of {total.total():5} killed, {score(total):6.1%}")


def score(outcomes: Counter[str]) -> float:
    """The share of mutants that a test detects."""
    return outcomes["killed"] / max(outcomes.total(), 1)


if __name__ == "__main__":
    main()
