"""Ctrl-C in a search: whether it ends the search, which keeps what it has found, or all that the search is part of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_raised = ContextVar("raised", default=False)


class SearchInterruptedWarning(UserWarning):
    """A search ended early by Ctrl-C, whose best point so far is used."""


@contextmanager
def interrupts(*, raised: bool) -> Iterator[None]:
    """Whether searches inside raise KeyboardInterrupt, as all else does, or end early and keep what they have found."""
    before = _raised.set(raised)
    try:
        yield
    finally:
        _raised.reset(before)


def are_interrupts_raised() -> bool:
    """What the innermost `interrupts` says; False outside."""
    return _raised.get()
