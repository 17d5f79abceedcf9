"""The code of docs/theory.md runs with the output of its comments, and the tests that it names exist."""

import re
from pathlib import Path

THEORY = Path(__file__).parents[2] / "docs" / "theory.md"


def test_the_code_of_the_theory_page_runs_with_the_stated_output(capsys):
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", THEORY.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, str(THEORY), "exec"), names)
        printed = capsys.readouterr().out
        for comment in re.findall(r"print\(.*\)  # (.*)", block):
            promised = [word.rstrip(".") if word.endswith("...") else word for word in comment.split()]
            assert all(word in printed for word in promised), (comment, printed)


def test_every_test_that_the_theory_page_names_is_there():
    tests = Path(__file__).parents[1]
    texts = [path.read_text(encoding="utf-8") for path in tests.rglob("test_*.py")]
    defined = {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    named = set(re.findall(r"`(test_\w+)`", THEORY.read_text(encoding="utf-8")))
    assert len(named) > 30
    assert named <= defined


def test_the_contents_of_the_theory_page_lead_to_its_sections():
    page = THEORY.read_text(encoding="utf-8")
    titles = re.findall(r"^## (.+)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w\s-]", "", title.lower()).replace(" ", "-") for title in titles}
    linked = set(re.findall(r"\]\(#([^)]+)\)", page))
    assert linked == anchors
