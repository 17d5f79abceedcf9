"""Tables of documents from committed runs, and the time to the first result."""

import json

import pytest

from benchmarks import document, first


def test_a_table_is_written_between_its_marks_only(monkeypatch, tmp_path):
    record = {"name": "fit", "seconds": 2.0}
    (tmp_path / "fits.json").write_text(json.dumps({"first": [record]}))
    monkeypatch.setattr(document, "RESULTS", tmp_path)
    mark = "<!-- first results: python -m benchmarks.document -->"
    text = f"before\n{mark}\nold\n{document.END}\nafter\n{document.END}\n"
    found = document.filled(text)
    assert found.startswith(f"before\n{mark}\n| first |")
    assert found.endswith(f"|\n{document.END}\nafter\n{document.END}\n")
    assert "old" not in found


@pytest.mark.parametrize("path", document.DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_documents_hold_the_tables_of_the_committed_runs(path):
    text = path.read_text()
    assert any(f"<!-- {name}: python -m benchmarks.document -->" in text for name in document.TABLES)
    assert document.filled(text) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.00271, "0.0027"), (0.94, "0.94"), (2.37, "2.4"), (21.4, "21"), (1274.3, "1,274"), (None, "")]
)
def test_numbers_of_tables_have_two_digits_that_count(value, text):
    assert document.significant(value) == text


@pytest.mark.system
def test_the_first_result_is_timed_in_a_process_of_its_own(tmp_path):
    found = first.seconds_of(first.FIT, str(tmp_path))
    assert found["seconds"] > 0
    assert found["import"] > 0
    assert any(tmp_path.rglob("*.nbi"))
    late = {"name": "fit", "target": 0.5, "seconds": 0.7, "import": 1.0}
    assert first.first_table([late]).endswith("miss")
