"""The benchmark of fits: formulas of the objective, order of rounds, growth, verdicts, a small run."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from benchmarks import __main__ as command
from benchmarks import memory, objectives, real, timing, worker
from benchmarks.cases import CASES, FP_COST, GROUPS, LEFT_OUT, Case, chosen, load, missing, upper_bounds
from benchmarks.objectives import dual_objective, infeasibility
from benchmarks.report import below_best, case_record
from benchmarks.rows import stratified_order
from benchmarks.tables import case_table, ratio_cell, summary_table
from benchmarks.worker import Answer, Measurement

SMALL = Case("test", n=200, d=6, C=1.0, n_predict=1)


def answer(objective=1.0, infeasible=0.0):
    return Answer(objective, infeasible, None, n_support=1, threads={})


def result(peer, *, n=5_000, rows=None, objective=1.0, infeasible=0.0, seconds=1.0, smaller=None, predict=1.0):
    rows = n if rows is None else rows
    return timing.PeerResult(
        peer,
        n=n,
        rows=rows,
        fit_seconds=[seconds],
        predict_seconds=[predict],
        peak_bytes=None,
        smaller=smaller or {},
        answers={rows: answer(objective, infeasible)},
    )


class FakeWorker:
    """Records the calls of `measure` in their order."""

    def __init__(self, name, log, seconds):
        self.name, self.log, self.seconds = name, log, seconds

    def prepare(self, case):
        pass

    def wait(self):
        pass

    def measure(self, rows, *, predict=False):
        self.log.append((self.name, rows))
        if self.seconds is None:
            raise worker.WorkerError("out of memory")
        return Measurement(self.seconds * rows, self.seconds if predict else None)

    def evaluate(self):
        return answer()

    def stop(self):
        self.log.append((self.name, "stop"))


def fake_workers(log, **seconds_per_row):
    return timing.Workers({name: FakeWorker(name, log, seconds) for name, seconds in seconds_per_row.items()})


def measured_order(seconds, repeats):
    log = []
    case = CASES["5k-20"]
    timing.measure_rounds(
        case, fake_workers(log, a=seconds / case.n, b=seconds / case.n), ["a", "b"], repeats, pause=0.0
    )
    return "".join(name for name, _ in log)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix])
def test_dual_objective_is_the_formula_over_several_blocks(monkeypatch, kernel, storage):
    rng = np.random.default_rng(0)
    n = 100
    monkeypatch.setattr(objectives, "BLOCK_VALUES", 30 * n)
    X, beta, margins = rng.normal(size=(n, 3)), rng.normal(size=n), rng.uniform(0.2, 1, n)
    K = rbf_kernel(X, gamma=0.3) if kernel == "rbf" else linear_kernel(X)
    expected = np.sum(margins * np.abs(beta)) - 0.5 * beta @ K @ beta
    assert dual_objective(storage(X), beta, 0.3, margins, kernel=kernel) == pytest.approx(expected, rel=1e-12)


def test_dual_objective_of_scikit_learns_solution_is_its_primal_objective():
    data = load(SMALL)
    X, y = data.X, data.y
    svc = SVC(C=SMALL.C, gamma=SMALL.gamma, class_weight={0: FP_COST, 1: SMALL.fn_cost}, tol=1e-8).fit(X, y)
    beta = svc.dual_coef_.ravel()
    c, f = upper_bounds(SMALL, y), svc.decision_function(X)
    squared_norm = beta @ rbf_kernel(svc.support_vectors_, gamma=SMALL.gamma) @ beta
    primal = 0.5 * squared_norm + c @ np.maximum(0, 1 - np.where(y == 1, f, -f))
    assert dual_objective(X[svc.support_], beta, SMALL.gamma) == pytest.approx(primal, rel=1e-6)
    assert infeasibility(beta, y[svc.support_], c[svc.support_]) < 1e-9


@pytest.mark.parametrize(
    ("beta", "expected"),
    [([1.0, -1.0], 0.0), ([1.5, -1.5], 0.25), ([-0.5, 0.5], 0.25), ([1.0, -0.5], 0.25)],
    ids=["feasible", "above the upper bound", "wrong side", "unbalanced"],
)
def test_infeasibility_is_the_largest_violation_over_the_largest_upper_bound(beta, expected):
    y, c = np.array([1, 0]), np.array([2.0, 1.0])
    assert infeasibility(np.array(beta), y, c) == pytest.approx(expected)


def test_sparse_rows_have_unit_length_and_one_percent_of_their_features():
    data = load(Case("test", n=2_000, d=1_000, source="sparse", n_predict=10))
    assert data.X.format == "csr"
    assert data.X.nnz / np.prod(data.X.shape) == pytest.approx(0.01, rel=0.05)
    np.testing.assert_allclose(sp.linalg.norm(data.X, axis=1), 1.0)
    assert data.X_new.shape == (10, 1_000)
    assert 0.4 < data.y.mean() < 0.6


def test_every_prefix_of_the_imbalanced_case_has_one_positive_in_about_two_hundred():
    y = load(CASES["imbalanced"]).y
    for n in (5_000, 10_000, 20_000):
        assert 200 * y[:n].mean() == pytest.approx(1.0, rel=0.1)


def test_stratified_order_keeps_the_shares_in_every_prefix():
    labels = np.repeat([0, 1, 2], [900, 90, 10])
    order = stratified_order(labels, seed=0)
    assert sorted(order) == list(range(1_000))
    assert np.bincount(labels[order[:200]]).tolist() == [180, 18, 2]
    assert list(order) != list(stratified_order(labels, seed=1))


LARGE = ("covertype", "mnist")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.system if name in LARGE else ()) for name in real.SOURCES]
)
def test_real_data_is_read_as_dense_features_and_a_binary_target(shared_data, name):
    if reason := real.SOURCES[name].missing(shared_data):
        pytest.skip(reason)
    case = next(case for case in CASES.values() if case.source == name)
    X, y = real.SOURCES[name].read(shared_data, 600, 0)
    assert X.shape == (600, case.d)
    assert X.dtype == np.float64
    assert 0 < y.sum() < 300
    rows = load(Case("test", n=500, d=case.d, source=name, n_predict=2), shared_data)
    assert rows.X.shape == (500, case.d)
    assert rows.X_new.shape == (2, case.d)


def test_standardised_real_rows_have_mean_zero_and_deviation_one(shared_data):
    if reason := real.SOURCES["german"].missing(shared_data):
        pytest.skip(reason)
    X, _ = real.SOURCES["german"].read(shared_data, 600, 0)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1.0)


def test_missing_numbers_are_means_and_categories_are_indicators():
    np.testing.assert_array_equal(real.with_means(np.array([[1.0, 2.0], [np.nan, 3.0], [3.0, 4.0]]))[:, 0], [1, 2, 3])
    np.testing.assert_array_equal(real.column_features(np.array(["1", "?", "3"])).ravel(), [1, 2, 3])
    np.testing.assert_array_equal(real.column_features(np.array(["b", "?", "a"])), [[0, 0, 1], [1, 0, 0], [0, 1, 0]])


def test_a_case_without_data_is_skipped(tmp_path, capsys):
    assert missing(CASES["5k-20"], None) is None
    assert "--data" in missing(CASES["mnist"], None)
    cases = command.cases_with_data(["german", "5k-20"], tmp_path)
    assert [case.name for case in cases] == ["5k-20"]
    assert "german is skipped" in capsys.readouterr().out


def test_the_data_folder_is_the_option_then_the_environment_then_next_to_the_repository(tmp_path, monkeypatch):
    monkeypatch.setattr(real, "NEXT_TO_THE_REPOSITORY", tmp_path / "absent")
    monkeypatch.delenv(real.FOLDER_VARIABLE, raising=False)
    assert real.data_folder(None) is None
    monkeypatch.setattr(real, "NEXT_TO_THE_REPOSITORY", tmp_path)
    assert real.data_folder(None) == tmp_path
    monkeypatch.setenv(real.FOLDER_VARIABLE, str(tmp_path / "named"))
    assert real.data_folder(None) == tmp_path / "named"
    assert real.data_folder(tmp_path / "asked") == tmp_path / "asked"


def test_groups_are_expanded_and_each_case_runs_once():
    assert [case.name for case in chosen(["german", "real"])] == list(GROUPS["real"])
    assert set(GROUPS["all"]) == set(CASES)
    default = {case.name for case in chosen(command.parse_arguments([]).cases)}
    assert set(CASES) - default == {"covertype", "covertype-all", "mnist"}


def test_a_quick_case_keeps_its_limited_peers_limited():
    case = CASES["100k-50"].quick()
    assert case.n <= 2_000
    assert case.rows_for("sklearn") == case.n // 2
    assert case.rows_for("libsvm") == LEFT_OUT
    assert case.growth_rows("cssvm") == (case.n // 4, case.n // 2)
    assert CASES["n1000-20"].growth_rows("cssvm") == ()


def test_rounds_alternate_the_order_of_solvers():
    assert measured_order(seconds=0.1, repeats=3) == "abbaab"


def test_long_fits_get_one_round_in_each_order():
    assert measured_order(seconds=60.0, repeats=5) == "abba"


def test_very_long_fits_get_one_round():
    assert measured_order(seconds=600.0, repeats=5) == "ab"


def test_a_limited_peer_fits_fewer_samples_and_cssvm_as_many_to_compare():
    log = []
    case = Case("test", n=40_000, d=2, limits={"sklearn": 8_000})
    workers = fake_workers(log, cssvm=1e-6, sklearn=1e-5)
    ours, theirs = timing.run_case(case, workers, ["cssvm", "sklearn"], repeats=1, pause=0.0)
    assert [rows for name, rows in log if name == "sklearn"] == [8_000, 2_000, 4_000]
    assert sorted(rows for name, rows in log if name == "cssvm") == [8_000, 10_000, 20_000, 40_000]
    assert set(ours.answers) == {8_000, 40_000}
    assert theirs.extrapolated
    assert theirs.fit_at_n == pytest.approx(0.4)
    assert theirs.predict_median is None
    record = case_record(case, [ours, theirs])["peers"][1]
    assert [record["fit_ratio"], record["fit_ratio_at_rows"]] == pytest.approx([10.0, 10.0])


def test_a_peer_that_fails_is_left_out(capsys):
    log = []
    workers = fake_workers(log, cssvm=1e-6, sklearn=None)
    (only,) = timing.run_case(CASES["n200-20"], workers, ["cssvm", "sklearn"], repeats=2, pause=0.0)
    assert only.peer == "cssvm"
    assert log.count(("sklearn", 200)) == 1
    assert "out of memory" in capsys.readouterr().err


def test_growth_is_the_exponent_of_a_power_law_and_extrapolates_times():
    seconds = {rows: 1e-6 * rows**1.5 for rows in (1_000, 2_000, 4_000)}
    limited = result("sklearn", n=16_000, rows=4_000, seconds=seconds.pop(4_000), smaller=seconds)
    assert limited.growth == pytest.approx(1.5)
    assert limited.fit_at_n == pytest.approx(1e-6 * 16_000**1.5)
    assert result("sklearn").growth is None


@pytest.mark.parametrize(("seconds", "calls"), [(0.02, 15), (0.06, 1)])
def test_short_fits_are_repeated_within_a_measurement(monkeypatch, seconds, calls):
    made = []
    monkeypatch.setattr(worker, "elapsed", lambda function: made.append(function) or seconds)
    assert worker.repeated(None) == seconds
    assert len(made) == pytest.approx(calls, abs=1)  # sums of 0.02 are rounded


@pytest.mark.system
@pytest.mark.skipif(memory.status_bytes("VmHWM") is None, reason="peak memory is not available")
def test_peak_memory_is_counted_from_the_reset():
    np.ones(20_000_000)
    baseline = memory.settle()
    assert memory.reset_peak()
    np.ones(5_000_000)
    assert memory.peak() - baseline == pytest.approx(40e6, rel=0.2)


def test_a_bench_measures_and_evaluates_a_fit_of_its_first_rows():
    bench = worker.Bench("sklearn", SMALL, None)
    measurement = bench.measure(100, predict=False)
    assert measurement.fit_seconds > 0
    assert measurement.predict_seconds is None
    found = bench.evaluate()
    assert found.n_support <= 100
    assert found.infeasibility < 1e-9


def test_an_infeasible_objective_is_never_the_best():
    results = [result("cssvm", objective=10.0), result("other", objective=11.0, infeasible=0.5)]
    assert below_best(results, 5_000) == pytest.approx({"cssvm": 0.0, "other": -0.1})


def test_ratio_above_one_means_slower_than_cssvm():
    record = case_record(CASES["5k-20"], [result("cssvm", seconds=2.0), result("other", seconds=6.0)])
    assert [peer["fit_ratio"] for peer in record["peers"]] == [1.0, 3.0]


@pytest.mark.parametrize(
    ("seconds", "objective", "verdict"),
    [(5.1, 1.0, "ok"), (4.9, 1.0, "miss"), (5.1, 1.0 + 2e-6, "miss")],
    ids=["reached", "too slow", "another optimum"],
)
def test_a_goal_is_met_by_the_ratio_at_the_same_optimum(seconds, objective, verdict):
    results = [result("cssvm"), result("sklearn", seconds=seconds, objective=objective)]
    peer = case_record(CASES["5k-20"], results)["peers"][1]
    assert peer["fit_goal"] == 5
    assert peer["fit_verdict"] == verdict


def test_extrapolated_ratios_are_marked_and_tables_have_at_most_a_hundred_columns():
    case = CASES["covertype"]
    smaller = {25_000: 400.0, 50_000: 1_600.0}
    results = [
        result("cssvm", n=case.n, smaller=smaller),
        result("sklearn", n=case.n, rows=100_000, seconds=6_400.0, smaller=smaller),
    ]
    record = json.loads(json.dumps(case_record(case, results)))
    assert record["peers"][1]["extrapolated"] is True
    assert ratio_cell(record["peers"][1], "fit").startswith("~")
    for text in (case_table(record), summary_table([record])):
        assert "~" in text
        assert max(map(len, text.splitlines())) <= 100


def test_the_summary_has_a_line_for_prediction_where_it_has_a_target():
    case = CASES["predict"]
    results = [result("cssvm", n=case.n), result("sklearn", n=case.n, predict=12.0)]
    assert "12.0 >=10 ok" in summary_table([case_record(case, results)]).splitlines()[-1]


def test_peers_that_are_not_installed_are_skipped(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda module: None if module == "sklearnex" else 1)
    assert command.installed_peers(["sklearnex", "sklearn"]) == ["cssvm", "sklearn"]
    assert "sklearnex is skipped" in capsys.readouterr().out


@pytest.mark.system
def test_quick_run_prints_a_table_and_writes_it_as_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    path = tmp_path / "run.json"
    cases = ["20k-20", "sparse-linear", "100k-50"]
    command.main(["--quick", "--cases", *cases, "--peers", "sklearn", "--json", str(path)])
    printed = capsys.readouterr().out
    records = json.loads(path.read_text())["cases"]
    assert [record["name"] for record in records] == cases
    for record in records:
        assert [peer["peer"] for peer in record["peers"]] == ["cssvm", "sklearn"]
        assert all(abs(peer["below_best"]) < 1e-3 for peer in record["peers"])
    assert records[2]["peers"][1]["extrapolated"]
    assert "dual objective" in printed
    command.main(["--show", str(path)])
    assert summary_table(records) in capsys.readouterr().out


@pytest.mark.system
def test_a_run_of_full_size_starts_processes_for_its_case(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "touch_memory", lambda: None)
    path = tmp_path / "run.json"
    command.main(["--cases", "n200-20", "--peers", "sklearn", "--repeats", "1", "--json", str(path)])
    (record,) = json.loads(path.read_text())["cases"]
    assert record["n"] == 200
