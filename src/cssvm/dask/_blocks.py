"""Blocks that are partitions of a Dask cluster: the alternative to `LocalBlocks`.

Rows are read inside the tasks of each pass and released, or kept in the memory of workers if all of them fit. Chosen
rows are joined to blocks of a good size and kept there; if they are few, they are fetched. None of this changes a bit
of the sums, which depend on the partitions alone.

A state is computed from the one before it, so a worker that dies takes all iterations with it. Therefore every few
iterations states are fetched and sent back as arguments of new tasks, from which the scheduler can restore them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed import Future

from .._core.types import Vector
from .._solvers.linear import passes
from .._solvers.linear.blocks import Blocks, LocalBlocks, block_rows, groups
from .._solvers.linear.passes import Block, Step, joined
from ._partitions import Problem
from ._preparation import Preparation
from ._session import Session, Task, identity

CHECKPOINT_EVERY = 5  # iterations
CHECKPOINT_BYTES = 1 << 26  # of states fetched at a time
HERE_BYTES = 1 << 26  # of chosen rows that are fetched


@dataclass(frozen=True)
class BlockReader:
    """Turns a partition into a block, given the arguments of its task."""

    problem: Problem
    preparation: Preparation

    def __call__(self, *arguments: Any) -> Block:
        X, values = self.problem.reader.everything(*arguments)
        linear, upper_bounds = self.problem.terms(values)
        counted = upper_bounds > 0.0
        if not counted.all():
            X, linear, upper_bounds = X[counted], linear[counted], upper_bounds[counted]
        return Block(self.preparation.rows(X), linear, upper_bounds)


class DaskBlocks(Blocks):
    """Blocks of a cluster with their states: `Blocks`.

    read : makes a block from the arguments of its task; may be a future, so that it is sent once to each worker
    arguments : of each block
    names : of the partitions, for errors
    counts : (n_blocks, 2) rows of each class
    """

    def __init__(
        self,
        session: Session,
        read: Callable[..., Block] | Future,
        arguments: Sequence[tuple[Any, ...]],
        names: Sequence[str],
        counts: np.ndarray,
        n_features: int,
    ):
        self.n_features, self.least_rows = n_features, block_rows(n_features)
        self._session, self._names = session, names
        self._arguments = [(read, *own) for own in arguments]
        self._counts, self._n_moves = counts, 0
        self._states: list[Any] = [None] * len(arguments)

    @property
    def n_bytes(self) -> int:
        """Bytes of all rows in memory."""
        return 8 * (self.n_features + 2) * int(self._counts.sum())

    def persist(self) -> DaskBlocks:
        """Return the same blocks, kept in the memory of workers."""
        blocks = self._session.call("keep", Task(_read_all), self._arguments)
        return self._of_futures(blocks, self._names, self._counts)

    def gather(self) -> LocalBlocks:
        """Return the same blocks in the memory of this process; those of the cluster are released."""
        blocks = self._session.results([block for _, block in self._arguments], self._names)
        return LocalBlocks(blocks, self.least_rows)

    def counts(self) -> Vector:
        return self._counts.sum(axis=0)

    def _map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._answers(self._session.map_ordered, _of_block, function, arguments, self._arguments.__getitem__)

    def _map_states(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._answers(self._session.map_ordered, _of_state, function, arguments, self._with_states)

    def _update_states(self, function: Callable[..., Any], step: Step | None) -> Iterator[Any]:
        if step is None:
            self._states = [None] * len(self._arguments)
        pairs = self._answers(self._session.map_pairs, _of_state, function, (step,), self._with_states)
        self._n_moves = 0 if step is None else self._n_moves + 1
        for k, (state, answer) in enumerate(pairs):
            self._states[k] = state
            yield answer
        if self._n_moves and self._n_moves % CHECKPOINT_EVERY == 0:
            self._checkpoint()

    def _map_subsets(self, function: Callable[..., Any], *arguments: Any) -> tuple[Blocks, list[Any]]:
        pairs = self._answers(self._session.map_pairs, _subset, function, arguments, self._arguments.__getitem__)
        blocks, both = zip(*pairs, strict=True)
        counts, answers = zip(*both, strict=True)
        parts = groups([int(count.sum()) for count in counts], self.least_rows)
        merged = self._session.call("join", Task(joined), [(list(blocks[part]),) for part in parts])
        names = [" to ".join(dict.fromkeys([self._names[part][0], self._names[part][-1]])) for part in parts]
        found = self._of_futures(merged, names, np.array([np.sum(counts[part], axis=0) for part in parts]))
        return (found.gather() if found.n_bytes <= HERE_BYTES else found), list(answers)

    def _of_futures(self, blocks: Sequence[Future], names: Sequence[str], counts: np.ndarray) -> DaskBlocks:
        return DaskBlocks(self._session, identity, [(block,) for block in blocks], names, counts, self.n_features)

    def _answers(self, submit: Any, call: Any, function: Callable[..., Any], arguments: Any, given: Any) -> Any:
        """Submit a function of each block by a method of the session; call : how a task calls it, given : with what."""
        task = Task(call, {"function": function, "arguments": arguments})
        at_once = self.at_once(2 * self._session.n_cores)
        return submit(function.__name__.strip("_"), task, given, self._names, at_once)

    def _with_states(self, part: slice) -> list[tuple[Any, ...]]:
        return [(state, *own) for state, own in zip(self._states[part], self._arguments[part], strict=True)]

    def _checkpoint(self) -> None:
        """Make states the arguments of tasks, so that none depends on one before it."""
        chunks = np.cumsum(32 * self._counts.sum(axis=1)) // CHECKPOINT_BYTES
        for chunk in np.unique(chunks):
            own = np.flatnonzero(chunks == chunk).tolist()
            states = self._session.results([self._states[k] for k in own], [self._names[k] for k in own])
            for k, state in zip(own, self._session.share("restore", states), strict=True):
                self._states[k] = state


def _read_all(read: Callable[..., Block], *partition: Any) -> Block:
    block = read(*partition)
    return block._replace(rows=block.rows.take(np.arange(block.rows.n)))


def _of_block(
    read: Callable[..., Block], *partition: Any, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    return function(read(*partition), *arguments)


def _of_state(state: np.ndarray | None, *block: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return _of_block(*block, function=function, arguments=(state, *arguments))


def _subset(*block: Any, **options: Any) -> tuple[Block, tuple[Vector, Any]]:
    chosen, answer = _of_block(*block, **options)
    return chosen, (passes.count(chosen), answer)
