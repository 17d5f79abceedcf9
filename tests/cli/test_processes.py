"""The command line as a process: with files, pipes, and the model of another process."""

import json
import os
import resource
import shutil
import subprocess
import sys

import numpy as np
import pytest

from cssvm.deploy import load_model
from tests.cli.conftest import SMALL
from tests.tables.applicants import applicants, read_decisions, write

HEAVY = ("numpy", "sklearn", "pandas", "numba", "pyarrow", "scipy")
VERBS = (
    [], ["train"], ["predict"], ["evaluate"], ["report"], ["info"], ["datasets"], ["datasets", "list"],
)  # fmt: skip


def cpu_seconds(run):
    """CPU time of a child process, which does not depend on the load of the machine."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_and_usage_errors_import_nothing_that_computes_and_take_little_time(process):
    code = (
        "import sys, typer.testing; from cssvm._cli.app import app; run = typer.testing.CliRunner().invoke\n"
        f"for verb in {VERBS!r}: assert run(app, [*verb, '--help']).exit_code == 0\n"
        "assert run(app, ['train']).exit_code == 2\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    for arguments in (["train", "--help"], ["train"]):
        seconds = [cpu_seconds(lambda arguments=arguments: process(*arguments)) for _ in range(3)]
        assert min(seconds) < 1.5  # about 0.3 on an idle computer


def test_every_verb_has_an_example_in_its_help(cssvm):
    for verb in VERBS:
        printed = cssvm(*verb, "--help").stdout
        assert f"Example:\n    cssvm {' '.join(verb)}" in printed
        assert max(map(len, printed.splitlines())) <= 80


def test_the_version_is_the_packages(process):
    import cssvm

    assert process("--version", text=True).stdout.strip() == f"cssvm {cssvm.__version__}"


def test_the_shell_completes_verbs_and_options(process):
    for words, position, expected in (("cssvm pre", "1", "predict"), ("cssvm train --fn", "2", "--fn-cost")):
        environment = {**os.environ, "_CSSVM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": position}
        assert expected in process(env=environment, text=True).stdout.split()


@pytest.mark.system
def test_a_model_trained_by_one_process_decides_in_another_as_in_python(process, tmp_path):
    train, new = applicants(100), applicants(70, seed=4).drop(columns="outcome")
    model, out = tmp_path / "model.skops", tmp_path / "out.csv"
    trained = process(
        "train", write(tmp_path, train, "csv of Windows"), "--target", "outcome", "--positive", "bad", "--fn-cost",
        "0.6*amount", "--fp-cost", "0.1*amount", "--no-evaluate", "--json", "--out", model, *SMALL,
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["card"]["n_rows"] == 100
    decided = process("predict", model, write(tmp_path, new, "parquet"), "--out", out, text=True)
    assert decided.returncode == 0, decided.stderr
    assert decided.stdout == ""
    written = read_decisions(out)
    columns = new.fillna({"home": ""})
    amount = new["amount"].to_numpy()
    expected = load_model(model).model._predict_all(columns, fn_cost=0.6 * amount, fp_cost=0.1 * amount)
    assert written["label"].tolist() == expected.labels.tolist()
    np.testing.assert_array_equal(written["score"], expected.scores)
    np.testing.assert_array_equal(written["probability"], expected.probabilities)


@pytest.mark.system
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_rows_and_decisions_go_through_pipes_and_the_reader_may_close_them(model, folder):
    command = f"cat '{folder / 'new.csv'}' | '{sys.executable}' -m cssvm predict '{model}' - | head -n 2"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    header, first = done.stdout.splitlines()
    assert header == "label,score,probability,cost_of_acting,cost_of_leaving"
    assert first.startswith(("bad,", "good,"))
    assert "Traceback" not in done.stderr


@pytest.mark.system
@pytest.mark.skipif(sys.platform != "linux", reason="memory as Linux counts it")
def test_many_rows_are_decided_within_600_megabytes():
    from benchmarks import streaming

    for record in streaming.measure(200_000):
        assert record["peak_mb"] < streaming.BUDGET_MB, record
