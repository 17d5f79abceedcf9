"""A small study: its results, its tables, and that it can be killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from cssvm import CostSensitiveSVC
from cssvm.metrics import cost_risk
from study import (
    Cell,
    Grids,
    Outcome,
    Results,
    SetPlan,
    Store,
    Study,
    comparators,
    protocol,
    reproduce,
    runner,
)
from study.__main__ import main, sets_by_table
from study.methods import Task
from study.pages import as_csv, as_latex, as_markdown, paper_table
from study.protocol import PaperSearch, make_split
from study.runner import compute, run
from study.statistics import Estimate
from study.summary import AGREES, DIFFERS, NOT_COMPARED, compare_with_paper, paper_figures, paper_tables

GRIDS = Grids(Cs=(0.1, 10.0), gammas=(0.1, 1.0), C1s=(1.0, 5.0), kappas=(1.0, 0.5))
STUDY = Study(
    name="small",
    seed=0,
    costs=(5.0, 1.0),
    methods=("CI", "BM", "BP", "CS", "BP+"),
    grids=GRIDS,
    plans=(SetPlan("heart", folds=3, repeats=1, inner=3), SetPlan("hepatitis", folds=2, repeats=1, inner=2)),
)
TOML = """
name = "small"
seed = 0
costs = [5, 1]
methods = ["CI", "BM", "BP", "CS", "BP+"]
[grids]
Cs = [0.1, 10]
gammas = [0.1, 1]
C1s = [1, 5]
kappas = [1, 0.5]
[defaults]
repeats = 1
[sets.heart]
folds = 3
inner = 3
[sets.hepatitis]
folds = 2
inner = 2
"""


@pytest.fixture(scope="module")
def results(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return folder, reproduce(folder, study=STUDY, figures=False, data_home=shared_data, n_jobs=1)


def values(found):
    return {key: dict(sorted(cells.items())) for key, cells in sorted(found.values.items())}


def test_a_study_is_read_from_toml(tmp_path):
    (tmp_path / "small.toml").write_text(TOML)
    assert Study.read(tmp_path / "small.toml") == STUDY
    with pytest.raises(ValueError, match="There is no data set 'iris' in the study 'small'"):
        STUDY.restricted(["iris"])


def test_every_sample_is_in_one_test_fold_and_scaling_is_fitted_on_the_others(shared_data):
    splits = [make_split(STUDY, STUDY.plans[0], 0, fold, str(shared_data)) for fold in range(3)]
    assert sum(len(split.y_test) for split in splits) == 270
    for split in splits:
        assert len(split.y_train) + len(split.y_test) == 270
        assert split.X_train.min() >= 0.0
        assert split.X_train.max() <= 1.0 + 1e-12
        assert (split.fn_cost, split.fp_cost, split.known_costs) == (5.0, 1.0, True)


def test_rankings_of_cs_and_of_bp_on_its_effective_grid_are_the_same(results):
    """CS-SVM with one kappa is a shifted weighted SVM (docs/theory.md), so both have the same areas."""
    _, found = results
    for measure in ("tp_auc", "tn_auc"):
        ours, other = found.values["hepatitis", "CS", measure], found.values["hepatitis", "BP+", measure]
        assert ours.keys() == other.keys()
        assert np.allclose(list(ours.values()), [other[key] for key in ours], atol=2e-3)


def test_points_have_the_C_of_the_paper_and_the_scores_of_separate_fits():
    X, y = make_classification(120, 4, flip_y=0.2, weights=[0.7], random_state=0)
    folds = StratifiedKFold(3)
    axes = {"Cs": [0.1, 1.0], "gammas": [0.2], "fn_costs": [2.0, 5.0], "fp_costs": [2.0], "kappas": [0.9]}
    search = PaperSearch(**axes, scoring="risk", cv=folds)
    search.tol = 1e-6
    search.fit(X, y)
    points = search.cv_results_["params"]
    assert [(p["C"], p["fn_cost"], p["fp_cost"]) for p in points] == [
        (C, fn, 2.0) for C in (0.1, 1.0) for fn in (2.0, 5.0)
    ]
    for point, mean in zip(points, search.cv_results_["mean_test_score"], strict=True):
        costs = []
        for train, test in folds.split(X, y):
            model = CostSensitiveSVC(**point, tol=1e-6).fit(X[train], y[train])
            costs.append(cost_risk(y[test], model.predict(X[test])))
        assert -mean == pytest.approx(np.mean(costs), abs=1e-9)


def test_the_same_study_elsewhere_and_on_two_processes_gives_the_same_results(results, shared_data, tmp_path):
    _, found = results
    again = reproduce(tmp_path, study=STUDY, figures=False, data_home=shared_data, n_jobs=2)
    assert values(again) == values(found)


@pytest.mark.system
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this platform")
def test_a_killed_study_is_resumed_with_identical_tables(results, shared_data, tmp_path):
    folder, found = results
    (tmp_path / "small.toml").write_text(TOML)
    code = (
        "import sys; from pathlib import Path; from study import Study, reproduce\n"
        "reproduce(sys.argv[1], study=Study.read(Path(sys.argv[2])), figures=False, data_home=sys.argv[3], n_jobs=1)"
    )
    command = [sys.executable, "-c", code, tmp_path / "out", tmp_path / "small.toml", shared_data]
    process = subprocess.Popen(command, env=os.environ)
    store = tmp_path / "out" / "store.sqlite"
    deadline = time.monotonic() + 1000
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.2)
        if store.exists():
            with Store(store) as opened:
                if sum(1 for _ in opened.results()) >= 3:
                    break
    process.send_signal(signal.SIGKILL)
    process.wait()
    with Store(store) as opened:
        n_before = sum(1 for _ in opened.results())
    assert 3 <= n_before < sum(len(cells) for cells in found.values.values())
    again = reproduce(tmp_path / "out", study=STUDY, figures=False, data_home=shared_data, n_jobs=1)
    assert values(again) == values(found)
    for name in ("risk.csv", "differences-cost.md", "methods-tp_auc.tex"):
        assert (tmp_path / "out" / "tables" / name).read_text() == (folder / "tables" / name).read_text()


@pytest.fixture
def rare(monkeypatch):
    """4,000 samples, 1 in 50 positive, with known costs fn_cost < fp_cost."""
    X, y = make_classification(4000, 4, n_informative=3, n_redundant=0, weights=[0.98], class_sep=2.0, random_state=0)
    monkeypatch.setattr(protocol, "load_set", lambda name, data_home: (X, y, None, (0.9, 1.0)))
    return y


def test_weights_of_subsamples_restore_the_class_sizes(rare):
    plan = SetPlan("large", folds=0, repeats=1, inner=2, search_rows=200, fit_rows=1000)
    split = make_split(STUDY, plan, 0, 0)
    assert (len(split.y_train), len(split.search), len(split.y_test)) == (1000, 200, 2000)
    for labels, weights in (
        (split.y_train, split.weights),
        (split.y_train[split.search], split.search_weights),
    ):
        expected = np.bincount(rare) / 2  # half of the samples are for training
        assert np.allclose(np.bincount(labels, weights), expected, atol=1)


def test_every_method_runs_on_subsamples_with_cost_ratios_below_one(rare):
    plan = SetPlan("large", folds=0, repeats=1, inner=2, search_rows=200, fit_rows=1000)
    before = {}
    for method in ("BM", "CI", "BP", "CS", "BP+"):
        _, outcome, reason = compute(STUDY, plan, Cell("large", method, "risk", 0, 0), before, None)
        assert outcome is not None, reason
        before[method] = outcome.detail
    assert (before["CS"]["fn_costs"], before["CS"]["kappas"]) == (1.0, 1.0)  # no other kappa has 1 / kappa <= C1


def test_models_of_all_samples_have_the_tolerance_of_the_plan(rare):
    plan = SetPlan("large", folds=0, repeats=1, inner=2, search_rows=200, fit_rows=1000, tol=1e-9)
    _, outcome, reason = compute(STUDY, plan, Cell("large", "BM", "risk", 0, 0), {}, None)
    assert outcome is not None, reason
    assert outcome.detail["gap"] <= 1e-9


@pytest.mark.parametrize("method", ["search", "logistic regression", "gradient boosting"])
def test_comparators_select_on_a_subsample_and_train_on_all_samples(rare, method, monkeypatch):
    plan = SetPlan("large", folds=0, repeats=1, inner=2, search_rows=200, fit_rows=1000)
    split = make_split(STUDY, plan, 0, 0)
    trained, weighted = [], comparators._weighted
    monkeypatch.setattr(comparators, "_weighted", lambda w: trained.append(len(w)) or weighted(w))
    value, detail = runner.METHODS[method].run(Task(split, "cost", STUDY.grids, {}))
    assert trained == [200, 1000]
    assert detail["n_train"] == 1000
    assert value < detail["baseline"]


def test_an_error_of_an_estimator_does_not_end_the_study(monkeypatch):
    def broken(task):
        raise KeyError("nothing there")

    monkeypatch.setitem(runner.METHODS, "BM", runner.METHODS["BM"]._replace(run=broken))
    monkeypatch.setattr(runner, "make_split", lambda *_: None)
    _, outcome, reason = compute(STUDY, STUDY.plans[0], Cell("heart", "BM", "risk", 0, 0), {}, None)
    assert outcome is None
    assert "nothing there" in reason


def test_results_of_another_plan_are_rejected(results, shared_data):
    folder, _ = results
    other = Study(**{**vars(STUDY), "seed": 1})
    with Store(folder / "store.sqlite") as store, pytest.raises(ValueError, match="results of heart for another plan"):
        run(other, store, data_home=str(shared_data))


def test_a_missing_set_is_reported_and_the_study_continues(tmp_path):
    found = reproduce(tmp_path / "out", study=STUDY, figures=False, data_home=tmp_path / "nothing", n_jobs=1)
    assert not found.values
    assert "heart" in (tmp_path / "out" / "tables" / "missing.md").read_text()


def test_every_figure_of_the_paper_is_in_the_file():
    """Section 8 prints 3 + 16 + 18 lines of three methods in five tables, and 13 incomes."""
    assert len(paper_figures()) == 3 * (3 + 8 + 8 + 9 + 9) + 13
    assert [len(sets) for _, _, sets in paper_tables().values()] == [3, 8, 8, 9, 9]


def estimate(mean, low, high):
    return Estimate(mean, low, high, 0.5, 10)


def test_verdicts_depend_on_rounding_intervals_and_reduced_sets():
    figures = paper_figures()
    heart = figures["tab:risk", "heart", "BM", "risk"]
    assert compare_with_paper("heart", estimate(0.12, 0.094, 0.15), heart)[0] == AGREES  # 0.09 stands for up to 0.095
    assert compare_with_paper("heart", estimate(0.12, 0.096, 0.15), heart)[0] == DIFFERS
    assert compare_with_paper("heart", None, heart) == (NOT_COMPARED, "not run")
    webspam = figures["tab:TP-UCD", "webspam", "BM", "tp_auc"]
    assert compare_with_paper("webspam", estimate(0.03, 0.0, 0.1), webspam) == (
        NOT_COMPARED,
        "500 of the paper's 350,000 rows",
    )


def test_tables_show_the_stored_results():
    cells = [
        (Cell("heart", method, "risk", 0, fold), Outcome(value, 1.0, {"n_train": 180, "n_test": 90}))
        for method, own in {"BM": (0.1, 0.2, 0.3), "BP": (0.2, 0.2, 0.2), "CS": (0.1, 0.1, 0.1)}.items()
        for fold, value in enumerate(own)
    ]
    table = paper_table(Results(STUDY, cells), "tab:risk")
    line = next(row for row in table.rows if row[0].startswith("Heart"))
    assert line[1].startswith("0.200 [")
    assert line[2] == "0.09"
    assert line[3] == "0.200 [0.200, 0.200]"
    assert line[5] == "0.100 [0.100, 0.100]"
    assert as_csv(table).splitlines()[0].startswith("set,")
    assert as_markdown(table).count("\n| ") == 2 + len(table.rows)  # heading and rule
    assert as_latex(table).count(r"\\") == 1 + len(table.rows)


def test_the_command_runs_the_sets_of_a_table_and_rejects_unknown_ones(tmp_path, capsys):
    (tmp_path / "small.toml").write_text(TOML)
    options = ["--config", str(tmp_path / "small.toml"), "--home", str(tmp_path / "nothing"), "--no-figures"]
    main([*options, "--out", str(tmp_path / "out"), "--sets", "heart", "--jobs", "1", "--json"])
    printed = capsys.readouterr()
    assert json.loads(printed.out) == []
    assert "0 of 0 results are stored already" in printed.err
    assert "heart" in (tmp_path / "out" / "tables" / "missing.md").read_text()
    assert sets_by_table()["risk"] == ["german_credit", "heart", "kdd99"]
    with pytest.raises(SystemExit, match="There is no data set 'sonar' in the study 'small'"):
        main([*options, "--out", str(tmp_path / "out"), "--sets", "sonar"])
    with pytest.raises(SystemExit):
        main(["--tables", "nope"])
    assert "there is no table 'nope'; the paper has risk, tp-ucd" in capsys.readouterr().err
