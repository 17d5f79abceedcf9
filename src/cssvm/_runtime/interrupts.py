"""Ctrl-C in a search: whether it ends the search alone, which keeps its results so far, or raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_raised = ContextVar("raised", default=False)


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
