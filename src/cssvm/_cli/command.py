"""What the verbs share: errors and warnings as one line on the error stream, signals, progress and JSON."""

from __future__ import annotations

import errno
import functools
import inspect
import json
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeGuard, TypeVar

import typer

from .._runtime.format import printable
from .._runtime.progress import SearchInterruptedWarning, interrupts
from . import STOPPED

BROKEN_PIPE, WRONG_INPUT, TERMINATED = 1, 2, 143  # exit codes
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
MAX_CELL = 1000  # characters

P = ParamSpec("P")
R = TypeVar("R")


class Terminated(BaseException):
    """SIGTERM was received. Not a KeyboardInterrupt, which ends a search early and keeps its best model."""


def command(*example: str, stays: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a verb: add an example to its help, and turn errors, warnings and signals into messages and exit codes.

    stays : what a stopped verb leaves behind, if it does not write the file `out`.
    """

    def decorate(verb: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(verb)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            out = kwargs.get("out")
            before = _file_id(out)
            try:
                with _signals_raised(), interrupts(raised=True), _warnings_as_lines(quiet=bool(kwargs.get("quiet"))):
                    return verb(*args, **kwargs)
            except (KeyboardInterrupt, Terminated) as stopped:
                written = "nothing was written" if _file_id(out) == before else f"{out} is complete"
                left = stays or (written if _is_written_atomically(out) else "")
                say(f"stopped; {left}." if left else "stopped.")
                raise typer.Exit(TERMINATED if isinstance(stopped, Terminated) else STOPPED) from None
            except BrokenPipeError:  # the reader of the standard output is gone, such as `head`
                _discard_output()
                raise typer.Exit(BROKEN_PIPE) from None
            except (ValueError, OSError, ImportError, MemoryError) as error:
                say(_message(error))
                if _is_full_output(error):
                    _discard_output()
                raise typer.Exit(WRONG_INPUT) from None

        run.__doc__ = with_example(verb.__doc__ or "", *example)
        return run

    return decorate


def with_example(help_text: str, *example: str) -> str:
    """The help text of a verb with the lines of an example below it."""
    return "\n".join([inspect.cleandoc(help_text), "", "\b", "Example:", *(f"  {line}" for line in example)])


def say(message: str) -> None:
    """Print one line on the error stream, if there is one."""
    if sys.stderr is not None:
        print(f"cssvm: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)


def print_text(text: str) -> None:
    """Print text without control characters: strings of a model file may come from elsewhere."""
    typer.echo("\n".join(printable(line) for line in text.split("\n")))


def printable_cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cells without control characters and not too long."""
    return [[printable(text if len(text) <= MAX_CELL else f"{text[:MAX_CELL]}...") for text in row] for row in rows]


def _message(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if _is_full_output(error):
        return f"the standard output: {error.strerror}"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _is_full_output(error: BaseException) -> TypeGuard[OSError]:
    """Whether the disk of the standard output is full; errors of other files have a file name."""
    return isinstance(error, OSError) and error.errno in DISK_FULL and error.filename is None


def _discard_output() -> None:
    """Discard what the standard output still buffers."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _is_written_atomically(out: Any) -> bool:
    """Whether the output is a file that appears when it is complete, or there is none."""
    return out is None or (out != "-" and (Path(out).is_file() or not Path(out).exists()))


def _file_id(out: Any) -> Any:
    """The inode of a file, which changes when it is replaced; None if there is no file."""
    found = Path(out) if isinstance(out, str | os.PathLike) else None
    return found.stat().st_ino if found is not None and found.is_file() else None


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, also in background jobs, and `Terminated` on SIGTERM: files are cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(*_: Any) -> None:
        raise Terminated

    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: terminate}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _warnings_as_lines(*, quiet: bool) -> Iterator[None]:
    """Print each warning to the user once, as a message; if quiet, only that a search was interrupted."""
    printed: set[str] = set()
    shown = SearchInterruptedWarning if quiet else UserWarning

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, shown) and str(message) not in printed:
            printed.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def counting_rows(quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that shows the number of rows done, if the error stream is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda n_rows: None
        return
    with console.status("reading") as status:
        yield lambda n_rows: status.update(f"{n_rows:,} rows")


def print_json(value: Any) -> None:
    """Print a result as JSON; numbers that are not finite are null."""
    typer.echo(json.dumps(_to_json(value), indent=2, ensure_ascii=False))


def _to_json(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): _to_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(each) for each in value]
    return value
