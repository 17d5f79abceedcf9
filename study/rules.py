"""Rules for whom to write to, after FAR (Wang, Zhou, Yang, Yeung, Data Mining and Knowledge Discovery 11, 2005).

Only the abstract was available; the steps follow it and the authors' earlier work on profit mining:

1. Numbers are cut into fifths; an item is `column = value`. *Focused* items occur in at least `min_support` of the
   respondents and in at most `max_support` of the others. Sets of up to three of them that at least `min_support` of
   the respondents have are rules "write".
2. Rules are ranked by the observed mean profit of the rows they match, then support, then brevity. A row is covered by
   the first rule that matches it, and by the default rule "do not write" if none does. A rule's parent is the best rule
   that is more general.
3. From the leaves up, a subtree is pruned where its root alone has at least its estimated profit. The estimate is
   pessimistic, as in C4.5: hits = M (1 - U), U the upper end of a one-sided interval for the share of non-respondents,
   and profit = hits x mean profit of a hit - letter x (M - hits); a rule with an estimated loss does not write.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

PESSIMISM = 0.25  # of C4.5: the chance that the share of non-respondents is larger than assumed
MAX_ITEMS = 3
MAX_RULES = 3_000
FIFTHS = (0.2, 0.4, 0.6, 0.8)

Rule = tuple[int, ...]  # indices of items, ascending


class Items:
    """The items of rows, fitted on training rows.

    share : (n_rows,) share of each row among the respondents, 0 for others. Rarer categories than `min_support`, such
    as most ZIP codes, are not items.
    """

    def __init__(self, frame: Any, share: NDArray[np.float64], min_support: float):
        self.cuts: dict[str, NDArray[np.float64]] = {}
        self.categories: dict[str, list[str]] = {}
        for name in frame.columns:
            column = frame[name]
            if column.dtype.kind in "fiu":
                self.cuts[name] = np.unique(np.nanquantile(column.to_numpy(float), FIFTHS))
            else:
                categories, place = np.unique(column.astype(str).to_numpy(str), return_inverse=True)
                self.categories[name] = categories[np.bincount(place, share) >= min_support].tolist()

    def transform(self, frame: Any) -> NDArray[np.bool_]:
        """Whether each row has each item, (n_rows, n_items): fifths of numbers, missing numbers, categories."""
        found = []
        for name, cuts in self.cuts.items():
            values = frame[name].to_numpy(float)
            place = np.where(np.isnan(values), -1, np.searchsorted(cuts, values))
            found += [place == k for k in range(-1, len(cuts) + 1)]
        for name, categories in self.categories.items():
            column = frame[name].astype(str).to_numpy()
            found += [column == each for each in categories]
        return np.column_stack(found)


class _Node(NamedTuple):
    rule: Rule
    children: list[int]


class FocusedRules:
    """Rules for whom to write to; see the module docstring.

    Parameters
    ----------
    letter : float
        Cost of a letter.
    min_support, max_support : float
        Smallest share of the respondents, and largest share of the others, that have an item.
    """

    def __init__(self, letter: float, *, min_support: float = 0.1, max_support: float = 0.25):
        self.letter, self.min_support, self.max_support = letter, min_support, max_support

    def fit(self, frame: Any, donation: NDArray[np.float64], weight: NDArray[np.float64]) -> FocusedRules:
        """Fit on rows with their donations, 0 for non-respondents, and weights."""
        gave = donation > 0.0
        share = np.where(gave, weight, 0.0) / weight[gave].sum()
        self.items = Items(frame, share, self.min_support)
        held = self.items.transform(frame)
        rules = self._rules(held, gave, weight)
        order = self._ranked(rules, held, donation - self.letter, weight)
        self.ranked = _not_covered(order)
        cover = self._cover(held)
        self.writes = self._pruned(cover, donation, weight)
        return self

    def predict(self, frame: Any) -> NDArray[np.bool_]:
        """Whether to write to each row."""
        cover = self._cover(self.items.transform(frame))
        return np.append(self.writes, False)[cover]  # the default rule does not write

    def _rules(self, held: NDArray[np.bool_], gave: NDArray[np.bool_], weight: NDArray[np.float64]) -> list[Rule]:
        """Sets of focused items with enough support among the respondents, level by level."""
        among_others = np.average(held[~gave], axis=0, weights=weight[~gave])
        donors, own = held[gave], weight[gave] / weight[gave].sum()
        focused = np.flatnonzero((own @ donors >= self.min_support) & (among_others <= self.max_support))
        level: list[Rule] = [(int(item),) for item in focused]
        rules = list(level)
        for _ in range(MAX_ITEMS - 1):
            grown = []
            for rule in level:
                matched = donors[:, rule].all(axis=1)
                later = focused[focused > rule[-1]]
                support = (own * matched) @ donors[:, later]
                grown += [(*rule, int(item)) for item in later[support >= self.min_support]]
            level = grown
            rules += level
            if len(rules) > MAX_RULES:
                break
        return rules[:MAX_RULES]

    def _ranked(
        self, rules: Sequence[Rule], held: NDArray[np.bool_], profit: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> list[Rule]:
        """Rules sorted by mean profit, support and brevity."""
        keys = []
        for number, rule in enumerate(rules):
            matched = weight * held[:, rule].all(axis=1)
            support = matched.sum()
            keys.append((-(matched @ profit) / support, -support, len(rule), number))
        return [rules[key[-1]] for key in sorted(keys)]

    def _cover(self, held: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The index of the first rule that matches each row, `len(self.ranked)` if none does."""
        cover = np.full(len(held), len(self.ranked))
        open_rows = np.ones(len(held), bool)
        for number, rule in enumerate(self.ranked):
            matched = open_rows & held[:, rule].all(axis=1)
            cover[matched] = number
            open_rows &= ~matched
        return cover

    def _pruned(
        self, cover: NDArray[np.intp], donation: NDArray[np.float64], weight: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Whether each rule writes after pruning; rules of a pruned subtree do what its root does."""
        n_rules = len(self.ranked)
        sums = np.zeros((n_rules, 3))  # weight, weight of respondents, their profit
        gave = donation > 0.0
        for k, values in enumerate((weight, weight * gave, weight * gave * (donation - self.letter))):
            sums[:, k] = np.bincount(cover, values, minlength=n_rules + 1)[:n_rules]
        nodes = _tree(self.ranked)
        writes = np.zeros(n_rules, bool)
        # A parent is ranked after its children, so the ranking goes from the leaves up.
        below, profit = sums.copy(), np.zeros(n_rules)
        for number in range(n_rules):
            children = nodes[number].children
            below[number] += below[children].sum(axis=0)
            own, pruned = (max(0.0, self._estimated_profit(each)) for each in (sums[number], below[number]))
            kept = own + profit[children].sum()
            profit[number] = max(pruned, kept)
            if pruned >= kept:
                writes[_subtree(nodes, number)] = pruned > 0.0
            else:
                writes[number] = own > 0.0
        return writes

    def _estimated_profit(self, sums: NDArray[np.float64]) -> float:
        """The pessimistic profit of writing to rows of this weight, respondents and profit."""
        total, respondents, profit = sums
        if respondents <= 0.0:
            return -self.letter * float(total)
        others = total - respondents
        share = beta.ppf(1.0 - PESSIMISM, others + 1.0, respondents)
        hits = total * (1.0 - share)
        return float(hits * profit / respondents - self.letter * (total - hits))


def _generalisations(rule: Rule) -> list[Rule]:
    return [part for size in range(1, len(rule)) for part in itertools.combinations(rule, size)]


def _not_covered(ranked: Sequence[Rule]) -> list[Rule]:
    """Rules without those ranked after a more general one, which covers all their rows."""
    kept: dict[Rule, None] = {}
    for rule in ranked:
        if not any(part in kept for part in _generalisations(rule)):
            kept[rule] = None
    return list(kept)


def _tree(ranked: Sequence[Rule]) -> list[_Node]:
    """Each rule with the indices of its children; its parent is the best more general rule."""
    numbers = {rule: number for number, rule in enumerate(ranked)}
    nodes = [_Node(rule, []) for rule in ranked]
    for number, rule in enumerate(ranked):
        parents = [numbers[part] for part in _generalisations(rule) if part in numbers]
        if parents:
            nodes[min(parents)].children.append(number)
    return nodes


def _subtree(nodes: Sequence[_Node], number: int) -> list[int]:
    found, open_nodes = [], [number]
    while open_nodes:
        found.append(open_nodes.pop())
        open_nodes += nodes[found[-1]].children
    return found
