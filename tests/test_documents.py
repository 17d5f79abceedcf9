"""Documents: code and commands run, links are valid, and the API is listed."""

import importlib
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import cssvm
from cssvm._kernels import KERNEL_NAMES

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


WITH_CODE = [document for document in DOCUMENTS if "```python" in document.read_text()]
WITH_COMMANDS = [document for document in DOCUMENTS if "```sh\n" in document.read_text()]
PUBLIC = ("dask", "datasets", "deploy", "displays", "losses", "metrics", "_search")


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_code_runs_from_top_to_bottom(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL):
        exec(compile(block, document.name, "exec"), names)


@pytest.mark.system
@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_run_from_top_to_bottom(document, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = tmp_path / "bin" / "cssvm"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cssvm "$@"\n')
    script.chmod(0o755)
    found = {"PATH": os.pathsep.join([str(script.parent), str(Path(sys.executable).parent), os.environ["PATH"]])}
    commands = "\n".join(re.findall(r"```sh\n(.*?)```", document.read_text(), flags=re.DOTALL))
    done = subprocess.run(
        ["sh", "-e"], input=commands, cwd=tmp_path, env=os.environ | found, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr
    written = set(re.findall(r"--out (\S+)", commands))
    assert written
    assert all((tmp_path / name).stat().st_size > 0 for name in written)


def test_the_readme_shows_what_its_first_block_prints(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = (ROOT / "README.md").read_text()
    block = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(block[1], "README.md", "exec"), {})
    shown, printed = (re.sub(r"-?\d[\d,.]*", "#", each).split() for each in (block[2], capsys.readouterr().out))
    assert shown == printed


def test_the_readme_has_code_and_commands():
    assert ROOT / "README.md" in WITH_CODE
    assert ROOT / "README.md" in WITH_COMMANDS


@pytest.mark.parametrize("example", sorted(ROOT.glob("examples/plot_*.py")), ids=lambda path: path.stem)
def test_examples_with_pictures_draw_them(example, monkeypatch):
    import matplotlib.pyplot as plt

    monkeypatch.chdir(example.parent)
    plt.close("all")
    runpy.run_path(str(example), run_name="__main__")
    assert plt.get_fignums()
    plt.close("all")


def test_every_public_name_is_in_the_api_once():
    listed = re.findall(r"^   (\w+)$", (ROOT / "docs" / "api.rst").read_text(), flags=re.MULTILINE)
    modules = [cssvm, *(importlib.import_module(f"cssvm.{name}") for name in PUBLIC)]
    found = [(name, getattr(module, name)) for module in modules for name in module.__all__]
    public = {(name, id(thing)) for name, thing in found if callable(thing)}  # one thing may be in two modules
    assert sorted(listed) == sorted(name for name, _ in public)


def test_links_between_documents_lead_to_files():
    links = [(path, t) for path in DOCUMENTS for t in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text())]
    assert links
    assert [(path.name, t) for path, t in links if "://" not in t and not (path.parent / t).exists()] == []


def test_every_kernel_is_in_the_table_of_kernels():
    rows = re.findall(r"^\| `([a-z0-9]+)` \|", (ROOT / "docs" / "kernels.md").read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(KERNEL_NAMES)
