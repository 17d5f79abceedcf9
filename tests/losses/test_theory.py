"""docs/theory.md keeps its promises: its code runs from top to bottom and prints what its comments say."""

import re
from pathlib import Path

import pytest

THEORY = Path(__file__).parents[2] / "docs" / "theory.md"


def test_the_code_of_the_theory_page_runs_and_prints_what_it_says(capsys):
    pytest.importorskip("sympy")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", THEORY.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, str(THEORY), "exec"), names)
        printed = capsys.readouterr().out
        for comment in re.findall(r"print\(.*\)  # (.*)", block):
            promised = [word.rstrip(".") if word.endswith("...") else word for word in comment.split()]
            assert all(word in printed for word in promised), (comment, printed)
