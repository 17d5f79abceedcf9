"""Blocks that are partitions of a Dask cluster: the second way to sum, beside `LocalBlocks`.

Rows are read inside the tasks of each pass and forgotten, or kept in the memory of workers if all of them fit. Chosen
rows, a sample or those near their margin, are kept there, joined to blocks of a good size; if they are few, they come
to the client, where an iteration takes no round trips. States stay beside their blocks. None of this changes a bit of
the sums, which depend on the partitions alone.

A state is computed from the one before it, so a worker that dies takes all iterations with it. Therefore every few
iterations states come to the client and go back as arguments of new tasks, from which the scheduler can restore them:
32 bytes a row, which costs little beside the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from distributed import Future

from .._core.types import Vector
from .._solvers.linear import passes
from .._solvers.linear.blocks import Blocks, LocalBlocks, block_rows, groups
from .._solvers.linear.passes import Block, Step, joined
from ._session import Ask, Session

CHECKPOINT_EVERY = 5  # iterations
CHECKPOINT_BYTES = 1 << 26  # of states on their way at a time
HERE_BYTES = 1 << 26  # of chosen rows that come to the client


class DaskBlocks(Blocks):
    """Blocks of a cluster with their states: `Blocks`.

    read : makes a block from the arguments of its task; may be a future, so that it travels once to each worker
    given : for each block these arguments
    names : of the partitions, for errors
    counts : (n_blocks, 2) rows of each class
    """

    def __init__(
        self,
        session: Session,
        read: Callable[..., Block] | Future,
        given: Sequence[tuple[Any, ...]],
        names: Sequence[str],
        counts: np.ndarray,
        n_features: int,
    ):
        self.n_features, self.least_rows = n_features, block_rows(n_features)
        self._session, self._names = session, names
        self._given = [(read, *own) for own in given]
        self._counts, self._n_moves = counts, 0
        self._states: list[Any] = [None] * len(given)

    @property
    def n_bytes(self) -> int:
        """Of the rows, in memory."""
        return 8 * (self.n_features + 2) * int(self._counts.sum())

    def kept(self) -> DaskBlocks:
        """The same blocks in the memory of workers."""
        blocks = self._session.call("keep", Ask(_kept), self._given)
        return DaskBlocks(
            self._session, _as_it_is, [(block,) for block in blocks], self._names, self._counts, self.n_features
        )

    def counts(self) -> Vector:
        """As `Blocks` says."""
        return self._counts.sum(axis=0)

    def _map(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._session.answers(
            _name(function), Ask(_of_block, function, arguments), self._given.__getitem__, self._names, self._at_once
        )

    def _map_states(self, function: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        return self._session.answers(
            _name(function), Ask(_of_state, function, arguments), self._with_states, self._names, self._at_once
        )

    def _update_states(self, function: Callable[..., Any], step: Step | None) -> Iterator[Any]:
        if step is None:
            self._states = [None] * len(self._given)
        ask = Ask(_of_state, function, (step,))
        pairs = self._session.pairs(_name(function), ask, self._with_states, self._names, self._at_once)
        self._n_moves = 0 if step is None else self._n_moves + 1
        for k, (state, answer) in enumerate(pairs):
            self._states[k] = state
            yield answer
        if self._n_moves and self._n_moves % CHECKPOINT_EVERY == 0:
            self._checkpoint()

    def _map_subsets(self, function: Callable[..., Any], *arguments: Any) -> tuple[Blocks, list[Any]]:
        ask = Ask(_chosen, function, arguments)
        pairs = self._session.pairs(_name(function), ask, self._given.__getitem__, self._names, self._at_once)
        blocks, both = zip(*pairs, strict=True)
        counts, answers = zip(*both, strict=True)
        parts = groups([int(count.sum()) for count in counts], self.least_rows)
        merged = self._session.call("join", Ask(_joined), [(list(blocks[part]),) for part in parts])
        names = [_range_name(self._names[part]) for part in parts]
        found = DaskBlocks(
            self._session,
            _as_it_is,
            [(block,) for block in merged],
            names,
            np.array([np.sum(counts[part], axis=0) for part in parts]),
            self.n_features,
        )
        return (found.here() if found.n_bytes <= HERE_BYTES else found), list(answers)

    def here(self) -> LocalBlocks:
        """The same blocks in the memory of this process; those of the cluster are released."""
        blocks = self._session.results([block for _, block in self._given], self._names)
        return LocalBlocks(blocks, self.least_rows)

    @property
    def _at_once(self) -> int:
        return self.at_once(2 * self._session.n_cores)

    def _with_states(self, part: slice) -> list[tuple[Any, ...]]:
        return [(state, *given) for state, given in zip(self._states[part], self._given[part], strict=True)]

    def _checkpoint(self) -> None:
        """States as arguments of tasks, so that none depends on one before it."""
        n_bytes = np.cumsum(32 * self._counts.sum(axis=1))
        for number in range(int(n_bytes[-1]) // CHECKPOINT_BYTES + 1):
            own = np.flatnonzero(n_bytes // CHECKPOINT_BYTES == number).tolist()
            if not own:
                continue
            states = self._session.results([self._states[k] for k in own], [self._names[k] for k in own])
            restored = self._session.shared("restore", states)
            for k, state in zip(own, restored, strict=True):
                self._states[k] = state


def _name(function: Callable[..., Any]) -> str:
    return function.__name__.strip("_")


def _as_it_is(value: Any) -> Any:
    return value


def _kept(read: Callable[..., Block], *own: Any) -> Block:
    block = read(*own)
    return block._replace(rows=block.rows.take(np.arange(block.rows.n)))


def _of_block(read: Callable[..., Block], *given: Any) -> Any:
    *own, function, arguments = given
    return function(read(*own), *arguments)


def _of_state(state: np.ndarray | None, read: Callable[..., Block], *given: Any) -> Any:
    *own, function, arguments = given
    return function(read(*own), state, *arguments)


def _chosen(read: Callable[..., Block], *given: Any) -> tuple[Block, tuple[Vector, Any]]:
    *own, function, arguments = given
    block, answer = function(read(*own), *arguments)
    return block, (passes.count(block), answer)


def _joined(blocks: list[Block]) -> Block:
    return joined(blocks)


def _range_name(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
