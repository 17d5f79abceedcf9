"""`cssvm train` and `cssvm predict` with the workers of a cluster, and with folders of Parquet."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import cssvm._tables.sources
from cssvm import CostSensitiveLinearSVC
from cssvm._cli.app import app
from cssvm._tables import TableError, predict_table, train_on_cluster, train_table
from cssvm._tables.cluster import connect
from cssvm.deploy import load_model
from tests.tables.applicants import applicants

N = 900
THERE = ["--out", "x", "--scheduler", "CLUSTER"]
COSTS = ["--target", "outcome", "--positive", "bad", "--fn-cost", "0.6*amount", "--fp-cost", "0.1*amount"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with one of Parquet in several row groups and files, one of them empty."""
    found = tmp_path_factory.mktemp("cluster")
    frame = applicants(N)
    write(frame, found / "loans")
    frame.to_csv(found / "loans.csv", index=False)
    return found


def write(frame, path, n_files=3):
    path.mkdir()
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    for k in range(n_files):
        part = rows.slice(k * len(frame) // n_files, len(frame) // n_files)
        pq.write_table(part, path / f"part-{k}.parquet", row_group_size=120)
    pq.write_table(rows.slice(0, 0), path / "part-9.parquet")


@pytest.fixture
def run(folder, client, monkeypatch):
    """Runs the command line next to the tables, with CLUSTER replaced by the address of the cluster."""
    monkeypatch.chdir(folder)

    def run(*arguments):
        given = [client.scheduler.address if argument == "CLUSTER" else str(argument) for argument in arguments]
        return CliRunner().invoke(app, given, catch_exceptions=False)

    return run


@pytest.fixture(scope="module")
def searched(folder):
    """A model with probabilities, trained here on the folder as on a file."""
    settings = {"target": "outcome", "pos_label": "bad", "fn_cost": "0.6*amount", "fp_cost": "0.1*amount"}
    train_table(
        folder / "loans", **settings, Cs=[1.0], gammas=[0.05], cv=2, evaluation=False, out=folder / "searched.skops"
    )
    return folder / "searched.skops"


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of two row groups, though these are small."""
    monkeypatch.setattr(cssvm._tables.sources, "PART_ROWS", 240)


def test_a_folder_is_trained_on_like_a_file(folder, searched):
    of_file = train_table(folder / "loans.csv", target="outcome", pos_label="bad", fn_cost="0.6*amount",
        fp_cost="0.1*amount", category=["zip"], Cs=[1.0], gammas=[0.05], cv=2, evaluation=False)  # fmt: skip
    new = applicants(50, seed=1)
    X = new.drop(columns="outcome").assign(home=new["home"].fillna(""))
    costs = {"fn_cost": 0.6 * X["amount"], "fp_cost": 0.1 * X["amount"]}
    found = load_model(searched).model
    np.testing.assert_array_equal(found.predict(X, **costs), of_file.model.predict(X, **costs))
    np.testing.assert_allclose(found.decision_function(X), of_file.model.decision_function(X), atol=1e-6)


def test_decisions_of_a_cluster_are_those_of_this_process(run, folder, searched, small_parts):
    here = run("predict", searched, "loans", "--keep", "amount", "--out", "here.csv", "--json")
    there = run(
        "predict", searched, "loans", "--keep", "amount", "--out", "there.csv", "--json", "--scheduler", "CLUSTER"
    )
    assert here.exit_code == there.exit_code == 0, there.output
    assert (folder / "there.csv").read_bytes() == (folder / "here.csv").read_bytes()
    assert there.stdout.replace("there", "here") == here.stdout
    assert '"n_rows": 900' in there.stdout


@pytest.mark.parametrize("scheduler", [[], ["--scheduler", "CLUSTER"]], ids=["here", "cluster"])
def test_a_name_with_a_slash_is_a_folder_with_a_file_for_each_part(run, folder, searched, small_parts, scheduler):
    out = folder / ("cluster" if scheduler else "local")
    done = run("predict", searched, "loans", "--keep", "zip", "--out", f"{out}/", *scheduler)
    assert done.exit_code == 0, done.output
    files = sorted(path.name for path in out.iterdir())
    assert files == [f"part-0000{k}.parquet" for k in range(6)]  # three files of 300 rows: 240 and 60 each
    run("predict", searched, "loans", "--keep", "zip", "--out", "one.parquet", "--quiet")
    found, expected = (
        pd.concat([pd.read_parquet(out / name) for name in files]),
        pd.read_parquet(folder / "one.parquet"),
    )
    pd.testing.assert_frame_equal(found.reset_index(drop=True), expected, check_exact=True)
    again = run("predict", searched, "loans", "--out", f"{out}/", *scheduler)
    assert again.exit_code == 2
    assert "not an empty folder" in again.stderr


def test_a_failure_on_a_worker_leaves_no_folder(run, folder, searched):
    before = sorted(path.name for path in folder.iterdir())
    failed = run("predict", searched, "loans", "--keep", "nothing", "--out", "failed/", "--scheduler", "CLUSTER")
    assert failed.exit_code == 2
    assert failed.stderr.splitlines() == [failed.stderr.strip()]
    assert "has no column 'nothing'" in failed.stderr
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("cost", ["amount", "0.6*amount"])
def test_a_model_of_a_cluster_is_a_model_file_as_any_other(run, folder, cost):
    arguments = ["--target", "outcome", "--positive", "bad", "--fn-cost", cost, "--fp-cost", "200", "--currency", "EUR"]
    done = run("train", "loans", *arguments, "--out", "linear.skops", "--scheduler", "CLUSTER")
    assert done.exit_code == 0, done.output
    assert "rows" in done.stdout
    assert "iteration" not in done.stdout  # progress goes to the error stream
    saved, frame = load_model(folder / "linear.skops"), applicants(N)
    assert (saved.card.n_rows, saved.card.n_positives) == (N, int((frame["outcome"] == "bad").sum()))
    assert (saved.card.fn_cost, saved.card.fp_cost, saved.card.currency) == (cost, 200.0, "EUR")
    assert saved.card.certificate["gap"] <= 1e-6
    assert "CostSensitiveLinearSVC" in run("info", "linear.skops").stdout
    decided = run("predict", "linear.skops", "loans", "--out", "decided.csv")
    assert decided.exit_code == 0, decided.output
    X = frame.drop(columns="outcome")
    assert pd.read_csv(folder / "decided.csv")["label"].tolist() == saved.model.predict(X).tolist()
    # the optimum is that of this process, on the same features
    factor = 1.0 if cost == "amount" else 0.6
    local = CostSensitiveLinearSVC(pos_label="bad", fp_cost=200.0).fit(
        saved.model[:-1].transform(X), frame["outcome"], fn_cost=factor * frame["amount"].to_numpy()
    )
    assert local.primal_objective_ == pytest.approx(saved.card.certificate["primal"], rel=1e-5)


@pytest.mark.parametrize("scheduler", [[], ["--scheduler", "CLUSTER"]], ids=["here", "cluster"])
def test_an_index_of_pandas_without_a_name_is_neither_a_feature_nor_required(run, folder, tmp_path, scheduler):
    frame = applicants(300)[["income", "amount", "outcome"]].sort_values("outcome")
    frame.to_parquet(tmp_path / "loans.parquet")
    frame.reset_index(drop=True).to_parquet(tmp_path / "plain.parquet")
    search = [] if scheduler else ["--grid", "1", "--folds", "2", "--no-evaluate"]
    done = run("train", tmp_path / "loans.parquet", *COSTS, *search, "--out", tmp_path / "model.skops", *scheduler)
    assert done.exit_code == 0, done.output
    card = load_model(tmp_path / "model.skops").card
    assert [column.name for column in card.columns] == ["income", "amount"]
    for rows in ("loans", "plain"):
        found = predict_table(tmp_path / "model.skops", tmp_path / f"{rows}.parquet", tmp_path / f"{rows}.csv")
        assert found.not_read == ["outcome"]
    assert (tmp_path / "loans.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    assert run("evaluate", tmp_path / "model.skops", tmp_path / "loans.parquet").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train", "loans", *COSTS, "--out", "x", "--scheduler", "127.0.0.1"], "no Dask scheduler at '127.0.0.1'"),
        (["train", "loans.csv", *COSTS, *THERE], "a scheduler requires Parquet"),
        (["train", "loans", *THERE], "the column of labels must be named"),
        (["train", "loans", "--target", "no", *THERE], "has no column 'no'"),
        (["train", "loans", *COSTS, "--drop", "no", *THERE], "has no column 'no'"),
        (["train", "loans", *COSTS, "--positive", "ugly", *THERE], "'ugly' does not occur"),
        (["train", "loans", "--target", "amount", *THERE], "labels of two classes"),
        (["train", "loans", "--target", "outcome", "--fn-cost", "5", *THERE], "--positive"),
        (["train", "loans", *COSTS, "--fn-cost", "home", *THERE], "finite numbers"),
        (["train", "loans", *COSTS, "--fn-cost", "-1", *THERE], "fn_cost must be"),
        (["train", "nothing", *COSTS, *THERE], "nothing cannot be read"),
        (["predict", "searched.skops", "loans.csv", "--scheduler", "CLUSTER"], "a scheduler requires Parquet"),
        (["predict", "searched.skops", "loans", "--out", "no/folder/"], "there is no folder no"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_bad_input_is_one_line_and_exit_code_2(run, folder, searched, arguments, said):
    before = sorted(path.name for path in folder.iterdir())
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("cssvm: ")
    assert said in line
    assert sorted(path.name for path in folder.iterdir()) == before


def test_options_of_a_search_are_rejected_for_a_cluster(run):
    result = run("train", "loans", *COSTS, *THERE, "--grid", "3")
    assert result.exit_code == 2
    assert "--grid" in result.stderr
    assert "without a search" in result.stderr


def test_a_cost_of_one_class_only_is_rejected_on_a_cluster_too(client, tmp_path):
    frame = applicants(300)
    frame["lost"] = np.where((frame["outcome"] == "bad") & (frame.index % 3 > 0), frame["amount"], 0.0)
    write(frame, tmp_path / "loans")
    settings = {"target": "outcome", "pos_label": "bad", "fn_cost": "lost"}
    with pytest.raises(TableError, match="'lost', the fn_cost, is 0 or missing on every row of one class"):
        train_on_cluster(tmp_path / "loans", client, **settings)
    trained = train_on_cluster(tmp_path / "loans", client, **settings, drop=["lost"])
    assert "lost" not in [column.name for column in trained.card.columns]


def test_labels_of_every_type_come_back_as_they_were(client, tmp_path):
    frame = applicants(300).assign(whole=lambda f: (f["outcome"] == "bad") + 1, truth=lambda f: f["outcome"] == "bad")
    write(frame, tmp_path / "loans")
    for target, pos_label, meant in (("whole", "2", 2), ("truth", "True", True)):
        others = [name for name in ("outcome", "whole", "truth") if name != target]
        trained = train_on_cluster(tmp_path / "loans", client, target=target, pos_label=pos_label, drop=others)
        assert trained.card.pos_label == meant
        assert set(trained.model.predict(frame[["income", "amount", "home", "zip"]]).tolist()) <= set(frame[target])
    frame.loc[5, "outcome"] = None
    write(frame, tmp_path / "gap")
    with pytest.raises(ValueError, match=r"partition 0 .*column 'outcome'.* 1 labels are missing"):
        train_on_cluster(tmp_path / "gap", client, target="outcome", pos_label="bad", drop=["whole", "truth"])


def test_a_client_given_stays_open(client, folder, searched, tmp_path):
    predict_table(searched, folder / "loans", tmp_path / "out.csv", scheduler=client)
    assert client.status == "running"
    with connect(client.scheduler.address) as own:
        assert own.status == "running"
    assert own.status == "closed"


def test_strings_are_read_alike_in_training_on_a_cluster_and_in_predictions(client, tmp_path):
    rng = np.random.default_rng(0)
    home = rng.choice(["own ", "rent", "", None], 400)
    bad = (home == "own ") ^ (rng.random(400) < 0.1)
    frame = pd.DataFrame({"home": home, "age": rng.normal(size=400), "bad": bad.astype(int)})
    (tmp_path / "rows").mkdir()
    frame.to_parquet(tmp_path / "rows" / "0.parquet")
    trained = train_on_cluster(tmp_path / "rows", client, target="bad", out=tmp_path / "model.skops")
    found = predict_table(tmp_path / "model.skops", tmp_path / "rows", tmp_path / "decided.csv")
    decided = pd.read_csv(tmp_path / "decided.csv")["label"].to_numpy()
    assert not found.unseen_categories.get("home")  # "own " in the file is "own" wherever it is read
    assert np.mean(decided == (home == "own ")) > 0.95
    by_hand = frame.assign(home=[word.strip() or None if word else None for word in home])[["home", "age"]]
    np.testing.assert_array_equal(decided, trained.model.predict(by_hand))


def test_a_negative_cost_is_rejected_on_a_cluster_as_by_every_verb(client, tmp_path):
    frame = pd.DataFrame({"x": np.arange(40.0), "amount": 1.0, "bad": [0, 1] * 20})
    frame.loc[2, "amount"] = -1.0  # where it does not count
    (tmp_path / "rows").mkdir()
    frame.to_parquet(tmp_path / "rows" / "0.parquet")
    with pytest.raises(ValueError, match="must not be negative"):
        train_on_cluster(tmp_path / "rows", client, target="bad", fn_cost="amount", fp_cost=1)


def test_missing_numbers_may_come_after_training_without_any(client, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 1.0, size=(200, 2))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "bad": (X[:, 0] > 3.0).astype(int)})
    (tmp_path / "rows").mkdir()
    frame.to_parquet(tmp_path / "rows" / "0.parquet")
    model = train_on_cluster(tmp_path / "rows", client, target="bad").model
    with_gap = pd.DataFrame({"a": [4.0], "b": [np.nan]})
    filled = pd.DataFrame({"a": [4.0], "b": [X[:, 1].mean()]})
    np.testing.assert_allclose(model.decision_function(with_gap), model.decision_function(filled), rtol=1e-12)
