"""The report has the numbers of `evaluate` and sentences that follow from them, in one small file."""

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cssvm import CostSensitiveSVC, CostSensitiveSVCCV, CostThresholdClassifier, Report, evaluate
from cssvm.metrics import cost_risk, min_cost_risk, positive_class_scores
from cssvm.metrics._risk import minimum_risk
from tests.report.samples import case, half_unit, read

X, Y = make_classification(300, 6, n_informative=4, weights=[0.8], flip_y=0.1, random_state=3)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)
SVM = make_pipeline(StandardScaler(), CostSensitiveSVC())


class Cells(HTMLParser):
    """The text of the cells of all tables, row by row, and the small print in them apart."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.small_print, self.small, self.inside = [], [], False, False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
            self.small_print.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True
        self.small |= tag == "small"

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.inside = False
        if tag == "small":
            self.small = False

    def handle_data(self, data):
        if self.inside and self.small:
            self.small_print[-1].append(data)
        elif self.inside:
            self.rows[-1][-1] += data

    def row(self, name):
        return next(row for row in self.rows if row and row[0] == name)

    def small_print_of(self, name):
        return self.small_print[self.rows.index(self.row(name))]


def data_of(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize("amounts", [False, True])
def test_the_table_holds_the_numbers_of_evaluate(amounts, opened):
    fn_cost = np.random.default_rng(0).lognormal(1.0, 1.0, len(Y)) if amounts else 5.0
    given = {"fn_cost": fn_cost, "fp_cost": 1.0, "cv": FOLDS, "currency": "EUR", "n_resamples": 100}
    given["compare"] = {"logistic": make_pipeline(StandardScaler(), LogisticRegression())}
    report, found = Report(SVM, X, Y, **given), evaluate(SVM, X, Y, **given)
    cells = Cells(report.html())
    for policy in found.policies:
        _, cost, _, total, difference, *counts = cells.row(policy.name)
        assert abs(read(cost) - policy.cost.value) <= half_unit(policy.cost.value)
        assert abs(read(total) - policy.total) <= half_unit(policy.total)
        assert [float(each) for each in counts] == [policy.false_negatives, policy.false_positives, policy.actions]
        if policy.difference is None:
            assert difference == "\N{EN DASH}"
        else:
            assert abs(read(difference) - policy.difference.value) <= half_unit(policy.difference.value)
    page = opened(report)
    assert page.locator("#own-risk").inner_text() == cells.row("model")[1]
    assert page.locator("#nobody-risk").inner_text() == cells.row("act on nobody")[1]
    assert page.locator("#everybody-total").inner_text() == cells.row("act on everybody")[3]
    assert page.locator("#own-misses").inner_text() == cells.row("model")[5]


def test_an_evaluation_is_reported_without_computing_it_again():
    found = evaluate(SVM, X, Y, fn_cost=5.0, cv=FOLDS, n_resamples=50)
    report = Report.from_evaluation(found, title="Twice")
    assert report.evaluation is found
    assert "<title>Twice</title>" in report.html()
    with pytest.raises(ValueError, match=r"Pass Report.from_evaluation\(evaluate"):
        Report.from_evaluation({"cost": 3.0})


def test_rows_of_a_group_are_drawn_together_for_the_intervals():
    """Every row ten times over: drawn together, the intervals are those of the rows themselves."""
    given = case("rows", 60)
    repeated = {name: np.repeat(value, 10) for name, value in given.of_rows.items()}
    options = {"groups": np.repeat(np.arange(60), 10), "n_resamples": 50}
    found = Report.from_predictions(given.y.repeat(10), given.decided.repeat(10), **repeated, **options).evaluation
    expected = given.report().evaluation
    for policy in found.policies:
        assert policy.cost == pytest.approx(expected[policy.name].cost, rel=1e-12)


@pytest.mark.parametrize(("kind", "n_rows"), [("class", 200), ("rows", 200), ("rows", 100_000)])
def test_the_file_stays_small_whatever_the_number_of_rows(kind, n_rows):
    page = case(kind, n_rows).report().html()
    assert len(page.encode()) < 150_000
    data = data_of(page)
    assert len(data["curve"]["hits"]) <= 1000
    assert len(data["cuts"]["hits"]) == len(data["thresholds"])


def test_the_best_cut_of_the_data_is_that_of_the_metrics():
    """The numbers in the file alone, without the script."""
    given = case("rows")
    data = data_of(given.report().html())
    cost = (data["missed"] - np.array(data["cuts"]["saved"]) + np.array(data["cuts"]["spent"])) / data["rows"]
    best = min_cost_risk(given.y, given.score, **given.of_rows)
    assert cost.min() == pytest.approx(best.risk)
    assert data["thresholds"][np.argmin(cost)] == best.threshold


def test_the_policy_names_the_script_and_the_style_by_their_hashes():
    page = case("class").report().html()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        text = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert re.findall(r"(?:src|href)=", page) == []
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("text", ["</script><b>", "\u2028\u2029", "'\"&<>", "\ud800 alone"])
def test_strings_of_the_user_are_escaped_in_every_place(text, tmp_path):
    given = case("class")
    report = given.report(title=text, currency=text, compare={text: given.decided})
    page = report.html()
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert not set(block) & set("<>&\u2028\u2029")
    assert json.loads(block)["currency"] == text
    assert "<b>" not in page
    assert page.count("</script>") == 2
    written = report.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert "</html>" in written
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_report_that_fails_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")
    report = case("class").report()
    monkeypatch.setattr(
        "os.replace", lambda temporary, target: (_ for _ in ()).throw(OSError(13, "no", temporary, 0, target))
    )
    with pytest.raises(PermissionError, match=r"no: '.*/report.html'"):
        report.save(path)
    assert path.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_without_jinja2_the_error_names_the_extra(monkeypatch):
    report = case("class").report()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install cssvm\[report\]"):
        report.html()


def verdict_of(decided, **costs):
    given = case("class")
    page = Report.from_predictions(given.y, decided(given), given.score, n_resamples=200, **costs).html()
    return re.search(r'<p class="verdict">(.*?)</p>', page, re.DOTALL)[1]


def test_the_verdict_follows_from_the_interval_of_the_difference():
    costs = {"fn_cost": 10.0, "fp_cost": 1.0}
    assert verdict_of(lambda rows: rows.y, **costs).startswith("The model saves")
    assert "cannot be distinguished from" in verdict_of(lambda rows: np.zeros_like(rows.y), fn_cost=1.0, fp_cost=1.0)
    assert "should not decide" in verdict_of(lambda rows: 1 - rows.y, **costs)


def test_a_clearly_better_policy_is_named_in_the_verdict():
    given = case("class")
    report = given.report(compare={"oracle": given.y})
    assert "“oracle” is clearly better than the model" in report.html()


def test_negative_costs_are_shown_as_income():
    donation = np.where(Y == 1, 2.0, 0.0)
    model = CostThresholdClassifier(LogisticRegression(), calibration=None)
    letter = {"tp_cost": 0.68 - donation.max(), "fp_cost": 0.68, "fn_cost": 0.0, "tn_cost": 0.0}
    report = Report(model, X, Y, **letter, cv=FOLDS, n_resamples=50, currency="USD")
    page, found = report.html(), report.evaluation
    cells = Cells(page)
    assert found.model.total < 0
    assert read(cells.row("model")[3]) == pytest.approx(-found.model.total, abs=half_unit(found.model.total))
    assert "Income per row" in page
    plain = min(found["act on nobody"], found["act on everybody"], key=lambda policy: policy.cost.value)
    assert plain.difference.low > 0
    assert "The model earns" in page
    assert "what right decisions cost or earn" in page
    missed = found.model.false_negatives * 1.32 + found.model.false_positives * 0.68
    own = data_of(page)["own"]
    data = data_of(page)
    lost = (
        data["missed"] * (1 - own["hits"][0] / data["positives"])
        + data["alarmed"] * own["alarms"][0] / data["negatives"]
    )
    assert lost == pytest.approx(missed)


def test_thresholds_of_the_folds_are_those_of_their_rows():
    report = Report(SVM, X, Y, fn_cost=5.0, fp_cost=1.0, cv=FOLDS, n_resamples=20)
    page = report.html()
    table = page[page.index('<table class="folds">') :]
    shown = Cells(table[: table.index("</table>")]).rows[1:]
    for (train, test), line in zip(FOLDS.split(X, Y), shown, strict=True):
        model = make_pipeline(StandardScaler(), CostSensitiveSVC(fn_cost=5.0)).fit(X[train], Y[train])
        best = min_cost_risk(Y[test], positive_class_scores(model, X[test]), fn_cost=5.0)
        own = cost_risk(Y[test], model.predict(X[test]), fn_cost=5.0)
        assert [int(line[1]), int(line[2])] == [len(test), Y[test].sum()]
        assert read(line[3]) == pytest.approx(best.threshold, abs=half_unit(best.threshold))
        assert read(line[5]) == pytest.approx(own, abs=half_unit(own))
        assert read(line[6]) == pytest.approx(best.risk, abs=half_unit(best.risk))


def test_certificate_support_vectors_and_choice_are_those_of_the_model():
    search = CostSensitiveSVCCV(Cs=3, gammas=[0.1], cv=3, transformer=StandardScaler(), fn_cost=5.0)
    search.fit(X[:200], Y[:200])
    page = Report(search, X[200:], Y[200:], cv="prefit", n_resamples=20).html()
    (svm,) = (row for row in Cells(page).rows if row[0] == "CostSensitiveSVCCV")
    assert int(svm[1]) == search.n_support_.sum()
    assert svm[2] == f"0: {search.n_support_[0]}, 1: {search.n_support_[1]}"
    assert abs(read(svm[3]) - search.primal_objective_) <= half_unit(search.primal_objective_)
    assert abs(read(svm[4]) - search.dual_objective_) <= half_unit(search.dual_objective_)
    assert f"{search.best_params_['C']:.4g}" in page
    assert "The model was fitted before" in page


def test_svms_inside_wrappers_are_found():
    model = CostThresholdClassifier(make_pipeline(StandardScaler(), CostSensitiveSVC()), cv=2).fit(X, Y)
    page = Report(model, X, Y, cv="prefit", n_resamples=20).html()
    assert "assumed to be rows that the model was not trained on" in page
    assert "rows that the model was not trained on" not in page.replace(
        "assumed to be rows that the model was not trained on", ""
    )
    assert len([row for row in Cells(page).rows if row[0] == "CostSensitiveSVC"]) == 2


def test_an_infinite_threshold_is_explained():
    given = case("class")
    with pytest.warns(UserWarning, match="below the negative class"):
        page = given._replace(score=-given.score, of_rows={"fn_cost": 1.0, "fp_cost": 9.0}).report().html()
    assert "The best threshold on all rows is <strong>∞ (nobody)</strong>" in page


def test_memory_addresses_are_not_printed():
    class Odd(LogisticRegression):
        def __repr__(self, N_CHAR_MAX=700):
            return "Odd(<function f at 0x7f3a5c0b1d30>)"

    assert "0x7f3a" not in Report(Odd().fit(X, Y), X, Y, cv="prefit", n_resamples=20).html()


def test_the_threshold_of_a_cost_ratio_is_also_stated_as_a_ratio():
    rng = np.random.default_rng(0)
    amounts = rng.lognormal(1.0, 1.0, len(Y))
    model = CostThresholdClassifier(LogisticRegression(), calibration=None)
    report = Report(model, X, Y, fn_cost=amounts, fp_cost=1.0, n_resamples=20)
    held_out = report.evaluation.held_out
    best = minimum_risk(held_out.scored).threshold
    ratio = re.search(r"act if not acting is expected to cost (\S+) times what acting does", report.html())[1]
    assert abs(read(ratio) - np.exp(best)) <= half_unit(np.exp(best))


def test_the_totals_of_both_parts_differ_by_the_costs_of_right_decisions():
    model, costs = LogisticRegression(), {"fn_cost": 50.0, "fp_cost": 3.0, "tp_cost": 4.0, "tn_cost": 1.0}
    report = Report(model, X, Y, **costs, n_resamples=20)
    held_out = report.evaluation.held_out
    errors = held_out.scored.samples.weighted_costs[
        held_out.scored.predictions != held_out.scored.samples.positive
    ].sum()
    shown = re.search(r"cost or earn, (\S+) per row and (\S+) in total", report.html())
    expected = report.evaluation.model.total - errors
    assert abs(read(shown[2]) - expected) <= half_unit(expected)
    assert abs(read(shown[1]) - expected / len(Y)) <= half_unit(expected / len(Y))
