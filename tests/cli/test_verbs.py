"""Each verb is one call of the tables' functions: same numbers, in 80 columns or as JSON."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

from cssvm._evaluation.result import ROW_COSTS
from cssvm._tables import evaluate_table, train_table
from cssvm.deploy import load_model
from tests.cli.conftest import SMALL
from tests.tables.applicants import KINDS, applicants, as_csv, write

OF_LOANS = ["--target", "outcome", "--positive", "bad", "--fn-cost", "0.6*amount", "--fp-cost", "0.1*amount"]


def decisions(text):
    """Columns of a CSV of decisions."""
    header, *rows = csv.reader(io.StringIO(text))
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def test_train_prints_the_costs_of_evaluate_and_writes_the_model(cssvm, folder, tmp_path):
    out = tmp_path / "model.skops"
    arguments = ["train", folder / "loans.csv", *OF_LOANS, "--currency", "EUR", "--out", out, *SMALL]
    as_json = cssvm(*arguments, "--json", "--quiet")
    found = json.loads(as_json.stdout)
    assert as_json.stderr == ""
    trained = train_table(
        folder / "loans.csv", target="outcome", pos_label="bad", fn_cost="0.6*amount", fp_cost="0.1*amount", Cs=2,
        gammas=2, cv=2, currency="EUR",
    )  # fmt: skip
    policies = {policy["policy"]: policy for policy in found["evaluation"]["policies"]}
    plain = ["model", "act on nobody", "act on everybody"]
    assert list(policies) == [*plain, "cost-blind SVC", ROW_COSTS, "tuned threshold"]
    for policy in trained.evaluation.policies:
        shown = policies[policy.name]
        assert (shown["cost"], shown["cost_low"], shown["cost_high"]) == tuple(policy.cost)
        assert (shown["false_negatives"], shown["false_positives"]) == (policy.false_negatives, policy.false_positives)
    assert policies["model"]["difference"] is None
    assert found["card"]["currency"] == "EUR"
    assert load_model(out).card.parameters == trained.card.parameters

    printed = cssvm(*arguments)
    lines = printed.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    cost = trained.evaluation.model.cost
    (model_line,) = (line for line in lines if line.startswith("model  ") and "[" in line)
    assert f"{cost.value:.4g} [{cost.low:.3g}, {cost.high:.3g}]" in model_line
    assert "cost per row" in printed.stdout
    assert printed.stderr.splitlines()[-1] == f"cssvm: model written to {out}"


def test_predict_writes_to_the_standard_output_what_it_writes_to_a_file(cssvm, folder, model, tmp_path):
    out = tmp_path / "out.csv"
    printed = cssvm("predict", model, folder / "new.csv", "--keep", "customer")
    written = cssvm("predict", model, folder / "new.csv", "--keep", "customer", "--out", out, "--json")
    assert printed.stdout == out.read_text()
    summary = json.loads(written.stdout)
    assert written.stderr == ""
    assert (summary["n_rows"], summary["not_read"]) == (40, [])
    lines = printed.stderr.splitlines()
    assert lines[0].startswith(f"cssvm: 40 rows, {summary['n_positives']} to act on")
    assert lines[0].endswith("EUR")
    assert lines[1] == f"cssvm: missing values imputed: income {summary['missing']['income']}"
    assert len(lines) == 2  # the customer is kept
    assert cssvm("predict", model, folder / "new.csv").stderr.splitlines()[2] == "cssvm: columns not read: customer"
    assert cssvm("predict", model, folder / "new.csv", "--quiet").stderr == ""


def test_predict_reads_the_standard_input_and_costs_of_its_own(cssvm, folder, model):
    given = (folder / "new.csv").read_bytes()
    arguments = ["predict", model, "-", "--fn-cost", "3", "--fp-cost", "0.5*customer"]
    found = decisions(cssvm(*arguments, stdin=given).stdout)
    frame = pd.read_csv(folder / "new.csv", dtype={"zip": str}).fillna({"home": ""})
    loaded = load_model(model).model
    columns = frame[["income", "amount", "home", "zip"]]
    expected = loaded.predict(columns, fn_cost=3.0, fp_cost=0.5 * frame["customer"].to_numpy())
    assert list(found["label"]) == expected.tolist()


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """The same rows, with missing values, quoted commas, leading zeros and labels, in a file of each kind."""
    frame, files = applicants(60, seed=5), tmp_path_factory.mktemp("kinds")
    return {kind: write(files, frame, kind) for kind in KINDS}


@pytest.mark.parametrize("kind", [*KINDS, "standard input"])
def test_train_makes_the_same_model_of_every_kind_of_file(kind, cssvm, folder, model, tmp_path):
    frame = pd.read_csv(folder / "loans.csv", dtype={"zip": str})
    file = "-" if kind == "standard input" else write(tmp_path, frame, kind)
    options = [*OF_LOANS, "--no-evaluate", "--json", *SMALL, "--out", tmp_path / "m.skops"]
    result = cssvm("train", file, *options, stdin=(folder / "loans.csv").read_bytes())
    assert result.exit_code == 0, result.stderr
    card, expected = json.loads(result.stdout)["card"], json.loads(load_model(model).card.to_json())
    for field in ("certificate", "parameters", "n_rows", "n_positives", "fn_cost"):
        assert card[field] == expected[field]
    assert [(each["name"], each["kind"], each["categories"]) for each in card["columns"]] == [
        (each["name"], each["kind"], each["categories"]) for each in expected["columns"]
    ]


@pytest.mark.parametrize("kind", [*KINDS[1:], "standard input"])
@pytest.mark.parametrize("verb", ["predict", "evaluate", "report"])
def test_every_verb_returns_the_same_for_every_kind_of_file(verb, kind, cssvm, model, labelled, tmp_path):
    """As of plain CSV."""
    out = tmp_path / "out"
    options = {
        "predict": ["--out", out, "--keep", "home", "--keep", "zip"],
        "evaluate": ["--resamples", "5"],
        "report": ["--out", out, "--resamples", "5"],
    }[verb]
    file = "-" if kind == "standard input" else labelled[kind]
    results, written = [], []
    for data in (labelled["csv"], file):
        result = cssvm(verb, model, data, *options, "--json", stdin=labelled["csv"].read_bytes())
        assert result.exit_code == 0, result.stderr
        results.append(json.loads(result.stdout))
        written.append(decisions(out.read_text()) if verb == "predict" else None)
    totals = [each.pop("expected_cost", 0.0) for each in results]
    assert totals[0] == pytest.approx(totals[1], rel=1e-12)  # a sum over parts rounds differently
    assert results[0] == results[1]
    assert written[0] == written[1]


def test_libsvm_text_goes_through_every_verb(cssvm, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([-1, 1], 40)
    lines = [f"{label:+d} 1:{rng.normal() + label:.5f} 3:{rng.normal():.5f}" for label in y]
    (tmp_path / "rows").write_text("\n".join(lines))
    model, out = tmp_path / "model.skops", tmp_path / "decisions.csv"
    trained = cssvm("train", tmp_path / "rows", "--positive", "+1", "--no-evaluate", "--out", model, "-q", *SMALL)
    assert trained.exit_code == 0, trained.stderr
    assert "3 numeric" in cssvm("info", model).stdout
    evaluated = json.loads(cssvm("evaluate", model, tmp_path / "rows", "--json", "--resamples", "10").stdout)
    assert evaluated["measures"]["AUC"]["value"] > 0.85
    for data in (tmp_path / "rows", "-"):
        decided = cssvm("predict", model, data, "--out", out, stdin=(tmp_path / "rows").read_bytes())
        assert decided.exit_code == 0, decided.stderr
        labels = np.array(decisions(out.read_text())["label"], dtype=int)
        assert np.mean(labels != y) == pytest.approx(evaluated["measures"]["cost per row"]["value"])
    page = tmp_path / "page.html"
    reported = cssvm("report", model, tmp_path / "rows", "--out", page, "--json", "--resamples", "10")
    costs = {policy["name"]: policy["cost"]["value"] for policy in json.loads(reported.stdout)["policies"]}
    assert costs["model"] == pytest.approx(np.mean(labels != y))
    assert page.read_text().startswith("<!")


def test_evaluate_prints_the_measures_of_its_function(cssvm, model, tmp_path):
    (tmp_path / "labelled.csv").write_bytes(as_csv(applicants(60, seed=5)))
    arguments = ["evaluate", model, tmp_path / "labelled.csv", "--resamples", "20", "--seed", "4"]
    found = json.loads(cssvm(*arguments, "--json").stdout)
    expected = evaluate_table(model, tmp_path / "labelled.csv", n_resamples=20, random_state=4)
    assert {name: tuple(value.values()) for name, value in found["measures"].items()} == {
        name: tuple(value) for name, value in expected.measures.items()
    }
    lines = cssvm(*arguments).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("AUC") and f"{expected.measures['AUC'].value:.4g}" in line for line in lines)


def test_report_writes_a_page_with_the_costs_that_evaluate_prints(cssvm, model, tmp_path):
    (tmp_path / "labelled.csv").write_bytes(as_csv(applicants(60, seed=5)))
    options = ["--resamples", "20", "--json"]
    page = tmp_path / "page.html"
    reported = json.loads(cssvm("report", model, tmp_path / "labelled.csv", "--out", page, *options).stdout)
    measured = json.loads(cssvm("evaluate", model, tmp_path / "labelled.csv", *options).stdout)["measures"]
    costs = {policy["name"]: policy["cost"]["value"] for policy in reported["policies"]}
    for name, measure in (("model", "cost per row"), ("act on nobody",) * 2, ("act on everybody",) * 2):
        assert costs[name] == pytest.approx(measured[measure]["value"], rel=1e-12)
    assert "<h1>What decisions on “outcome” cost</h1>" in page.read_text()
    printed = cssvm("report", model, tmp_path / "labelled.csv", "--out", page, "--resamples", "20")
    assert max(map(len, printed.stdout.splitlines())) <= 80


def test_info_shows_the_card(cssvm, model):
    card = load_model(model).card
    assert json.loads(cssvm("info", model, "--json").stdout) == json.loads(card.to_json())
    printed = cssvm("info", model).stdout
    assert max(map(len, printed.splitlines())) <= 80
    for text in (
        "'bad' of ['bad', 'good'] in column 'outcome'",
        "0.6*amount if missed",
        "(missing), own, rent",
        "01234",
    ):
        assert text in printed


def test_datasets_are_listed_and_found(cssvm, tmp_path):
    names = [entry["name"] for entry in json.loads(cssvm("datasets", "list", "--json").stdout)]
    assert "german_credit" in names
    assert all(name in cssvm("datasets", "list").stdout for name in names)
    states = json.loads(cssvm("datasets", "where", "--home", tmp_path, "--json").stdout)
    assert {state["name"] for state in states} == set(names)
    assert "here" not in {state["state"] for state in states}
    assert str(tmp_path) in cssvm("datasets", "where", "--home", tmp_path).stdout


def test_datasets_fetch_finds_the_files_that_are_there(cssvm, shared_data):
    found = cssvm("datasets", "fetch", "german_credit", "--home", shared_data)
    assert found.exit_code == 0
    assert "german.data" in found.stdout
    assert json.loads(cssvm("datasets", "fetch", "german_credit", "--home", shared_data, "--json").stdout) == (
        found.stdout.splitlines()
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--decision", "threshold"], {"decision": "threshold"}),
        (["--decision", "zero", "--kernel", "linear"], {"decision": "zero", "kernel": "linear"}),
        (["--by-time"], {}),
        (["--jobs", "1"], {}),
        (["--seed", "3"], {}),
        (["--category", "amount", "--drop", "zip", "--drop", "income"], {}),
    ],
)
def test_options_of_train_reach_the_search(options, expected, cssvm, folder, tmp_path):
    arguments = ["train", folder / "loans.csv", "--target", "outcome", "--positive", "bad", "--fn-cost", "3"]
    result = cssvm(*arguments, "--no-evaluate", "--json", "--out", tmp_path / "m.skops", *SMALL, *options)
    card = json.loads(result.stdout)["card"]
    assert {name: card["parameters"][name] for name in expected} == expected
    if "--drop" in options:
        assert [(each["name"], each["kind"]) for each in card["columns"]] == [
            ("amount", "category"),
            ("home", "category"),
        ]


def test_warnings_are_one_line_each(cssvm, folder, tmp_path):
    few = pd.read_csv(folder / "loans.csv", dtype={"zip": str})
    bad = np.flatnonzero(few["outcome"] == "bad")
    few = few.drop(index=bad[3:])
    few.to_csv(tmp_path / "few.csv", index=False)
    arguments = [
        "train", tmp_path / "few.csv", "--target", "outcome", "--positive", "bad", "--fn-cost", "3", "--no-evaluate",
        "--out", tmp_path / "m.skops", "--grid", "2",
    ]  # fmt: skip
    lines = cssvm(*arguments).stderr.splitlines()
    assert sum(line.startswith("cssvm: warning: The rarer class has 3 samples, fewer than 10") for line in lines) == 1
    assert cssvm(*arguments, "--quiet").stderr == ""


def test_search_options_are_rejected_with_a_cluster(cssvm, folder, tmp_path):
    arguments = ["train", folder / "loans.csv", "--target", "outcome", "--scheduler", "tcp://127.0.0.1:1"]
    rejected = cssvm(*arguments, "--grid", "10", "--out", tmp_path / "m.skops")  # the default, but given
    assert rejected.exit_code == 2
    assert "--grid" in rejected.stderr
    assert "without a search" in rejected.stderr
    assert "without a search" not in cssvm(*arguments, "--out", tmp_path / "m.skops").stderr


def test_the_linear_kernel_is_shown_without_gamma(cssvm, folder, tmp_path):
    for kernel, shows_gamma in (("linear", False), ("rbf", True)):
        arguments = ["train", folder / "loans.csv", *OF_LOANS, "--kernel", kernel, "--no-evaluate", *SMALL]
        assert ("gamma" in cssvm(*arguments, "--out", tmp_path / "m.skops").stdout) == shows_gamma


def test_weighted_counts_are_marked_as_weighted(cssvm, folder, tmp_path):
    data, out = tmp_path / "weighted.csv", tmp_path / "m.skops"
    pd.read_csv(folder / "loans.csv").assign(times=2.5).to_csv(data, index=False)
    arguments = ["train", data, *OF_LOANS, "--weight", "times", "--out", out, *SMALL]
    assert "Totals and counts are sums of weights." in cssvm(*arguments).stdout
    weighted = cssvm("evaluate", out, data, "--weight", "times", "--resamples", "2").stdout
    assert "Totals and counts are sums of weights." in weighted
    assert "weights" not in cssvm("evaluate", out, data, "--resamples", "2").stdout
