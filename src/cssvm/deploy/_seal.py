"""The outermost layer of a model file: whole, of a known format, and never half-written.

A model file is a zip archive whose comment, its last bytes, is the seal

    cssvm-model format=1 sha256=<64 hexadecimal digits>

The digest is of all bytes before it, so that any damage shows, wherever it is. It does not show who wrote the file:
whoever can alter a file can seal it anew. Hence the trust list and the checks of what is inside.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from .._runtime.files import atomic_write

MESSAGE_LIMIT = 2000  # a message quotes what a file holds
FORMAT = 1  # raised when a file of today could not be read by the code of before
PATTERN = re.compile(rb"cssvm-model format=(\d{1,9}) sha256=$")
DIGITS = 64
UNSEALED = f"cssvm-model format={FORMAT} sha256=".encode() + b"0" * DIGITS


class ModelFileError(ValueError):
    """A model file that cannot be written, or must not be read; the message says why, in `MESSAGE_LIMIT` characters."""

    def __init__(self, message: str):
        super().__init__(message if len(message) <= MESSAGE_LIMIT else f"{message[:MESSAGE_LIMIT]}...")


def sealed(content: bytes) -> bytes:
    """An archive with the comment `UNSEALED`, its digest put in."""
    body = content[:-DIGITS]
    return body + _digest(body)


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def check_seal(content: bytes, path: Path) -> None:
    """Refuse bytes that are no whole model file of a format known here."""
    if not content:
        raise ModelFileError(f"{path} is empty. Save the model again with save_model.")
    body, found = content[:-DIGITS], content[-DIGITS:]
    sealed = PATTERN.search(body[-2 * DIGITS :])
    if sealed is None:
        raise ModelFileError(
            f"{path} is no model file of cssvm, or has lost its end: its last bytes are not the seal that save_model "
            "writes. Copy the file again, or save the model again with save_model."
        )
    number = int(sealed[1])
    if _digest(body) != found:
        raise ModelFileError(
            f"{path} was damaged or altered after it was saved: its bytes do not match their digest. Copy the file "
            "again, or save the model again with save_model."
        )
    if number != FORMAT:
        raise ModelFileError(
            f"{path} has format {number}; this version of cssvm reads format {FORMAT}. "
            + ("Install a newer version of cssvm." if number > FORMAT else "Save the model again with save_model.")
        )


def write_whole(content: bytes, path: Path) -> None:
    """Write a file that is there either as a whole or not at all."""
    with atomic_write(path) as file:
        file.write(content)
