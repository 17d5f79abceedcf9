"""Costs of baselines and models, by loops over samples, resamples and groups."""

import numpy as np
import pytest

from cssvm._core.samples import Samples
from cssvm.metrics._bootstrap import generator, resample_counts
from cssvm.metrics._income import ActionCosts
from cssvm.metrics._policies import compare_policies

Y = np.array([1, 0, 1, 0, 0, 1, 0])
WEIGHT = np.array([1.0, 2.0, 3.0, 1.0, 2.0, 1.0, 4.0])
OUTCOMES = {
    "tp_cost": np.array([-3.0, 9.0, -1.0, 9.0, 9.0, -2.0, 9.0]),
    "fp_cost": 2.0,
    "tn_cost": 0.5,
    "fn_cost": np.array([7.0, 9.0, 4.0, 9.0, 9.0, 6.0, 9.0]),
}
ACTED = {
    "model": np.array([1.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.25]),
    "everybody": np.ones(7),
    "nobody": np.zeros(7),
}
N_RESAMPLES, SEED = 40, 5


def cost_of(i, name):
    """What one sample is expected to cost, by a policy that acts on it in a share of the times."""
    share = ACTED[name][i]
    acting, leaving = ("tp_cost", "fn_cost") if Y[i] else ("fp_cost", "tn_cost")
    costs = {outcome: np.broadcast_to(OUTCOMES[outcome], 7)[i] for outcome in (acting, leaving)}
    return share * costs[acting] + (1 - share) * costs[leaving]


def mean_cost(rows, name):
    return sum(WEIGHT[i] * cost_of(i, name) for i in rows) / sum(WEIGHT[i] for i in rows)


def policies(groups=None, confidence=0.8):
    sample = Samples.from_labels(Y, sample_weight=WEIGHT)
    money = ActionCosts.from_outcomes(sample, OUTCOMES)
    found = compare_policies(ACTED, sample, money, N_RESAMPLES, confidence, SEED, groups=groups)
    assert [policy.name for policy in found] == list(ACTED)
    return found


def test_costs_and_counts_are_sums_over_samples():
    for policy in policies():
        acted = ACTED[policy.name]
        assert policy.cost.value == pytest.approx(mean_cost(range(7), policy.name))
        assert policy.total == pytest.approx(sum(WEIGHT[i] * cost_of(i, policy.name) for i in range(7)))
        assert policy.actions == pytest.approx(sum(WEIGHT * acted))
        assert policy.false_negatives == pytest.approx(sum(WEIGHT[i] * (1 - acted[i]) for i in range(7) if Y[i]))
        assert policy.false_positives == pytest.approx(sum(WEIGHT[i] * acted[i] for i in range(7) if not Y[i]))


@pytest.mark.parametrize("groups", [None, np.array(["b", "a", "b", "c", "a", "d", "d"])])
def test_intervals_are_quantiles_of_costs_of_resampled_samples_or_groups(groups):
    members = [[i] for i in range(7)] if groups is None else [np.flatnonzero(groups == g) for g in np.unique(groups)]
    (counts,) = resample_counts([np.arange(len(members))], N_RESAMPLES, generator(SEED), stratified=False)
    resamples = [[i for count, rows in zip(line, members, strict=True) for i in [*rows] * count] for line in counts]
    model = np.array([mean_cost(rows, "model") for rows in resamples])
    for k, policy in enumerate(policies(groups)):
        costs = np.array([mean_cost(rows, policy.name) for rows in resamples])
        np.testing.assert_allclose(policy.cost[1:], np.quantile(costs, [0.1, 0.9]))
        if k == 0:
            assert policy.difference is None
        else:
            expected = [policy.cost.value - mean_cost(range(7), "model"), *np.quantile(costs - model, [0.1, 0.9])]
            np.testing.assert_allclose(policy.difference, expected)


def test_money_of_some_samples_is_what_they_cost():
    money = ActionCosts.from_outcomes(Samples.from_labels(Y), OUTCOMES)
    some = money.take([2, 4])
    np.testing.assert_array_equal(some.act, [OUTCOMES["tp_cost"][2], 2.0])
    np.testing.assert_array_equal(some.skip, [OUTCOMES["fn_cost"][2], 0.5])
