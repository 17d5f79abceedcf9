"""Methods ranked by cost over data sets, on the splits that all of them have."""

import numpy as np
import pytest

from study import Cell, Grids, Outcome, Results, SetPlan, Store, Study, runner
from study.figures import critical_differences
from study.pages import all_tables, which_sets_table, which_table
from study.runner import cells_of, run

GRIDS = Grids(Cs=(1.0,), gammas=(1.0,), C1s=(1.0,), kappas=(1.0,))
SETS = ("heart", "hepatitis", "sonar", "liver")


def study(repeats=2):
    plans = tuple(SetPlan(name, folds=2, repeats=repeats, inner=2) for name in SETS)
    return Study("ranks", 0, (5.0, 1.0), ("BM", "CS", "search"), GRIDS, plans)


def results(values):
    """Results with these mean costs, by set and method; the search has half of the splits."""
    facts = {"n_train": 10, "n_test": 5, "baseline": 2.0}
    cells = [
        (Cell(name, method, "cost", repeat, fold), Outcome(value + 0.01 * (-1) ** fold + 5.0 * repeat, 1.0, facts))
        for name, row in values.items()
        for method, value in zip(("BM", "CS", "search"), row, strict=True)
        for repeat in range(1 if method == "search" else 2)
        for fold in range(2)
    ]
    return Results(study(), cells)


COSTS = {"heart": (1.0, 0.5, 0.4), "hepatitis": (0.6, 0.5, 0.8), "sonar": (0.3, 0.2, 0.1), "liver": (0.4, 0.2, 0.2)}


def test_ranks_are_those_of_the_means_on_common_splits():
    ranking = results(COSTS).ranking("cost")
    assert ranking.methods == ["BM", "CS", "search"]
    np.testing.assert_allclose(ranking.values, list(COSTS.values()))
    # by hand: heart 3 2 1, hepatitis 2 1 3, sonar 3 2 1, liver 3 1.5 1.5
    np.testing.assert_allclose(ranking.ranks.mean, [11 / 4, 6.5 / 4, 6.5 / 4])
    assert ranking.ranks.critical == pytest.approx(2.343 * np.sqrt(3 * 4 / (6 * 4)), abs=1e-3)  # Demsar, Table 5


def test_sets_without_results_of_a_method_are_left_out():
    found = results(COSTS)
    del found.values["heart", "CS", "cost"]
    assert found.ranking("cost").sets == ["hepatitis", "sonar", "liver"]


def test_methods_are_sorted_by_rank_with_costs_relative_to_the_baseline():
    table = which_table(results(COSTS))
    assert [row[0] for row in table.rows] == ["CS", "search", "BM"]
    shares = {row[0]: row[2] for row in table.rows}
    assert shares["search"] == f"{np.mean([0.4, 0.8, 0.1, 0.2]) / 2:.0%}"
    assert {row[0]: row[3] for row in table.rows}["CS"] == "1 / 1 / 2"
    names = [each.name for each in all_tables(results(COSTS))]
    assert {"which-method", "which-method-sets"} <= set(names)


def test_the_costs_behind_the_ranks_are_shown_by_set():
    table = which_sets_table(results(COSTS))
    by_set = {row[0]: dict(zip(table.head, row, strict=True)) for row in table.rows}
    assert [float(row["search"]) for row in by_set.values()] == [0.4, 0.8, 0.1, 0.2]
    assert {row["cheaper baseline"] for row in by_set.values()} == {"2.0000"}


def test_the_picture_has_every_method():
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = critical_differences(results(COSTS).ranking("cost"))
    assert {label.get_text() for label in figure.axes[0].get_yticklabels()} == {"BM", "CS", "search"}
    plt.close(figure)


def test_comparators_run_on_the_first_repeats_only():
    cells = cells_of(study(), study().plans[0], "CSA")
    assert {cell.repeat for cell in cells if cell.method == "search"} == {0}
    assert {cell.repeat for cell in cells if cell.method == "CS"} == {0, 1}


def test_a_missing_set_is_fetched_once(tmp_path, monkeypatch):
    fetched = []

    def absent(name, **_):
        fetched.append(name)
        raise runner.MissingDatasetError(f"no files of {name}")

    monkeypatch.setattr(runner, "fetch", absent)
    with Store(tmp_path / "store.sqlite") as store:
        run(study(), store, n_jobs=1)
        reasons = {reason for _, reason in store.failures()}
    assert fetched == list(SETS)
    assert reasons == {f"no files of {name}" for name in SETS}
