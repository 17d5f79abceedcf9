"""The page itself: the template, and strings of the user made inert in each of the places where they may stand."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any


def render(context: dict[str, Any], data: dict[str, Any]) -> str:
    """The page: `context` for the template, which escapes it, and `data` for the script, as JSON."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise ImportError("A report needs jinja2, which is not installed. Run `pip install cssvm[report]`.") from error
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    script, style = own_file("script.js"), own_file("style.css")
    return environment.from_string(own_file("template.html")).render(
        **context,
        json=Markup(inert_json(data)),
        script=Markup(script),
        style=Markup(style),
        script_hash=content_hash(script),
        style_hash=content_hash(style),
    )


def own_file(name: str) -> str:
    """The text of a file of this package."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def inert_json(data: Any) -> str:
    r"""JSON for a block of an HTML page: without ``<``, ``>`` and ``&``, so that no markup starts or ends in it.

    All but ASCII is written as ``\u....`` as well, the line separators U+2028 and U+2029 among it.
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def content_hash(text: str) -> str:
    """How a content security policy names an inline script or style sheet."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
