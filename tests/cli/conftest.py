import subprocess
import sys

import pytest
from typer.testing import CliRunner

from cssvm._cli.app import app
from tests.tables.applicants import applicants, write

SMALL = ["--grid", "2", "--folds", "2"]


@pytest.fixture
def cssvm():
    """Runs the command line in this process: arguments to a result with exit code, stdout and stderr."""
    runner = CliRunner()

    def run(*arguments, stdin=None):
        return runner.invoke(app, [str(argument) for argument in arguments], input=stdin, catch_exceptions=False)

    return run


@pytest.fixture(scope="session")
def process():
    """Runs the command line in a process of its own."""

    def run(*arguments, stdin=None, **options):
        return subprocess.run(
            [sys.executable, "-m", "cssvm", *map(str, arguments)],
            input=stdin,
            capture_output=True,
            check=False,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with a labelled table and one of new rows."""
    found = tmp_path_factory.mktemp("tables")
    write(found, applicants(120), "csv of Windows").rename(found / "loans.csv")
    write(found, applicants(40, seed=1).drop(columns="outcome").assign(customer=range(40)), "csv").rename(
        found / "new.csv"
    )
    return found


@pytest.fixture(scope="session")
def model(folder):
    """A model trained by the command line."""
    file = folder / "loans.skops"
    result = CliRunner().invoke(
        app,
        ["train", str(folder / "loans.csv"), "--target", "outcome", "--positive", "bad", "--fn-cost", "0.6*amount",
         "--fp-cost", "0.1*amount", "--currency", "EUR", "--no-evaluate", "--quiet", "--out", str(file), *SMALL],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return file
