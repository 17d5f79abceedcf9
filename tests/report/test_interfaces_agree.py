"""One table in Python, on the command line and in the report: the same costs, intervals and baselines."""

import contextlib
import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from typer.testing import CliRunner

from cssvm import CostSensitiveSVCCV, CostThresholdClassifier, evaluate
from cssvm._cli.app import app
from cssvm.metrics import cost_risk
from tests.conftest import ROOT
from tests.report.samples import half_unit, read
from tests.report.test_report import Cells
from tests.tables.applicants import read_decisions

N_PAST, N_RESAMPLES = 600, 200
NUMBERS, CATEGORIES = ["amount", "income", "years_employed"], ["housing", "purpose"]
ALL_ROUNDING = {"rel": 1e-12}  # the same sums, perhaps in another order


def same(text, value):
    """Whether a printed number is this one, to the digits that are printed."""
    return abs(read(text) - value) <= half_unit(value)


class InPython:
    """What one would write by hand: pandas, a ColumnTransformer, a search and `evaluate`."""

    def __init__(self):
        loans = pd.read_csv(ROOT / "examples" / "loans.csv").fillna(dict.fromkeys(CATEGORIES, ""))
        self.past, self.new = loans[:N_PAST], loans[N_PAST:]
        with_gaps = [name for name in NUMBERS if self.past[name].isna().any()]
        prepared = make_column_transformer(
            (make_pipeline(SimpleImputer(strategy="mean"), StandardScaler()), NUMBERS),
            (MissingIndicator(features="all"), with_gaps),
            (OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
        )
        model = CostSensitiveSVCCV(transformer=prepared, decision="bayes", pos_label="default", Cs=3, gammas=3, cv=3)
        tuned = CostThresholdClassifier(make_pipeline(prepared, SVC()), method="tuned", cv=3, pos_label="default")
        X, y, costs = self.given(self.past)
        self.trained = evaluate(model, X, y, **costs, cv=3, compare={"tuned threshold": tuned})
        self.model = model.fit(X, y, **costs)
        X, y, costs = self.given(self.new)
        self.evaluated = evaluate(self.model, X, y, **costs, cv="prefit", n_resamples=N_RESAMPLES)
        self.decided = self.model._predict_all(X, **costs)
        self.risk = cost_risk(y, self.decided.labels, pos_label="default", **costs)

    @staticmethod
    def given(rows):
        costs = {"fn_cost": 0.6 * rows["amount"], "fp_cost": 0.1 * rows["amount"]}
        return rows[NUMBERS + CATEGORIES], rows["outcome"], costs


class InTheShell:
    """What the verbs print as JSON, and the files that they leave."""

    def __init__(self, folder):
        self.folder = folder
        header, *rows = (ROOT / "examples" / "loans.csv").read_text().splitlines()
        for name, part in (("past.csv", rows[:N_PAST]), ("new.csv", rows[N_PAST:])):
            (folder / name).write_text("\n".join([header, *part]) + "\n")
        self.trained = self.run(
            "train", "past.csv", "--target", "outcome", "--positive", "default", "--currency", "EUR", "--fn-cost",
            "0.6*amount", "--fp-cost", "0.1*amount", "--grid", "3", "--folds", "3", "--out", "m.skops",
        )  # fmt: skip
        resamples = ["--resamples", str(N_RESAMPLES)]
        self.measured = self.run("evaluate", "m.skops", "new.csv", *resamples)
        self.reported = self.run("report", "m.skops", "new.csv", "--out", "report.html", *resamples)
        self.predicted = self.run("predict", "m.skops", "new.csv", "--out", "decisions.csv")
        self.decisions = read_decisions(folder / "decisions.csv")
        self.page = Path(folder / "report.html")

    def run(self, *arguments):
        with contextlib.chdir(self.folder):
            done = CliRunner().invoke(app, [*arguments, "--json", "--quiet"], catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def python():
    return InPython()


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    return InTheShell(tmp_path_factory.mktemp("shell"))


def test_training_prints_the_policies_of_evaluate(python, shell):
    found = {policy["policy"]: policy for policy in shell.trained["evaluation"]["policies"]}
    assert list(found) == [policy.name for policy in python.trained.policies]
    for policy in python.trained.policies:
        own = found[policy.name]
        assert (own["cost"], own["cost_low"], own["cost_high"]) == pytest.approx(tuple(policy.cost), **ALL_ROUNDING)
        assert own["total"] == pytest.approx(policy.total, **ALL_ROUNDING)
        assert (own["false_negatives"], own["false_positives"]) == (policy.false_negatives, policy.false_positives)
        if policy.difference is not None:
            ends = (own["difference"], own["difference_low"], own["difference_high"])
            assert ends == pytest.approx(tuple(policy.difference), rel=1e-9)
    assert shell.trained["card"]["parameters"]["C"] == python.model.best_params_["C"]


def test_new_rows_get_the_same_decisions_and_cost_the_same(python, shell):
    assert shell.decisions["label"].tolist() == python.decided.labels.tolist()
    assert shell.decisions["probability"] == pytest.approx(python.decided.probabilities, **ALL_ROUNDING)
    measured, evaluated = shell.measured["measures"], python.evaluated
    assert evaluated.model.cost.value == pytest.approx(python.risk, **ALL_ROUNDING)
    for name, policy in (("cost per row", "model"), ("act on nobody",) * 2, ("act on everybody",) * 2):
        ends = tuple(measured[name][end] for end in ("value", "low", "high"))
        assert ends == pytest.approx(tuple(evaluated[policy].cost), **ALL_ROUNDING)
    assert shell.measured["total"] == pytest.approx(evaluated.model.total, **ALL_ROUNDING)
    assert shell.measured["n_acted"] == shell.predicted["n_positives"] == evaluated.model.actions
    reported = {policy["name"]: policy for policy in shell.reported["policies"]}
    assert list(reported) == [policy.name for policy in evaluated.policies]
    for policy in evaluated.policies:
        assert tuple(reported[policy.name]["cost"].values()) == pytest.approx(tuple(policy.cost), **ALL_ROUNDING)
        assert reported[policy.name]["total"] == pytest.approx(policy.total, **ALL_ROUNDING)


def test_the_page_shows_these_numbers(python, shell):
    cells = Cells(shell.page.read_text())
    for policy in python.evaluated.policies:
        _, cost, _, total, difference, *counts = cells.row(policy.name)
        assert same(cost, policy.cost.value)
        assert same(total, policy.total)
        assert [float(each) for each in counts] == [policy.false_negatives, policy.false_positives, policy.actions]
        intervals = [text.split(" to ") for text in cells.small_print_of(policy.name) if " to " in text]
        shown = [policy.cost] if policy.difference is None else [policy.cost, policy.difference]
        for (low, high), interval in zip(intervals, shown, strict=True):
            assert same(low, interval.low)
            assert same(high, interval.high)
        if policy.difference is not None:
            assert same(difference, policy.difference.value)


def test_a_browser_computes_them_again(python, shell, opened):
    """The moving part, at the costs that the rows have."""

    class Written:
        @staticmethod
        def save(path):
            return Path(shutil.copy(shell.page, path))

    page = opened(Written)
    for name, policy in (("own", "model"), ("nobody", "act on nobody"), ("everybody", "act on everybody")):
        expected = python.evaluated[policy]
        for measure, value in (("risk", expected.cost.value), ("total", expected.total)):
            shown = page.locator(f"#{name}-{measure}").get_attribute("value")
            assert float(shown) == pytest.approx(value, rel=1e-9)
