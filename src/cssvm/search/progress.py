"""A progress bar with the time left, on the error stream; plain lines where rich is not installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Plain lines are written at most this often, in seconds.
EVERY = 5.0


class Silent:
    """Says nothing."""

    def advance(self, count: int) -> None:
        """Count machines that are done."""


class Lines(Silent):
    """A line now and then."""

    def __init__(self, total: int, done: int):
        self.total, self.done, self.before = total, done, done
        self.begun = self.said = time.monotonic()

    def advance(self, count: int) -> None:
        """Count machines that are done, and say so if it is time."""
        self.done += count
        now = time.monotonic()
        if now - self.said < EVERY and self.done < self.total:
            return
        self.said = now
        left = (now - self.begun) / max(1, self.done - self.before) * (self.total - self.done)
        print(f"search: {self.done} of {self.total} machines, {left:.0f} s left", file=sys.stderr, flush=True)


class Bar(Silent):
    """A bar drawn by rich."""

    def __init__(self, bar: Any, task: Any):
        self.bar, self.task = bar, task

    def advance(self, count: int) -> None:
        """Count machines that are done."""
        self.bar.advance(self.task, count)


@contextmanager
def progress(verbose: int, total: int, done: int) -> Iterator[Silent]:
    """A progress report for `total` machines of which `done` are done already; silent unless `verbose`."""
    if not verbose:
        yield Silent()
        return
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
    except ImportError:
        yield Lines(total, done)
        return
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Lines(total, done)
        return
    columns = (
        TextColumn("search"), BarColumn(), MofNCompleteColumn(), TextColumn("machines"),
        TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        yield Bar(bar, bar.add_task("search", total=total, completed=done))
