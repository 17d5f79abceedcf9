"""Rules after FAR: ranking, covering, estimated profits and pruning against slow and simple implementations."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq
from scipy.stats import binom

from study.rules import PESSIMISM, FocusedRules, Items

LETTER = 0.68
SUPPORTS = {"min_support": 0.2417, "max_support": 0.6117}  # no share of so few rows equals them


def table(seed, n=120):
    """A table in which donations depend on three columns; non-donors have the weight 3."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "last": rng.integers(1, 30, n).astype(float),
            "age": np.where(rng.random(n) < 0.2, np.nan, rng.integers(20, 80, n)),
            "state": pd.Categorical(rng.choice(["CA", "IL", "NC"], n)),
            "phone": rng.choice(["yes", "no"], n),
        }
    )
    p = 0.1 + 0.3 * (frame["last"] > 15) * (frame["state"] == "CA") + 0.2 * (frame["phone"] == "yes")
    gave = rng.random(n) < p
    donation = np.where(gave, np.round(rng.gamma(2.0, 1.0, n) + 0.1 * frame["last"], 2), 0.0)
    return frame, donation, np.where(gave, 1.0, 3.0)


@pytest.fixture(params=range(6))
def fitted(request):
    frame, donation, weight = table(request.param)
    model = FocusedRules(LETTER, **SUPPORTS).fit(frame, donation, weight)
    return model, frame, donation, weight


def matches(held, row, rule):
    return all(held[row, item] for item in rule)


def test_items_are_fifths_of_numbers_missing_numbers_and_categories():
    frame = pd.DataFrame({"n": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan], "w": ["a", "a", "b", "b", "c", "c"]})
    share = np.array([0.5, 0.5, 0.0, 0.0, 0.0, 0.0])
    held = Items(frame, share, 0.25).transform(frame)
    fifths = np.eye(6, dtype=bool)[[1, 2, 3, 4, 5, 0]]  # the first column is for missing numbers
    np.testing.assert_array_equal(held[:, :6], fifths)
    np.testing.assert_array_equal(
        held[:, 6:], (frame["w"] == "a").to_numpy()[:, np.newaxis]
    )  # no respondent has others


def slow_ranking(held, donation, weight):
    """All sets of up to three focused items with support, by mean profit, support, brevity and size by size."""
    gave = donation > 0
    total = {True: weight[gave].sum(), False: weight[~gave].sum()}

    def support(rule, of):
        return sum(w for row, w in enumerate(weight) if gave[row] == of and matches(held, row, rule)) / total[of]

    focused = [
        item
        for item in range(held.shape[1])
        if support((item,), True) >= SUPPORTS["min_support"] and support((item,), False) <= SUPPORTS["max_support"]
    ]
    rules = [rule for size in (1, 2, 3) for rule in itertools.combinations(focused, size)]
    rules = [rule for rule in rules if support(rule, True) >= SUPPORTS["min_support"]]

    def key(rule):
        rows = [row for row in range(len(weight)) if matches(held, row, rule)]
        mass = sum(weight[row] for row in rows)
        profit = sum(weight[row] * (donation[row] - LETTER) for row in rows) / mass
        return round(-profit, 9), round(-mass, 9), len(rule)

    ranked = sorted(rules, key=key)
    return [
        rule
        for place, rule in enumerate(ranked)
        if not any(set(earlier) < set(rule) for earlier in ranked[:place])  # covers all its rows
    ]


def test_ranking_and_covering_are_those_of_the_simple_algorithm(fitted):
    model, frame, donation, weight = fitted
    held = model.items.transform(frame)
    expected = slow_ranking(held, donation, weight)
    assert len(expected) >= 3
    assert model.ranked == expected
    for row, found in enumerate(model._cover(held)):
        assert found == next((k for k, rule in enumerate(expected) if matches(held, row, rule)), len(expected))


def slow_profit(rows, donation, weight):
    """Pessimistic profit of writing to rows: the share of non-respondents at which so few of them have a chance of 1/4.

    With whole weights these are counts: P(at most E of M do not answer | share U) = 1/4.
    """
    gave = [row for row in rows if donation[row] > 0]
    M, hits = sum(weight[row] for row in rows), sum(weight[row] for row in gave)
    if not hits:
        return -LETTER * M
    share = brentq(lambda u: binom.cdf(round(M - hits), round(M), u) - PESSIMISM, 1e-12, 1 - 1e-12, xtol=1e-14)
    expected = M * (1 - share)
    mean = sum(weight[row] * (donation[row] - LETTER) for row in gave) / hits
    return expected * mean - LETTER * (M - expected)


def test_what_rules_profit_is_the_pessimistic_profit(fitted):
    model, frame, donation, weight = fitted
    cover = model._cover(model.items.transform(frame))
    gave = donation > 0
    for number in range(len(model.ranked)):
        rows = np.flatnonzero(cover == number)
        own = weight[rows]
        sums = np.array([own.sum(), own @ gave[rows], (own * gave[rows]) @ (donation[rows] - LETTER)])
        assert model._estimated_profit(sums) == pytest.approx(slow_profit(rows, donation, weight), abs=1e-6)
        observed = own @ (donation[rows] - LETTER)
        assert model._estimated_profit(sums) <= observed + 1e-9


def slow_tree(ranked):
    """Children by number: the parent of a rule is the best of those with fewer of its items."""
    children = {number: [] for number in range(len(ranked))}
    roots = []
    for number, rule in enumerate(ranked):
        parents = [k for k, other in enumerate(ranked) if set(other) < set(rule)]
        (children[min(parents)] if parents else roots).append(number)
    return roots, children


def test_pruning_finds_the_decisions_that_profit_most(fitted):
    model, frame, donation, weight = fitted
    cover = model._cover(model.items.transform(frame))
    roots, children = slow_tree(model.ranked)

    def below(number):
        return [number, *(each for child in children[number] for each in below(child))]

    def best(number):
        """(profit, {rule: writes}) of a subtree: pruned, or the root alone and the best of each child."""
        pruned = slow_profit(np.flatnonzero(np.isin(cover, below(number))), donation, weight)
        own = slow_profit(np.flatnonzero(cover == number), donation, weight)
        parts = [best(child) for child in children[number]]
        kept = max(own, 0.0) + sum(profit for profit, _ in parts)
        if max(pruned, 0.0) >= kept - 1e-9:
            return max(pruned, 0.0), dict.fromkeys(below(number), pruned > 0)
        return kept, {number: own > 0} | {k: v for _, writes in parts for k, v in writes.items()}

    expected = {rule: writes for root in roots for rule, writes in best(root)[1].items()}
    # Rules without rows of their own may do either; only the predictions for rows count.
    predicted = model.predict(frame)
    for row, number in enumerate(cover):
        assert predicted[row] == (number < len(model.ranked) and expected[number])


def test_some_subtrees_are_pruned_and_some_rules_write():
    found = [FocusedRules(LETTER, **SUPPORTS).fit(*table(seed)) for seed in range(6)]
    assert any(model.writes.any() for model in found)
    assert any(not model.writes.all() for model in found)
    assert any(children for model in found for children in slow_tree(model.ranked)[1].values())


def test_a_row_of_missing_and_unknown_values_gets_no_letter():
    frame, donation, weight = table(0)
    model = FocusedRules(LETTER, **SUPPORTS).fit(frame, donation, weight)
    unknown = pd.DataFrame({"last": [np.nan], "age": [np.nan], "state": ["??"], "phone": ["??"]})
    held = model.items.transform(unknown)
    assert not any(matches(held, 0, rule) for rule in model.ranked)
    assert not model.predict(unknown)[0]
