"""Formatted numbers and tables."""

import math

import pytest

from cssvm._runtime.format import (
    aligned_table,
    format_count,
    format_counts,
    format_estimate,
    format_number,
    format_percent,
    printable,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (183.84, "183.8"), (-4.6883, "-4.688"), (147039.4, "147,039"), (1e-9, "1.000e-09"), (12.0, "12")],
)
def test_numbers_have_four_digits_and_no_zeros_at_the_end(value, text):
    assert format_number(value) == text
    assert format_number(value, typographic=True) == text.replace("-", "\N{MINUS SIGN}")


def test_missing_and_infinite_numbers_have_signs():
    assert [format_number(value) for value in (None, math.nan, math.inf, -math.inf)] == ["-", "-", "inf", "-inf"]
    assert format_number(math.nan, typographic=True) == "\N{EN DASH}"
    assert format_number(-math.inf, typographic=True) == "\N{MINUS SIGN}\N{INFINITY}"


def test_estimates_counts_and_shares():
    assert format_estimate(46.3219, 40.12, 1234.5) == "46.32 [40.1, 1,234]"
    assert [format_count(value) for value in (12.0, 12.5, 1234.5)] == ["12", "12.5", "1,234"]
    assert format_percent(0.12345) == "12.3\N{NO-BREAK SPACE}%"
    assert format_counts({"income": 1200, "age": 0}) == "income 1,200"
    assert printable("\x1b[2J") == "\\x1b[2J"


def test_columns_are_aligned_and_headings_may_have_several_lines():
    table = aligned_table([("a", "1"), ("long", "12,345")], ("", "false\nalarms"), "<>")
    assert table.splitlines() == ["       false", "      alarms", "a          1", "long  12,345"]


def test_the_last_column_is_wrapped():
    table = aligned_table([("columns", "one two three four"), ("b", "c")], width=20)
    assert table.splitlines() == ["columns  one two", "         three four", "b        c"]
