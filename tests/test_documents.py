"""The documents keep their promises: the README's code runs, and links lead somewhere."""

import re
from pathlib import Path

import pytest

from cssvm.kernels import KERNEL_NAMES

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


WITH_CODE = [document for document in DOCUMENTS if "```python" in document.read_text()]


@pytest.mark.filterwarnings("ignore::cssvm.CostConditionWarning")
@pytest.mark.parametrize("document", WITH_CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_code_runs_from_top_to_bottom(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", document.read_text(), flags=re.DOTALL):
        exec(compile(block, document.name, "exec"), names)


def test_the_readme_has_code():
    assert ROOT / "README.md" in WITH_CODE


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_documents_lead_to_files(document):
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text())
    missing = [t for t in targets if "://" not in t and not (document.parent / t).exists()]
    assert not missing


def test_every_kernel_is_in_the_table_of_kernels():
    rows = re.findall(r"^\| `([a-z0-9]+)` \|", (ROOT / "docs" / "kernels.md").read_text(), flags=re.MULTILINE)
    assert sorted(rows) == sorted(KERNEL_NAMES)
