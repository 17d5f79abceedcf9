"""The example of payments: its probabilities are the true ones, and its methods are worth what their order says."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "fraud.py"


@pytest.fixture(scope="module")
def fraud():
    return runpy.run_path(str(EXAMPLE))


def test_as_many_payments_are_fraudulent_as_their_probabilities_say(fraud):
    payments = fraud["make_payments"](200_000)
    order = np.argsort(payments.p)
    for rows in np.array_split(order, 10):
        share, p = payments.fraud[rows].mean(), payments.p[rows].mean()
        assert abs(share - p) < 4 * np.sqrt(p * (1 - p) / len(rows))


@pytest.mark.system
def test_nobody_beats_the_true_probabilities_and_costs_of_rows_save_most_of_what_they_do(fraud):
    payments = fraud["make_payments"](1000)
    found = fraud["compare"](payments, cv=2)
    cost = {name: payments.expected_cost(acted) for name, acted in found.decisions.items()}
    fn_cost, fp_cost = payments.costs.values()
    least = np.mean(np.minimum((1 - payments.p) * fp_cost, payments.p * fn_cost))
    assert cost[fraud["KNOWING"]] == pytest.approx(least)
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
    assert "of what can be saved" in shown
