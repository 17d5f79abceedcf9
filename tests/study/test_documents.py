"""Tables in the documents are those in `results/`."""

import csv

import pytest

from tests.conftest import ROOT


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("docs/study.md", "income"),
        ("docs/study.md", "authors"),
        ("docs/study.md", "authors-rows"),
        ("docs/study.md", "risk"),
        ("docs/study.md", "differences-tp_auc"),
        ("docs/study.md", "which-method"),
    ],
)
def test_the_table_of_a_document_is_the_committed_result(document, name):
    block = (ROOT / document).read_text().split(f"<!-- {name}:")[1].split("<!-- end -->")[0]
    lines = [line.strip("| ").split(" | ") for line in block.splitlines() if line.startswith("| ")]
    shown = [[cell.strip() for cell in line] for line in lines if not set("".join(line)) <= set("- ")]
    with (ROOT / "results" / f"{name}.csv").open(newline="") as file:
        stored = [[cell.strip() for cell in row] for row in csv.reader(file)]
    assert [[cell for cell in row if cell] for row in shown] == [[cell for cell in row if cell] for row in stored]
