"""The example of fraudulent payments: its true probabilities are true, and its methods save what they should."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "fraud.py"


@pytest.fixture(scope="module")
def fraud():
    return runpy.run_path(str(EXAMPLE))


def test_shares_of_frauds_agree_with_their_probabilities(fraud):
    payments = fraud["make_payments"](200_000)
    order = np.argsort(payments.p)
    for rows in np.array_split(order, 10):
        share, p = payments.fraud[rows].mean(), payments.p[rows].mean()
        assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / len(rows))


@pytest.mark.system
def test_no_method_beats_the_true_probabilities_and_sample_costs_save_money(fraud):
    payments = fraud["make_payments"](1000)
    found = fraud["compare"](payments, cv=2)
    cost = {name: payments.expected_cost(acted) for name, acted in found.decisions.items()}
    fn_cost, fp_cost = payments.costs.values()
    least = np.mean(np.minimum((1 - payments.p) * fp_cost, payments.p * fn_cost))
    assert cost[fraud["TRUE_PROBABILITIES"]] == pytest.approx(least)
    assert set(fraud["others"]()) < set(cost)
    for name in ("model", "DirectCost(logistic)", "MetaCost(logistic)", "costing(logistic)"):
        saved = cost["act on nobody"] - cost[name]
        assert saved > 0.3 * (cost["act on nobody"] - least), name
    assert cost["cost-blind SVC"] > 0.8 * cost["act on nobody"]


@pytest.mark.system
def test_it_prints_what_each_method_saves(fraud, capsys):
    fraud["main"](400)
    shown = capsys.readouterr().out
    assert all(name in shown for name in fraud["others"]())
    assert "share of the possible" in shown
