"""The benchmark measures what it says: the yardstick's formulas, the order of rounds, a small run."""

import json

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from benchmarks import __main__ as command
from benchmarks import timing
from benchmarks.cases import CASES, FN_COST, FP_COST, Case, boxes, generate
from benchmarks.report import below_best, case_record
from benchmarks.worker import Answer, Measurement
from benchmarks.yardstick import BLOCK_ROWS, dual_objective, infeasibility


def result(peer, *, objective=1.0, infeasible=0.0, seconds=1.0):
    answer = Answer(objective, infeasible, None, n_support=1, threads={})
    return timing.PeerResult(peer, [seconds], [seconds], answer)


class FakeWorker:
    """Records the order in which it is asked to measure."""

    def __init__(self, name, log, seconds):
        self.name, self.log, self.seconds = name, log, seconds

    def measure(self):
        self.log.append(self.name)
        return Measurement(self.seconds, self.seconds)


def measured_order(monkeypatch, seconds, repeats):
    monkeypatch.setattr(timing, "PAUSE_SECONDS", 0.0)
    log = []
    workers = {name: FakeWorker(name, log, seconds) for name in "ab"}
    timing.measure_rounds(CASES["5k-20"], workers, repeats)
    return "".join(log)


def test_dual_objective_is_the_formula_over_several_blocks():
    rng = np.random.default_rng(0)
    n = BLOCK_ROWS + 10
    X, beta, margins = rng.normal(size=(n, 3)), rng.normal(size=n), rng.uniform(0.2, 1, n)
    expected = np.sum(margins * np.abs(beta)) - 0.5 * beta @ rbf_kernel(X, gamma=0.3) @ beta
    assert dual_objective(X, beta, 0.3, margins) == pytest.approx(expected, rel=1e-12)


def test_dual_objective_of_scikit_learns_answer_is_its_primal_objective():
    case = Case("test", n=200, d=6, C=1.0, n_predict=1)
    X, y, _ = generate(case)
    svc = SVC(C=case.C, gamma=case.gamma, class_weight={0: FP_COST, 1: FN_COST}, tol=1e-8).fit(X, y)
    beta = svc.dual_coef_.ravel()
    c, f = boxes(case, y), svc.decision_function(X)
    squared_norm = beta @ rbf_kernel(svc.support_vectors_, gamma=case.gamma) @ beta
    primal = 0.5 * squared_norm + c @ np.maximum(0, 1 - np.where(y == 1, f, -f))
    assert dual_objective(X[svc.support_], beta, case.gamma) == pytest.approx(primal, rel=1e-6)
    assert infeasibility(beta, y[svc.support_], c[svc.support_]) < 1e-9


@pytest.mark.parametrize(
    ("beta", "expected"),
    [([1.0, -1.0], 0.0), ([1.5, -1.5], 0.25), ([-0.5, 0.5], 0.25), ([1.0, -0.5], 0.25)],
    ids=["feasible", "over the box", "wrong side", "unbalanced"],
)
def test_infeasibility_is_the_largest_violation_over_the_largest_box(beta, expected):
    y, c = np.array([1, 0]), np.array([2.0, 1.0])
    assert infeasibility(np.array(beta), y, c) == pytest.approx(expected)


def test_rounds_alternate_the_order_of_solvers(monkeypatch):
    assert measured_order(monkeypatch, seconds=0.1, repeats=3) == "abbaab"


def test_long_fits_get_one_round_in_each_order(monkeypatch):
    assert measured_order(monkeypatch, seconds=60.0, repeats=5) == "abba"


def test_an_infeasible_objective_is_never_the_best():
    results = [result("cssvm", objective=10.0), result("other", objective=11.0, infeasible=0.5)]
    assert below_best(results) == pytest.approx({"cssvm": 0.0, "other": -0.1})


def test_ratio_above_one_means_slower_than_cssvm():
    record = case_record(CASES["5k-20"], [result("cssvm", seconds=2.0), result("other", seconds=6.0)])
    assert [peer["fit_ratio"] for peer in record["peers"]] == [1.0, 3.0]


def test_peers_that_are_not_installed_are_named_and_left_out(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda module: None if module == "sklearnex" else 1)
    assert command.installed_peers(["sklearnex", "sklearn"]) == ["cssvm", "sklearn"]
    assert "sklearnex is left out" in capsys.readouterr().out


@pytest.mark.slow
def test_quick_run_prints_a_table_and_writes_it_as_json(tmp_path, capsys):
    path = tmp_path / "run.json"
    command.main(["--quick", "--cases", "5k-20", "--peers", "sklearn", "--repeats", "1", "--json", str(path)])
    (case,) = json.loads(path.read_text())["cases"]
    assert [peer["peer"] for peer in case["peers"]] == ["cssvm", "sklearn"]
    assert all(abs(peer["below_best"]) < 1e-3 for peer in case["peers"])
    assert "dual objective" in capsys.readouterr().out
