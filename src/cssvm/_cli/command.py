"""How verbs speak: results on the standard output, messages on the error stream, one line for what went wrong.

Exit codes: 0 done, 2 wrong use or input, 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeGuard, TypeVar

import typer

from .._runtime.interrupts import SearchInterruptedWarning, interrupts
from . import STOPPED

WRONG_INPUT, TERMINATED = 2, 143
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

P = ParamSpec("P")
R = TypeVar("R")


class Terminated(BaseException):
    """SIGTERM. Not KeyboardInterrupt, which ends a search early and keeps what it has found."""


def command(*example: str, stays: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A verb with an example in its help, whose failures on bad input and warnings are one line each.

    stays : what a verb that is stopped leaves behind, if it writes something else than the file `out`.
    """

    def of(verb: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(verb)
        def speaking(*args: P.args, **kwargs: P.kwargs) -> R:
            out = kwargs.get("out")
            before = _stamp(out)
            try:
                with _stoppable(), interrupts(raised=True), _warnings_as_lines(quiet=bool(kwargs.get("quiet"))):
                    return verb(*args, **kwargs)
            except (KeyboardInterrupt, Terminated) as stopped:
                written = "nothing was written" if _stamp(out) == before else f"{out} is complete"
                left = stays or (written if _appears_whole(out) else "")
                say(f"stopped; {left}." if left else "stopped.")
                raise typer.Exit(TERMINATED if isinstance(stopped, Terminated) else STOPPED) from None
            except BrokenPipeError:  # the reader of the standard output has gone, as `head` does
                _leave_output()
                raise typer.Exit(1) from None
            except (ValueError, OSError, ImportError, MemoryError) as error:
                say(_said(error))
                if _is_full_output(error):
                    _leave_output()
                raise typer.Exit(WRONG_INPUT) from None

        speaking.__doc__ = with_example(verb.__doc__ or "", *example)
        return speaking

    return of


def with_example(help_text: str, *example: str) -> str:
    """The help of a verb with an example below it, whose lines are kept as they are."""
    return "\n".join([inspect.cleandoc(help_text), "", "\b", "Example:", *(f"  {line}" for line in example)])


def say(message: str) -> None:
    """One line on the error stream, if there is one."""
    if sys.stderr is not None:
        print(f"cssvm: {printable(' '.join(message.split()))}", file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """The text without characters that a terminal would obey: a file of a stranger may hold any."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _said(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if _is_full_output(error):
        return f"the standard output: {error.strerror}"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _is_full_output(error: BaseException) -> TypeGuard[OSError]:
    """Whether there is no room for the standard output; errors about room elsewhere name a file."""
    return isinstance(error, OSError) and error.errno in DISK_FULL and error.filename is None


def _leave_output() -> None:
    """Have what the standard output still holds go nowhere when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _appears_whole(out: Any) -> bool:
    """Whether the output of a verb is a file that appears when it is complete, or there is none."""
    return out is None or (out != "-" and (Path(out).is_file() or not Path(out).exists()))


def _stamp(out: Any) -> Any:
    """What changes when a file is written; None if there is no file."""
    found = Path(out) if isinstance(out, str | os.PathLike) else None
    return found.stat().st_ino if found is not None and found.is_file() else None


@contextmanager
def _stoppable() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt inside, also in a job in the background, which would ignore it.

    SIGTERM raises `Terminated`, so that unfinished files are removed.
    """
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
    """Warnings to the user as messages, each once; those of numerical code to its author are left out.

    quiet : show only that a search was cut short, as its model is another one.
    """
    said: set[str] = set()
    shown = SearchInterruptedWarning if quiet else UserWarning

    def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
        if issubclass(category, shown) and str(message) not in said:
            said.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


@contextmanager
def counting_rows(quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that shows how many rows are done, on an error stream that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda n_rows: None
        return
    with console.status("reading") as status:
        yield lambda n_rows: status.update(f"{n_rows:,} rows")


def print_json(value: Any) -> None:
    """A result for machines, on the standard output; numbers that are not finite are null."""
    typer.echo(json.dumps(_plain(value), indent=2, ensure_ascii=False))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
