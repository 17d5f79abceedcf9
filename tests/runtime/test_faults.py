"""After a disk failure a file is the complete old or the complete new one, with no temporary files left."""

import errno
import os
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from cssvm import CostSensitiveLinearSVC, Report
from cssvm._search.checkpoint import Checkpoint
from cssvm._tables import predict_table
from cssvm.deploy import ModelCard, SavedModel, load_model, save_model
from tests.runtime.faults import failing_at_each_step

ROWS = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
LABELS = np.arange(20) % 4 > 1


@pytest.fixture(scope="module")
def saved():
    model = CostSensitiveLinearSVC(fn_cost=2.0).fit(ROWS, LABELS)
    return SavedModel(model, ModelCard.from_model(model))


@pytest.fixture(scope="module")
def report(saved):
    return Report(saved.model, ROWS, LABELS, fn_cost=2.0, fp_cost=1.0, cv="prefit", n_resamples=5)


def writers(saved, report):
    return {
        "model.skops": lambda path: save_model(saved.model, path, saved.card),
        "decisions.csv": lambda path: predict_table(saved, ROWS, path),
        "decisions.csv.gz": lambda path: predict_table(saved, ROWS, path),
        "decisions.parquet": lambda path: predict_table(saved, ROWS, path),
        "report.html": report.save,
    }


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["full disk", "broken disk"])
@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
@pytest.mark.parametrize(
    "name", ["model.skops", "decisions.csv", "decisions.csv.gz", "decisions.parquet", "report.html"]
)
def test_a_file_is_the_old_or_the_new_one_whatever_fails(saved, report, tmp_path, monkeypatch, name, there, number):
    write, path = writers(saved, report)[name], tmp_path / name
    write(path)
    new_size, n_failed = path.stat().st_size, 0

    def put_old():
        path.unlink(missing_ok=True)
        if there:
            path.write_bytes(b"old")

    put_old()
    for error in failing_at_each_step(monkeypatch, lambda: write(path), number):
        if error is None:
            assert path.stat().st_size == pytest.approx(new_size, rel=0.01)
        else:
            n_failed += 1
            assert (error.errno, error.filename) == (number, str(path))
            assert os.listdir(tmp_path) == ([name] if there else [])
            assert not there or path.read_bytes() == b"old"
        put_old()
    assert n_failed >= 3  # a write, the sync and the renaming at least


def test_a_folder_appears_whole_or_not_at_all_whatever_fails(saved, tmp_path, monkeypatch):
    folder = tmp_path / "decided"
    n_failed = 0
    for error in failing_at_each_step(monkeypatch, lambda: predict_table(saved, ROWS, f"{folder}/")):
        n_failed += error is not None
        assert os.listdir(tmp_path) == ([] if error is not None else ["decided"])
    assert n_failed >= 3
    assert os.listdir(folder) == ["part-00000.parquet"]


def test_a_checkpoint_is_the_old_or_the_new_one_whatever_fails(tmp_path, monkeypatch):
    path = tmp_path / "points.npz"

    def record(value):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a search continues without its checkpoint
            Checkpoint(path, "f", (2, 2), 1).record(0, 0, np.array([value, np.nan]))

    def found():
        return Checkpoint(path, "f", (2, 2), 1).values[0, 0]

    record(1)
    for _ in failing_at_each_step(monkeypatch, lambda: record(2)):
        last = found()
        assert last in (1, 2)
        assert os.listdir(tmp_path) == [path.name]
    assert last == 2


KILLED = """
import os, signal, sys
from cssvm.deploy import load_model, save_model
saved = load_model(sys.argv[1])
saved.model.C = 7.0
real = getattr(os, sys.argv[2])
def dying(*arguments, **options):
    if sys.argv[3] == "after":
        real(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(os, sys.argv[2], dying)
save_model(saved.model, sys.argv[1], saved.card)
"""


@pytest.mark.system
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs SIGKILL")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_process_killed_while_it_saves_leaves_the_old_or_the_new_model(saved, tmp_path, step, when):
    path = tmp_path / "model.skops"
    save_model(saved.model, path, saved.card)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), step, when], check=False)
    assert done.returncode == -9
    is_new = load_model(path).model.C != saved.model.C
    assert is_new == ((step, when) == ("replace", "after"))
