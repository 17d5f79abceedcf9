"""Progress of long computations: a bar with the time left, plain lines without rich, and what Ctrl-C does."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

EVERY = 5.0  # seconds at least between plain lines
_raised = ContextVar("raised", default=False)


def say(message: str, what: str = "search") -> None:
    """One line on the error stream."""
    print(f"{what}: {message}", file=sys.stderr, flush=True)


class Silent:
    """Reports nothing."""

    def advance(self, count: int) -> None:
        """Count units that are done."""

    def skip(self, count: int) -> None:
        """Count units that were done before."""
        self.advance(count)


class Lines(Silent):
    """A line now and then."""

    def __init__(self, total: int, what: str, unit: str):
        self.total, self.done, self.before = total, 0, 0
        self.what, self.unit = what, unit
        self.begun = self.reported = time.monotonic()

    def advance(self, count: int) -> None:
        """Count units that are done, and report if it is time."""
        self.done += count
        now = time.monotonic()
        if now - self.reported < EVERY and self.done < self.total:
            return
        self.reported = now
        left = (now - self.begun) / max(1, self.done - self.before) * (self.total - self.done)
        say(f"{self.done} of {self.total} {self.unit}, {left:.0f} s left", self.what)

    def skip(self, count: int) -> None:
        """Count units that were done before."""
        self.done += count
        self.before += count


class Bar(Silent):
    """A bar drawn by rich."""

    def __init__(self, bar: Any, total: int):
        self.bar, self.total = bar, total
        self.task = bar.add_task("", total=total)

    def advance(self, count: int) -> None:
        """Count units that are done."""
        self.bar.advance(self.task, count)


@contextmanager
def progress(verbose: int, total: int, what: str = "search", unit: str = "fits") -> Iterator[Silent]:
    """A progress report for `total` units of work; silent unless `verbose`."""
    if not verbose:
        yield Silent()
        return
    try:
        from rich import progress as rich
        from rich.console import Console
    except ImportError:
        yield Lines(total, what, unit)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total, what, unit)
        return
    columns = (
        rich.TextColumn(what), rich.BarColumn(), rich.MofNCompleteColumn(), rich.TextColumn(unit),
        rich.TimeElapsedColumn(), rich.TextColumn("left"), rich.TimeRemainingColumn(),
    )  # fmt: skip
    with rich.Progress(*columns, console=console) as bar:
        yield Bar(bar, total)


class SearchInterruptedWarning(UserWarning):
    """A search ended early by Ctrl-C, whose best point so far is used."""


@contextmanager
def interrupts(*, raised: bool) -> Iterator[None]:
    """Set whether searches inside raise KeyboardInterrupt, or end early and keep their results so far."""
    before = _raised.set(raised)
    try:
        yield
    finally:
        _raised.reset(before)


def are_interrupts_raised() -> bool:
    """The setting of the innermost `interrupts`; False outside."""
    return _raised.get()
