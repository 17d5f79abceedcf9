"""The commands in docs/cli.md run with the output shown; tests/test_documents.py runs the other documents."""

import re
import shlex
import shutil
import subprocess

import pandas as pd
import pytest

from tests.conftest import ROOT


def commands_of(document):
    """Lines of shell blocks that run the command line, with what is piped into them."""
    blocks = re.findall(r"```shell\n(.*?)```", (ROOT / document).read_text(), flags=re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line.rpartition("cssvm ")[::2] for line in lines if "cssvm " in line]


@pytest.mark.system
@pytest.mark.skipif(shutil.which("head") is None, reason="needs the commands of a Unix shell")
def test_the_commands_of_the_page_run(cssvm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = commands_of("docs/cli.md")
    assert len(commands) >= 4
    for before, arguments in commands:
        feed = before.removesuffix("| ")
        rows = subprocess.run(feed, shell=True, capture_output=True, check=True).stdout if feed else None
        result = cssvm(*shlex.split(arguments), stdin=rows)
        assert result.exit_code == 0, (arguments, result.output)
    assert len(pd.read_csv("decisions.csv")) == 800
