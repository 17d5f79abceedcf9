"""Checks of the sizes and the schema of a model file before skops reads it.

skops checks which types a file names, not what they are made of: a number in the schema can become an allocation, and a
small member can unpack to any size. Everything together may take `FLOOR` bytes plus `RATIO` times the size of the file,
so that a small file is cheap to reject; `save_model` writes no file that takes more.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Iterator
from types import NoneType
from typing import Any

import numpy as np

from ._trusted_types import LOADERS

CARD, SCHEMA = "card.json", "schema.json"
FLOOR = 16 * 2**20
RATIO = 100  # deflate reaches 1,000
CARD_LIMIT = 8 * 2**20
VALUE_BYTES = 64  # that a value of JSON takes once it is parsed
NODE_BYTES = 2048  # that skops takes for an object, for its list of trusted types; some take twice that
CHARACTER_BYTES = 4  # that a character of JSON takes if one of its text is not Latin
MEMBER_BYTES = 150  # of the archive that a member must take on average; those of models take 300, empty ones 86
MAX_MEMBERS = 2**16 - 1  # as many as an archive without 64-bit extensions can have
MAX_DEPTH = 200  # of JSON; a search with a pipeline has 40
MAX_PASSES = 10  # until sizes of objects that occur before they are written out are known; honest ones take 2
MAX_HEADER = 512  # bytes of the header of an array
MAX_ENTRY_BYTES = 2**14  # of one text or record in an array
DIRECTORY_ENTRY = b"PK\x01\x02"  # begins the entry of a member
# NumPy unfolds what an array of objects of several dimensions holds. Gradient boosting has one of these, in lists.
UNFOLDED = ("ObjectNode", "sklearn.tree._classes", "DecisionTreeRegressor")
SUFFIXES = {"NdArrayNode": ".npy", "SparseMatrixNode": ".npz"}


def allowance(content: bytes) -> int:
    """The bytes that the members of an archive with this content may take together, unpacked."""
    return FLOOR + RATIO * len(content)


def open_archive(content: bytes, allowed: int | None = None) -> zipfile.ZipFile:
    """The archive in `content`; raises ValueError if its members are too many or too large, before any is unpacked."""
    allowed = allowance(content) if allowed is None else allowed
    most = min(MAX_MEMBERS, len(content) // MEMBER_BYTES)
    if content.count(DIRECTORY_ENTRY) > most:
        raise ValueError(f"it has more than {most:,} members, the most that are allowed for its size")
    archive = zipfile.ZipFile(io.BytesIO(content))
    members = archive.infolist()
    size = _unpacked(archive)
    if len({member.filename for member in members}) < len(members):
        raise ValueError("two of its members have the same name")
    # zipfile reads no more of such members than their entries state.
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise ValueError("its members must be stored or deflated")
    if size > allowed:
        raise ValueError(f"it would unpack to {size:,} bytes, and {allowed:,} are allowed for its size")
    return archive


def _unpacked(archive: zipfile.ZipFile) -> int:
    """The bytes that the members of an archive have together."""
    return sum(member.file_size for member in archive.infolist())


def read_card(archive: zipfile.ZipFile, allowed: int) -> str:
    """The text of the card."""
    size = archive.getinfo(CARD).file_size
    if size > CARD_LIMIT:
        raise ValueError(f"{CARD} would unpack to {size:,} bytes, and {CARD_LIMIT:,} are allowed")
    return _checked_json(CARD, archive.read(CARD), allowed).decode()


def untrusted_nodes(archive: zipfile.ZipFile, trusted: tuple[str, ...], allowed: int) -> set[str]:
    """Types in the schema that `LOADERS` does not list for their loader, and that are not `trusted`.

    Raises ValueError for arrays whose headers do not match their sizes, and for a schema that is too large or too deep.
    """
    left = allowed - _unpacked(archive)
    for member in archive.infolist():
        if member.filename.endswith(".npy"):
            _check_array(archive, member)
        elif member.filename.endswith(".npz"):
            with open_archive(archive.read(member), left) as inner:
                left -= _unpacked(inner)
                for part in inner.infolist():
                    _check_array(inner, part)
    schema = json.loads(_checked_json(SCHEMA, archive.read(SCHEMA), allowed))
    nodes = list(_nodes(schema))
    _check_shared(schema, allowed)
    unknown, owners = set(), dict[str, int]()
    held: dict[Any, set[tuple[Any, ...]]] = {}  # kinds of objects in each list, by its id
    for node in nodes:
        if node["__loader__"] == "ListNode":
            held.setdefault(node["__id__"], set()).update(map(_kind, node["content"]))
    for node in nodes:
        loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
        listed = any(name == each or (each[-1] == "." and name.startswith(each)) for each in LOADERS.get(loader, ()))
        if not listed and name not in trusted:
            unknown.add(name)
        if node.get("type") == "json" and len(node["shape"]["content"]) != 1:
            rows = [held[each["__id__"]] if each["__loader__"] == "ListNode" else None for each in node["content"]]
            if not rows or any(row != {UNFOLDED} for row in rows):
                raise ValueError(f"an array of objects in {SCHEMA} must have one dimension")
        if "file" in node:  # skops reads it once for each id
            file, own = node["file"], node.get("__id__")
            if not (own and owners.setdefault(file, own) == own and file.endswith(SUFFIXES.get(loader, ""))):
                raise ValueError(f"a {loader} of {SCHEMA} has the file of another object")
    return unknown


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All dictionaries that skops could make an object from."""
    waiting = [(schema, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise ValueError(f"{SCHEMA} is nested more than {MAX_DEPTH} deep")
        if isinstance(value, dict):
            if "__loader__" in value or "__id__" in value:  # skops looks for an id first
                if type(value.get("__id__")) not in (int, NoneType):  # others may equal an integer, as 1.0 and True do
                    raise ValueError(f"an id in {SCHEMA} must be an integer")
                if not all(isinstance(value.get(key), str) for key in ("__loader__", "__module__", "__class__")):
                    raise ValueError(f"an object of {SCHEMA} must have a loader, a module and a class")
                yield value
            waiting += [(each, depth + 1) for each in value.values()]
        elif isinstance(value, list):
            waiting += [(each, depth + 1) for each in value]


def _kind(node: dict[str, Any]) -> tuple[str, str, str]:
    return node["__loader__"], node["__module__"], node["__class__"]


def _check_shared(schema: Any, allowed: int) -> None:
    """Raise ValueError if the objects of a schema would take more than is allowed, once all ids are replaced.

    skops makes an object once for each id: 60 nested lists that refer twice to the next would make 2^60.
    """
    sizes: dict[Any, int] = {}
    kinds: dict[Any, Any] = {}

    def size_of(value: Any) -> int:
        if isinstance(value, list):
            return VALUE_BYTES + sum(map(size_of, value))
        if not isinstance(value, dict):
            return VALUE_BYTES
        size = VALUE_BYTES + sum(map(size_of, value.values()))
        if "__loader__" not in value:
            return size
        own, content = value.get("__id__"), value.get("content")
        size += NODE_BYTES
        if isinstance(content, str):  # JSON in JSON; its brackets and commas may be escaped
            size += _size_of_json(content.encode(errors="replace"))
        if own is None:
            return size
        n_parts = len(content) if isinstance(content, list | dict) else 0
        kind = (*_kind(value), n_parts)
        if kinds.setdefault(own, kind) != kind:
            raise ValueError(f"two objects of {SCHEMA} have the same id")
        sizes[own] = max(size, sizes.get(own, 0))
        return sizes[own]

    before = -1
    for _ in range(MAX_PASSES):
        size = size_of(schema)
        if size == before:
            return
        if size > allowed:
            break
        before = size
    raise ValueError(f"{SCHEMA} would make more objects than are allowed for the size of its file")


def _checked_json(name: str, text: bytes, allowed: int) -> bytes:
    """The text; raises ValueError if it holds more values than its file may."""
    if _size_of_json(text) > allowed:
        raise ValueError(f"{name} holds more values than are allowed for the size of its file")
    return text


def _size_of_json(text: bytes) -> int:
    """The bytes that JSON takes once it is parsed, at most."""
    return CHARACTER_BYTES * len(text) + VALUE_BYTES * sum(map(text.count, (b",", b"[", b"{")))


def _check_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Raise ValueError unless a member is an array of numbers, short texts or records whose header matches its size."""
    with archive.open(member) as file:
        start = io.BytesIO(file.read(2 * MAX_HEADER))
    headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = headers[np.lib.format.read_magic(start)](start, max_header_size=MAX_HEADER)
    kinds = {dtype.kind} if dtype.names is None else {dtype[name].kind for name in dtype.names}
    if not kinds <= set("biuf" if dtype.names else "biufSU") or dtype.itemsize > MAX_ENTRY_BYTES:
        raise ValueError(f"{member.filename} must hold numbers or short texts; its dtype is {dtype}")
    n_bytes = member.file_size - start.tell()
    if min(shape, default=0) < 0 or not math.prod(shape) <= math.prod(shape) * dtype.itemsize == n_bytes:
        raise ValueError(f"{member.filename} has {member.file_size:,} bytes, which do not match the shape {shape}")
