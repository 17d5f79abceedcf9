"""The other benchmarks: the search, the metrics, linear SVMs, the tuning constants and so on."""

import json

import numpy as np
import pytest


@pytest.mark.system
def test_the_search_benchmark_runs_prints_and_writes_both_comparisons(capsys, tmp_path):
    from benchmarks import search

    search.main(["--quick", "--json", str(tmp_path / "search.json")])
    (record,) = json.loads((tmp_path / "search.json").read_text())["cases"]
    assert record["full"] > 0
    assert record["grid_search"] > 0
    printed = capsys.readouterr().out
    assert "GridSearchCV, s" in printed
    assert "liquidSVM, s" in printed
    assert "with 5 kappas (200 points)" in printed


@pytest.mark.system
def test_the_measures_benchmark_runs_and_prints_ratios(capsys):
    from benchmarks import measures

    measures.main(["--rows", "2000", "--repeats", "1"])
    printed = capsys.readouterr().out
    assert "min_cost_risk, sample costs" in printed
    assert "1,000 resamples of 2,000 samples" in printed


@pytest.mark.system
def test_the_tuning_benchmark_prints_every_cost_and_every_constant(capsys):
    from benchmarks import tuning

    tuning.main(["--quick"])
    printed = capsys.readouterr().out
    for name in ("SMO_STEP.fixed_ns", "NEWTON.per_cube_ns", *(choice.constant for choice in tuning.CHOICES)):
        assert name in printed


def test_the_tuning_benchmark_restores_constants_and_rejects_unknown_ones():
    from benchmarks import tuning

    before = tuning.tuning.ACTIVE_SHARE
    with pytest.raises(KeyboardInterrupt), tuning.constant_set("ACTIVE_SHARE", 0.1):
        raise KeyboardInterrupt
    assert before == tuning.tuning.ACTIVE_SHARE
    with pytest.raises(SystemExit):
        tuning.main(["--quick", "--constants", "NO_SUCH"])


def test_costs_are_fitted_to_times():
    from benchmarks.tuning import fitted

    m = np.array([10.0, 100.0, 1000.0])
    features = np.column_stack([m**3, m**2])
    np.testing.assert_allclose(fitted(features, features @ [0.025, 2.5]), [0.025, 2.5])


@pytest.mark.system
def test_the_serving_benchmark_runs_and_prints_times_per_sample(capsys):
    from benchmarks import serving

    serving.main(["--quick"])
    printed = capsys.readouterr().out
    assert "vectors prepared for each sample" in printed
    assert "onnxruntime, features included" in printed


@pytest.mark.system
def test_the_benchmark_of_meta_estimators_prints_seconds_and_costs(capsys, tmp_path, monkeypatch):
    from benchmarks import wrappers

    quick = [case for case in wrappers.cases() if case.estimator in ("logistic, linear", "logistic", "tree")]
    monkeypatch.setattr(wrappers, "cases", lambda: quick)
    wrappers.main(["--rows", "2000", "--json", str(tmp_path / "wrappers.json")])
    records = json.loads((tmp_path / "wrappers.json").read_text())["cases"]
    assert len(records) == 4
    assert all(record["least"] <= record["cost"] < record["bare"] for record in records)
    printed = capsys.readouterr().out
    assert "costing, 10 estimators" in printed
    assert "bare cost" in printed


@pytest.mark.system
def test_the_linear_benchmark_times_all_solvers_on_one_objective(capsys, tmp_path):
    from benchmarks import linear

    linear.main(["--quick", "--json", str(tmp_path / "linear.json")])
    document = json.loads((tmp_path / "linear.json").read_text())
    (record,) = document["cases"]
    assert [each["solver"] for each in record["solvers"]] == list(linear.SOLVERS)
    runs = [run for each in record["solvers"] for run in each["runs"]]
    assert all(run["excess"] >= -1e-9 for run in runs)  # the bound holds for all solvers
    assert record["solvers"][0]["seconds_to_0.0001"] > 0
    assert all(each["difference"] < 1e-7 for each in document["agreement"])
    assert "above optimum" in capsys.readouterr().out


def test_the_objective_of_weights_is_that_of_the_best_bias():
    from benchmarks import linear

    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(80, 3)), rng.integers(0, 2, 80), rng.normal(size=3)
    signs, cost = np.where(y == 1, 1.0, -1.0), np.where(y == 1, 4.0, 1.0)
    kinks = signs - X @ w  # the minimum is at one of them
    losses = [cost @ np.maximum(0, 1 - signs * (X @ w + b)) for b in kinks]
    assert linear.objective(X, y, w, 4.0) == pytest.approx(0.5 * w @ w + min(losses), rel=1e-12)


@pytest.mark.system
def test_the_cluster_benchmark_prints_times_and_peaks_next_to_the_local_ones(capsys, tmp_path):
    from benchmarks import cluster

    cluster.main(["--quick", "--json", str(tmp_path / "cluster.json")])
    records = json.loads((tmp_path / "cluster.json").read_text())["times"]["cases"]
    assert {record["workers"] for record in records} == {1, 2}
    assert all(record["difference"] < 2e-6 for record in records)
    assert "peak MB" in capsys.readouterr().out
