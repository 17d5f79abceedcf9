"""Invalid input: one line on stderr, exit code 2, no traceback, no partial files."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import warnings

import pandas as pd
import pytest
import typer
from sklearn.linear_model import LogisticRegression

from cssvm import CostSensitiveLinearSVC, CostSensitiveSVC, CostSensitiveSVCCV
from cssvm._cli.command import command
from cssvm._search.grid_search import GridCrossValidation
from cssvm._tables import training
from cssvm.deploy import ModelCard, load_model, save_model
from tests.cli.conftest import SMALL
from tests.tables.applicants import applicants, as_csv

TRAIN = ["train", "loans.csv", "--target", "outcome", "--positive", "bad", "--fn-cost", "5", "--out", "out", *SMALL]


def replaced(arguments, **options):
    """Arguments with other values of some options."""
    found = list(arguments)
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if option in found:
            found[found.index(option) + 1] = value
        else:
            found += [option, value]
    return found


@pytest.fixture
def here(folder, model, tmp_path, monkeypatch):
    """A folder of its own with copies of the tables and of the model, some of them broken."""
    for name in ("loans.csv", "new.csv", "loans.skops"):
        shutil.copy(folder / name, tmp_path / name)
    frame = applicants(60)
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "header.csv").write_bytes(as_csv(frame.head(0)))
    (tmp_path / "one.csv").write_bytes(as_csv(frame[frame["outcome"] == "good"]))
    (tmp_path / "narrow.csv").write_bytes(as_csv(frame.drop(columns=["home", "outcome"])))
    (tmp_path / "wrong.csv").write_bytes(as_csv(frame.assign(income="much")))
    frame.loc[4, "outcome"], frame.loc[8, "amount"] = None, -7.0
    (tmp_path / "negative.csv").write_bytes(as_csv(frame))
    content = (folder / "loans.skops").read_bytes()
    (tmp_path / "damaged.skops").write_bytes(content[:500] + b"\x00" + content[501:])
    (tmp_path / "short.skops").write_bytes(content[:-900])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (replaced(TRAIN, target="nonsense"), "has no column 'nonsense'"),
        (["train", "loans.csv", "--out", "out"], "the column of labels must be named"),
        (replaced(TRAIN, positive="ugly"), "label 'ugly' does not occur"),
        (["train", "one.csv", *TRAIN[2:]], "one class only"),
        (replaced(TRAIN, fn_cost="home"), "must hold finite numbers; got"),
        (replaced(TRAIN, fn_cost="much"), "fn_cost must be a number, a column"),
        (replaced(TRAIN, fn_cost="-5"), "fn_cost must be finite and non-negative; got -5"),
        (["train", "negative.csv", *replaced(TRAIN, fn_cost="amount")[2:]], "must not be negative; got -7 in row 9."),
        (["evaluate", "loans.skops", "negative.csv"], "must not be negative; got -7 in row 9."),
        (["report", "loans.skops", "negative.csv", "--out", "out"], "must not be negative; got -7 in row 9."),
        (["predict", "loans.skops", "negative.csv", "--out", "out"], "must not be negative; got -7 in row 9."),
        (replaced(TRAIN, weight="nonsense"), "has no column 'nonsense'"),
        (replaced(TRAIN, kernel="nonsense"), "kernel"),
        (["train", "empty.csv", *TRAIN[2:]], "empty.csv is empty"),
        (["train", "header.csv", *TRAIN[2:]], "header.csv has no rows"),
        (["train", "absent.csv", *TRAIN[2:]], "absent.csv cannot be read: No such file"),
        (replaced(TRAIN, out="no/out"), "there is no folder no"),
        (["predict", "loans.skops", "narrow.csv", "--out", "out"], "has no column 'home'"),
        (["predict", "loans.skops", "wrong.csv", "--out", "out"], "column 'income' of wrong.csv must hold finite"),
        (["predict", "loans.skops", "empty.csv", "--out", "out"], "empty.csv is empty"),
        (["predict", "loans.skops", "header.csv", "--out", "out"], "header.csv has no rows"),
        (["predict", "loans.skops", "absent.csv", "--out", "out"], "absent.csv cannot be read: No such file"),
        (["predict", "loans.skops", "new.csv", "--fn-cost", "x", "--out", "out"], "fn_cost must be a number, a column"),
        (["predict", "loans.skops", "new.csv", "--keep", "x", "--out", "out"], "has no column 'x'"),
        (["predict", "loans.skops", "new.csv", "--out", "no/out"], "there is no folder no"),
        (["predict", "loans.skops", "new.csv", "--out", "."], "is a folder"),
        (["predict", "damaged.skops", "new.csv", "--out", "out"], "damaged or altered"),
        (["predict", "short.skops", "new.csv", "--out", "out"], "is not a model file of cssvm"),
        (["predict", "loans.csv", "new.csv", "--out", "out"], "is not a model file of cssvm"),
        (["predict", "absent.skops", "new.csv", "--out", "out"], "absent.skops cannot be read"),
        (["evaluate", "loans.skops", "new.csv"], "has no column 'outcome'"),
        (
            ["evaluate", "loans.skops", "one.csv"],
            "labels of both classes, on rows of positive weight; got none of 'bad'. Give",
        ),
        (["report", "loans.skops", "one.csv", "--out", "out"], "got none of 'bad'. Give a table"),
        (["evaluate", "loans.skops", "loans.csv", "--confidence", "2"], "confidence"),
        (["report", "loans.skops", "new.csv", "--out", "out"], "has no column 'outcome'"),
        (["report", "loans.skops", "loans.csv", "--out", "no/out"], "there is no folder no"),
        (["info", "damaged.skops"], "damaged or altered"),
        (["datasets", "fetch", "nonsense"], "There is no data set 'nonsense'"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, expected, cssvm, here):
    before = sorted(os.listdir(here))
    result = cssvm(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("cssvm: ")
    assert expected in line
    assert sorted(os.listdir(here)) == before


def test_a_failure_leaves_the_file_that_was_there(cssvm, here):
    (here / "out").write_text("before")
    assert cssvm("predict", "loans.skops", "wrong.csv", "--out", "out").exit_code == 2
    assert (here / "out").read_text() == "before"


def test_wrong_use_has_exit_code_2_and_names_the_option(cssvm):
    for arguments, expected in (
        (["train"], "Missing"),
        (["train", "x.csv"], "--out"),
        (["train", "x.csv", "--out", "y", "--grid", "0"], "--grid"),
        (["train", "x.csv", "--out", "y", "--decision", "dice"], "--decision"),
        (["train", "x.csv", "--out", "y", "--currency", "\udcff"], "must be UTF-8 text"),
        (["predict", "m.skops", "x.csv", "--json"], "--out"),
        (["nonsense"], "nonsense"),
    ):
        result = cssvm(*arguments)
        assert result.exit_code == 2
        assert expected in result.stderr
        assert "Traceback" not in result.stderr


def test_an_internal_error_keeps_its_traceback():
    @command("cssvm nothing")
    def verb():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        verb()


def test_ctrl_c_ends_a_verb_at_once_where_a_search_by_itself_would_keep_what_it_has(data):
    X, y = data
    calls = []

    def interrupted(estimator, X, y):
        calls.append(1)
        if len(calls) == 12:
            os.kill(os.getpid(), signal.SIGINT)
        return 0.0

    @command("cssvm nothing")
    def verb():
        CostSensitiveSVCCV(Cs=5, gammas=5, scoring=interrupted, n_jobs=1, cv=2).fit(X, y)

    with pytest.raises(typer.Exit) as ended:
        verb()
    assert ended.value.exit_code == 130


@pytest.mark.parametrize(
    ("out", "expected"), [("new.csv", "stopped; nothing was written."), ("-", "stopped."), (os.devnull, "stopped.")]
)
def test_ctrl_c_reports_that_nothing_was_written_only_for_files_written_atomically(out, expected, capsys):
    @command("cssvm nothing")
    def verb(out):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(typer.Exit):
        verb(out=out)
    assert capsys.readouterr().err == f"cssvm: {expected}\n"


def test_ctrl_c_in_fetch_reports_what_is_kept(cssvm, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cssvm.datasets.fetch", interrupted)
    stopped = cssvm("datasets", "fetch", "german_credit")
    assert stopped.exit_code == 130
    assert "stopped; complete files are kept" in stopped.stderr


@pytest.mark.parametrize("quiet", [False, True])
def test_warnings_are_lines_unless_quiet(quiet, capsys):
    @command("cssvm nothing")
    def verb(quiet):
        warnings.warn("careful", UserWarning, stacklevel=1)

    verb(quiet=quiet)
    assert capsys.readouterr().err == ("" if quiet else "cssvm: warning: careful\n")


def test_groups_and_order_of_time_exclude_each_other(cssvm, folder, tmp_path):
    arguments = ["train", folder / "loans.csv", "--target", "outcome", "--group", "home", "--by-time"]
    rejected = cssvm(*arguments, "--out", tmp_path / "m.skops")
    assert rejected.exit_code == 2
    assert "give one of the two" in rejected.stderr


@pytest.mark.system
def test_ctrl_c_while_the_command_line_is_imported_is_exit_code_130_without_a_traceback():
    code = """if True:
        import builtins, os, signal, cssvm._cli
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
        real = builtins.__import__
        def interrupted(name, *args, **kwargs):
            if name == "typer":
                os.kill(os.getpid(), signal.SIGINT)
            return real(name, *args, **kwargs)
        builtins.__import__ = interrupted
        cssvm._cli.main()
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.system
@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("predict loans.skops - <&-", "the standard input is closed."),
        ("predict loans.skops new.csv >&-", "the standard output is closed."),
        pytest.param(
            "info loans.skops >/dev/full",
            "the standard output: No space left on device",
            marks=pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full"),
        ),
    ],
)
def test_streams_that_are_closed_or_full_are_one_line_and_exit_code_2(verb, expected, here):
    command = f"'{sys.executable}' -m cssvm {verb}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"cssvm: {expected}")


@pytest.mark.system
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name")
def test_ctrl_c_is_exit_code_130_and_one_line(model, tmp_path):
    """The process waits for rows that do not come."""
    rows, out = tmp_path / "rows", tmp_path / "out.csv"
    os.mkfifo(rows)
    verb = ["predict", str(model), str(rows), "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "cssvm", *verb], stderr=subprocess.PIPE, text=True)
    with rows.open("w"):  # opens when the process does
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=600)
    assert process.returncode == 130
    assert printed == "cssvm: stopped; nothing was written.\n"
    assert not out.exists()


TERMINATED = """if True:
    import os, signal, sys
    from cssvm._cli import main
    os.fsync = lambda file: os.kill(os.getpid(), signal.SIGTERM)  # when all is written, before it takes its place
    main()
"""


@pytest.mark.system
@pytest.mark.parametrize(
    "verb",
    [
        ["predict", "loans.skops", "new.csv"],
        ["report", "loans.skops", "loans.csv", "--resamples", "10"],
        [*TRAIN[: TRAIN.index("--out")], "--no-evaluate", *SMALL],
    ],
    ids=lambda verb: verb[0],
)
def test_sigterm_is_exit_code_143_and_one_line_and_leaves_no_file(verb, here):
    before = {*os.listdir()}
    command = [sys.executable, "-c", TERMINATED, *verb, "--out", "stopped.out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 143, done.stderr
    assert done.stderr.splitlines()[-1] == "cssvm: stopped; nothing was written."
    assert {*os.listdir()} == before


def test_sigterm_ends_a_verb_as_ctrl_c_does(capsys):
    @command("cssvm nothing")
    def verb(out):
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(typer.Exit) as ended:
        verb(out="new.csv")
    assert ended.value.exit_code == 143
    assert capsys.readouterr().err == "cssvm: stopped; nothing was written.\n"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_link_that_leads_to_itself_is_one_line(cssvm, model, folder, tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    done = cssvm("predict", model, folder / "new.csv", "--out", loop)
    assert done.exit_code == 2
    assert done.stderr == f"cssvm: {loop}: {os.strerror(errno.ELOOP)}\n"


@pytest.mark.parametrize("out", ["-", "decisions.csv"])
def test_a_string_cannot_be_a_formula_unless_allowed(cssvm, model, folder, tmp_path, out):
    rows = pd.read_csv(folder / "new.csv", dtype=str).head(2)
    rows.assign(**{"=name": ["=1+1", "-5"]}).to_csv(tmp_path / "new.csv", index=False)
    where = out if out == "-" else tmp_path / out

    def first_column(*options):
        arguments = ["predict", model, tmp_path / "new.csv", "--keep", "=name", "--out", where, "--quiet"]
        done = cssvm(*arguments, *options)
        text = done.stdout if out == "-" else where.read_text()
        return [line.split(",")[0] for line in text.splitlines()]

    assert first_column() == ["'=name", "'=1+1", "-5"]
    assert first_column("--allow-formulas") == ["=name", "=1+1", "-5"]


def test_control_characters_of_a_card_do_not_reach_the_terminal(cssvm, tmp_path):
    estimator = CostSensitiveLinearSVC().fit([[0.0], [1.0]], [0, 1])
    save_model(estimator, tmp_path / "m.skops", ModelCard.from_model(estimator, notes=["\x1b[2J red", "x" * 10**5]))
    printed = cssvm("info", tmp_path / "m.skops").stdout
    assert "\x1b" not in printed
    assert "\\x1b[2J red" in printed
    assert len(printed) < 10_000
    assert "\x1b" not in cssvm("info", tmp_path / "\x1b[2J.skops").stderr


def test_info_states_that_a_model_was_fitted_with_sample_costs(cssvm, tmp_path):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
    save_model(CostSensitiveSVC(fp_cost=2.0).fit(X, y, fn_cost=[1.0, 2.0, 3.0, 4.0]), tmp_path / "m.skops")
    assert "a cost for each row if missed, 2.0 for a false alarm" in cssvm("info", tmp_path / "m.skops").stdout
    plain = LogisticRegression().fit(X, y)
    save_model(plain, tmp_path / "m.skops")
    assert "unknown if missed" in cssvm("info", tmp_path / "m.skops").stdout


@pytest.mark.parametrize(("what", "out"), [("model", "loans.skops"), ("data", "loans.csv")])
@pytest.mark.parametrize("verb", ["predict", "report"])
def test_the_output_never_takes_the_place_of_what_it_is_made_from(cssvm, here, verb, what, out):
    before = (here / out).read_bytes()
    rejected = cssvm(verb, "loans.skops", "loans.csv", "--out", out)
    assert rejected.exit_code == 2
    assert f"{out} is the {what}, which the output would replace" in " ".join(rejected.output.split())
    assert (here / out).read_bytes() == before


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C, once, when a search has scored the first points on all folds."""
    keep, calls = GridCrossValidation._keep_best, []

    def keep_and_stop(self, kernel, scores):
        keep(self, kernel, scores)
        calls.append(1)
        if len(calls) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(GridCrossValidation, "_keep_best", keep_and_stop)


@pytest.mark.parametrize("options", [[], ["--quiet"]], ids=["", "quiet"])
def test_ctrl_c_in_the_search_of_train_writes_the_best_model_so_far(options, cssvm, here, tmp_path, interrupted):
    out = tmp_path / "model.skops"
    found = cssvm(*replaced(TRAIN, out=out), "--no-evaluate", *options)
    assert found.exit_code == 0
    assert "cssvm: warning: The search was interrupted: 2 of 4 points were scored on all folds" in found.stderr
    assert load_model(out).card.parameters


@pytest.fixture
def stopped_evaluation(monkeypatch):
    """Ctrl-C, or SIGTERM, as soon as an evaluation begins."""

    def stop(number):
        monkeypatch.setattr(training, "evaluate", lambda *_, **__: os.kill(os.getpid(), number))

    return stop


def test_ctrl_c_in_the_evaluation_of_train_keeps_the_model(cssvm, here, tmp_path, stopped_evaluation):
    out = tmp_path / "model.skops"
    stopped_evaluation(signal.SIGINT)
    found = cssvm(*replaced(TRAIN, out=out), "--quiet")
    assert found.exit_code == 0
    assert found.stderr == "cssvm: warning: The evaluation was interrupted; the model is kept without its figures.\n"
    assert load_model(out).card.measures == {}


def test_sigterm_in_the_evaluation_of_train_keeps_the_model(cssvm, here, tmp_path, stopped_evaluation):
    out = tmp_path / "model.skops"
    stopped_evaluation(signal.SIGTERM)
    found = cssvm(*replaced(TRAIN, out=out), "--quiet")
    assert found.exit_code == 143
    assert found.stderr == f"cssvm: stopped; {out} is complete.\n"
    assert load_model(out).card.measures == {}


def test_an_interrupted_search_is_noted_in_the_card(cssvm, here, tmp_path, interrupted):
    out = tmp_path / "model.skops"
    assert cssvm(*replaced(TRAIN, out=out), "--quiet").exit_code == 0
    saved = load_model(out)
    assert saved.model.interrupted_
    assert "the search was interrupted" in cssvm("info", out).stdout
