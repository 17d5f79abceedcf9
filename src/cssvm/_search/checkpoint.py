"""The values of a search in a file, so that an interrupted search continues where it stopped.

The file is replaced as a whole after each task, so that it is never half-written. It holds an entry for each
fingerprint: several searches may share it, such as those of the folds of a nested cross-validation.

A fingerprint is a digest of all that values depend on, the same in every process. Data and parameters count by their
values (`joblib.hash`), functions by their code, defaults and closure. Functions and classes that are not part of an
installed package also count by the global variables that they refer to, and by attributes of modules that are not
installed, so that an edited script has another fingerprint.
"""

from __future__ import annotations

import dis
import pickle
import sys
import sysconfig
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np
from joblib.hashing import NumpyHasher
from numpy.typing import NDArray

from .. import __name__ as own_package
from .._core.types import Vector
from .._runtime.files import atomic_write, check_writable

VALUES, DONE = "values", "is_done"  # the arrays of an entry; its fingerprint stands in front

STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
PACKAGES = {"site-packages", "dist-packages"}  # folders of what is installed, of the user and of the system too
CACHED = type(lru_cache(len))
ABSTRACT = "_abc_impl"  # which classes were asked about: no part of what a class does


class Checkpoint:
    """`values` (n_points, n_folds), NaN where not known, and `is_done` (n_kernels, n_folds), bool, of each task."""

    def __init__(self, path: Any, fingerprint: str, shape: tuple[int, int], n_kernels: int):
        self.path = None if path is None else Path(path)
        self.values = np.full(shape, np.nan)
        self.is_done = np.zeros((n_kernels, shape[1]), dtype=bool)
        self._names = f"{fingerprint}.{VALUES}", f"{fingerprint}.{DONE}"
        self._failed = False
        if self.path is not None:
            check_writable(self.path)
            entries = _read(self.path)
            if self._names[0] in entries:
                self.values, self.is_done = (entries[name] for name in self._names)

    def record(self, kernel: int, fold: int, values: Vector) -> None:
        """Enter the values of a task that is done, and save; if that fails, the search continues without the file."""
        known = ~np.isnan(values)
        self.values[known, fold] = values[known]
        self.is_done[kernel, fold] = True
        if self.path is None:
            return
        try:
            entries = _read(self.path) | dict(zip(self._names, (self.values, self.is_done), strict=True))
            with atomic_write(self.path) as file:
                np.savez(file, **entries)  # type: ignore[arg-type]
        except (OSError, ValueError) as error:
            if not self._failed:
                warnings.warn(
                    f"The checkpoint cannot be written: {error}. The search continues; what is done from now on may "
                    "not be kept.",
                    UserWarning,
                    stacklevel=2,
                )
            self._failed = True


def _read(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of all entries; none if there is no file."""
    try:
        saved = np.load(path, allow_pickle=False)
        if isinstance(saved, np.ndarray):
            raise ValueError("it holds a single array")
        with saved:
            entries = dict(saved)
        if not all(name.endswith((f".{VALUES}", f".{DONE}")) for name in entries):
            raise ValueError(f"it holds {next(iter(entries))!r}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"checkpoint={str(path)!r} is not a saved search of this version: {error}. Delete it, or name another file."
        ) from error
    return entries


def fingerprint(**parts: Any) -> str:
    """The digest of these values; ValueError names one that has none."""
    digests = {}
    for name, value in parts.items():
        try:
            digests[name] = _Hasher("sha1").hash(value)
        except (pickle.PicklingError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"a checkpoint needs {name} whose value can be compared with that of a later search; got {value!r}, "
                f"which cannot be pickled: {error}. Pass another {name}, or checkpoint=None."
            ) from error
    return _Hasher("sha1").hash(digests)


class _Hasher(NumpyHasher):
    """joblib's, but functions and classes count by what they do, not by their names."""

    def __init__(self, hash_name: str):
        super().__init__(hash_name)
        self._seen: dict[int, tuple[int, Any]] = {}  # functions and classes, which may refer to each other

    def save(self, obj: Any) -> None:
        """Add an object to the digest."""
        if type(obj).__module__.startswith("numba.") and hasattr(obj, "py_func"):
            obj = obj.py_func  # what it is compiled to is pickled with a number of this process
        elif isinstance(obj, CACHED):
            obj = obj.__wrapped__  # which would be pickled by its name
        elif isinstance(obj, np.vectorize):
            obj = "vectorize", {name: value for name, value in vars(obj).items() if name != "_ufunc"}  # made at a call
        if isinstance(obj, MethodType):
            obj = ("method", obj.__func__, obj.__self__)
        elif isinstance(obj, ModuleType):
            obj = ("module", obj.__name__)
        elif isinstance(obj, frozenset):
            obj = ("frozenset", set(obj))  # in an order that does not differ between processes
        elif isinstance(obj, FunctionType) or (isinstance(obj, type) and not _is_installed(obj.__module__)):
            if id(obj) in self._seen:
                obj = ("again", self._seen[id(obj)][0])
            else:
                self._seen[id(obj)] = len(self._seen), obj
                obj = _of_function(obj) if isinstance(obj, FunctionType) else _of_class(obj)
        super().save(obj)


def _of_function(function: FunctionType) -> tuple[Any, ...]:
    """What the result of a function depends on in addition to its arguments."""
    code, cells = function.__code__, [cell.cell_contents for cell in function.__closure__ or ()]
    used = {} if _is_installed(function.__module__) else _globals(function)
    attributes = {name for each in _iter_code(code) for name in each.co_names}
    return (
        "function",
        _of_code(code),
        function.__defaults__,
        function.__kwdefaults__,
        [_referred(value, attributes) for value in cells],
        {name: _referred(value, attributes) for name, value in used.items()},
    )


def _globals(function: FunctionType) -> dict[str, Any]:
    """The global variables that a function reads and the modules that it imports, by name."""
    found = {}
    for each in (instruction for code in _iter_code(function.__code__) for instruction in dis.get_instructions(code)):
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME") and each.argval in function.__globals__:
            found[each.argval] = function.__globals__[each.argval]
        elif each.opname == "IMPORT_NAME":
            with suppress(ImportError):  # one that it can do without, or a relative one
                found[f"import {each.argval}"] = import_module(each.argval)
    return found


def _referred(value: Any, attributes: set[str]) -> Any:
    """A value that code refers to; of a module that is not installed, those of these attributes that it has."""
    if not isinstance(value, ModuleType) or _is_installed(value.__name__):
        return value
    own = {name: each for name, each in vars(value).items() if name in attributes}
    further = attributes - own.keys()  # each name once: modules may refer to each other
    return "module", value.__name__, {name: _referred(each, further) for name, each in own.items()}


def _iter_code(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of functions inside it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _iter_code(each)


def _of_code(code: CodeType) -> str:
    """Instructions, constants and names: as a string, since equal constants may or may not be one object."""
    constants = [_of_constant(each) for each in code.co_consts]
    return repr((code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_flags))


def _of_constant(constant: Any) -> str:
    if isinstance(constant, CodeType):
        return _of_code(constant)
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


def _of_class(own: type) -> tuple[Any, ...]:
    """The methods and values of a class, and its bases."""
    attributes = {name: _unwrapped(value) for name, value in vars(own).items()}
    methods = {name: value for name, value in attributes.items() if isinstance(value, FunctionType)}
    values = {
        name: value
        for name, value in attributes.items()
        if not name.startswith("__") and name != ABSTRACT and not isinstance(value, MemberDescriptorType)
    }
    return "class", own.__module__, own.__qualname__, own.__bases__, methods, values


def _unwrapped(attribute: Any) -> Any:
    """The function of a method of a class, of a static one or a property; any other attribute as it is."""
    if isinstance(attribute, staticmethod | classmethod):
        return attribute.__func__
    if isinstance(attribute, property):
        return attribute.fget
    return attribute.func if isinstance(attribute, cached_property) else attribute


def _is_installed(name: str | None) -> bool:
    """Whether a module is part of this package, of another that is installed, or of Python."""
    name = name or "builtins"
    if name.partition(".")[0] in (own_package, "builtins"):
        return True
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return name in sys.builtin_module_names
    return Path(file).is_relative_to(STANDARD_LIBRARY) or not PACKAGES.isdisjoint(Path(file).parts)
