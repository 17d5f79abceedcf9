"""Tables of committed results in the documents, and the time to the first result."""

import json

import pytest

from benchmarks import document, first


def test_only_the_text_between_the_marks_is_replaced(monkeypatch, tmp_path):
    record = {"name": "fit", "seconds": 2.0}
    (tmp_path / "fits.json").write_text(json.dumps({"first": [record]}))
    monkeypatch.setattr(document, "RESULTS", tmp_path)
    mark = "<!-- first results: python -m benchmarks.document -->"
    text = f"before\n{mark}\nold\n{document.END}\nafter\n{document.END}\n"
    found = document.update_tables(text)
    assert found.startswith(f"before\n{mark}\n| first |")
    assert found.endswith(f"|\n{document.END}\nafter\n{document.END}\n")
    assert "old" not in found


@pytest.mark.parametrize("path", document.DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_documents_have_the_tables_of_the_committed_results(path):
    text = path.read_text()
    assert any(f"<!-- {name}: python -m benchmarks.document -->" in text for name in document.TABLES)
    assert document.update_tables(text) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.00271, "0.0027"), (0.94, "0.94"), (2.37, "2.4"), (21.4, "21"), (1274.3, "1,274"), (None, "")]
)
def test_numbers_of_tables_have_two_significant_digits(value, text):
    assert document.significant(value) == text


@pytest.mark.system
def test_the_first_result_is_timed_in_a_process_of_its_own(tmp_path):
    found = first.seconds_of(first.FIT, str(tmp_path))
    assert found["seconds"] > 0
    assert found["import"] > 0
    assert any(tmp_path.rglob("*.nbi"))
    late = {"name": "fit", "goal": 0.5, "seconds": 0.7, "import": 1.0}
    assert first.first_table([late]).endswith("miss")
