"""Numbers as a reader wants them: four digits of money, whole cases, no exponents where they can be avoided.

`script.js` has the same rules for the numbers that move.
"""

from __future__ import annotations

import math

DIGITS = 4
LEAST_PLAIN = 1e-6  # what is smaller is written with an exponent
MINUS, NOTHING = "\N{MINUS SIGN}", "\N{EN DASH}"


def decimals(value: float) -> int:
    """Digits after the point that make four in all, none for numbers from a thousand on."""
    return max(0, DIGITS - 1 - math.floor(math.log10(abs(value)))) if value else 0


def number(value: float) -> str:
    """Four digits, all whole ones, with separators and without zeros at the end."""
    if not math.isfinite(value):
        return NOTHING if math.isnan(value) else ("∞" if value > 0 else f"{MINUS}∞")
    if value and abs(value) < LEAST_PLAIN:
        return f"{value:.{DIGITS - 1}e}".replace("-", MINUS)
    text = f"{value:,.{decimals(value)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text.replace("-", MINUS)


def count(value: float) -> str:
    """Cases: a whole number where it is one or large, else one digit after the point."""
    whole = abs(value - round(value)) < 1e-9 * max(1.0, abs(value)) or abs(value) >= 1000
    return f"{value:,.0f}" if whole else f"{value:,.1f}"


def percent(share: float) -> str:
    """A share in per cent, three digits."""
    value = 100.0 * share
    digits = max(0, 2 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "\N{NO-BREAK SPACE}%"
