"""CSV: UTF-8 with a header; its separator, its rows, and quotes that do not end where they should.

    line        ends with a line feed, a carriage return or both, and with nothing else
    header      the first line that is not blank
    separator   comma, semicolon or tab: one by which header and first row have equally many entries, if there is one,
                and of these, or else of all, the one that gives the header the most
    quote       opens an entry only as its first character, so 5" is an entry; it must be closed, and an entry of
                several lines ends with its quote
    blank line  left out; a gap if there is one column only

The parser is Arrow's, which takes a quote that is not closed for the end of the table.
"""

from __future__ import annotations

import csv
import io
import re
import time
import weakref
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO

from .chunk import Chunk, TableError, check_names, iter_chunks

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 2**21  # bytes parsed at a time, some of them ahead; a row must fit
CHUNK_BYTES = 2**24  # of entries as text; a chunk of many columns has fewer rows
SEPARATORS = ",;\t"
BEFORE_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\v\f]*(?:\r\n|\n|\r))*")
LINE, LINE_END = re.compile(rb"[^\r\n]+"), re.compile(rb"\r\n|\n|\r")
WRONG_LENGTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
RELEASE_SECONDS = 2.0  # a thread of Arrow lets go of a table within milliseconds
CONVERT = "Convert it, for example with iconv -f latin1 -t utf-8."
CLOSE = "Close the quote, or write a quote that belongs to an entry twice."


def read_csv(stream: BinaryIO, head: bytes, name: str, n_rows: int, *, whole: bool) -> Iterator[Chunk]:
    """The rows of a CSV, at most `n_rows` at a time; `head` is its beginning, or the `whole` of it."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    start = BEFORE_HEADER.match(head)
    assert start is not None
    header, separator = _header(head[start.end() :], name, whole=whole)
    stream.read(start.end())
    options = {
        "read_options": arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=separator, newlines_in_values=True, ignore_empty_lines=len(header) > 1
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()), strings_can_be_null=False
        ),
    }
    named = [k for k, column in enumerate(header) if column.strip()]
    watched = _Watched(stream, name, separator, blank_rows=len(header) == 1)
    if whole:  # Arrow's word on a header whose quote is open would come first
        watched.check_ahead(head[start.end() :])
    lent = _Lent(watched)
    try:
        for rows in _gathered(arrow_csv.open_csv(lent, **options), n_rows):
            rows = rows.select(named).rename_columns([header[k].strip() for k in named])
            yield from iter_chunks(rows, name, n_rows, typed=False)
    except pa.ArrowInvalid as error:
        raise _said(error, name) from error
    finally:
        held = weakref.ref(lent)
        del lent
        _wait_until_released(held)


def _wait_until_released(held: weakref.ref[_Lent]) -> None:
    """Wait until no thread of Arrow calls Python: one that does while the interpreter ends aborts the process."""
    end = time.monotonic() + RELEASE_SECONDS
    while held() is not None and time.monotonic() < end:
        time.sleep(0.001)


def _gathered(batches: Iterable[pa.RecordBatch], n_rows: int) -> Iterator[pa.Table]:
    """Batches joined until they have enough rows or bytes."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    try:
        for batch in batches:
            waiting.append(batch)
            if sum(map(len, waiting)) >= n_rows or sum(each.nbytes for each in waiting) >= CHUNK_BYTES:
                yield pa.Table.from_batches(waiting)
                waiting = []
        if waiting:
            yield pa.Table.from_batches(waiting)
    finally:
        del batches  # the traceback of an error would keep the reader


def _header(head: bytes, name: str, *, whole: bool) -> tuple[list[str], str]:
    """The names of a CSV's columns as they are written, and what separates them."""
    try:
        text = head.decode("utf-8", errors="strict" if whole else "ignore")
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is no UTF-8 text. {CONVERT}") from error
    if not text.strip():
        raise TableError(f"{name} is empty. Give a table with a header and at least one row.")
    try:
        header, separator = _separated(text)
    except csv.Error as error:
        raise TableError(f"{name} has a header that cannot be read: {error}. {CLOSE}") from error
    for column in header:
        if column[:1].isspace() and column.lstrip().startswith('"'):
            raise TableError(
                f"{name} has a blank in front of the quote of the column {column.strip()}. Write no blanks between "
                "separators and quotes."
            )
    check_names([column.strip() for column in header if column.strip()], name)
    return header, separator


def _separated(text: str) -> tuple[list[str], str]:
    """The entries of the header by the separator that suits it and the first row best, and that separator."""
    found: dict[tuple[bool, int], tuple[list[str], str]] = {}
    for separator in SEPARATORS:
        header, *rows = islice(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=separator)), 2)
        suits = len(header) > 1 and all(len(row) == len(header) for row in rows)
        found.setdefault((suits, len(header)), (header, separator))
    return found[max(found)]


class _Lent:
    """What Arrow holds of a table: gone when Arrow has released it; no traceback has it, as it has no methods."""

    closed = False

    def __init__(self, stream: _Watched):
        self.read = stream.read


class _Watched(io.RawIOBase):
    """The bytes of a CSV from its header on, as they are read; an entry whose quote ends wrongly is refused.

    Rows are counted from the header on; blank lines are rows, or they are not. Only whole rows are looked at, and only
    those that are not plain, which have quotes around entries of one line at most, more than once; the rest waits.
    """

    def __init__(self, stream: BinaryIO, name: str, separator: str, *, blank_rows: bool):
        super().__init__()
        ends = rb"[\r\n%s]" % separator.encode()
        first = rb'"(?<=%s")' % ends
        self.stream, self.name, self.separator, self.blank_rows = stream, name, separator, blank_rows
        self.n_rows = 0
        inside = rb"[^\r\n%s]" % separator.encode()
        self.plain = re.compile(rb'\n(?:(?:"(?:[^"\r\n]++|"")*+"|(?!")%s++|)%s)*+' % (inside, ends))
        self.opening, self.quoted = re.compile(first), re.compile(first + rb'(?:[^"]++|"")*+"')
        self.end_of_entry = re.compile(ends + rb"|\Z")
        self.waiting = b""

    def readable(self) -> bool:
        """That it can be read, which Arrow asks."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, after a look at the rows that they complete."""
        block = self.stream.read(size)
        text = b"\n" + self.waiting + block  # so that the first entry begins as all others do
        end = 1 + _last_line_end(text) if block else len(text)
        self.waiting = self._looked_at(text[:end], at_end=not block) + text[end:]
        if len(self.waiting) > BLOCK and self.opening.search(b"\n" + self.waiting):
            raise self._refused(b"", f"that is not closed within {BLOCK // 2**20} MB")
        return block

    def check_ahead(self, text: bytes) -> None:
        """Refuse a whole text, read beforehand, as it would be when read."""
        ahead = _Watched(io.BytesIO(text), self.name, self.separator, blank_rows=self.blank_rows)
        while ahead.read(BLOCK):
            pass

    def _looked_at(self, lines: bytes, *, at_end: bool) -> bytes:
        """Count the rows of whole lines, and return what of them belongs to a row with an open quote."""
        if b'"' in lines:
            lines = self._after_plain(lines)
            plain = self.quoted.sub(b"q", lines)
            self._check_ends(lines)
            opened = self.opening.search(plain)
            if opened is not None:
                if at_end:
                    raise self._refused(plain[: opened.start()], "that is not closed")
                done = 1 + _last_line_end(plain[: opened.start() + 1])
                self.n_rows += self._count(plain[:done])
                return plain[done:]
            lines = plain
        self.n_rows += self._count(lines)
        return b""

    def _after_plain(self, lines: bytes) -> bytes:
        """Count the rows up to the first one that is not plain, and return the others."""
        found = self.plain.match(lines)
        assert found is not None
        done = 1 + _last_line_end(found[0] + b" ")
        self.n_rows += self._count(lines[:done])
        return b"\n" + lines[done:]

    def _check_ends(self, lines: bytes) -> None:
        """Refuse an entry of several lines that goes on after its quote: that is the first one of the next entry."""
        for found in self.quoted.finditer(lines):
            if LINE_END.search(found[0]) and not self.end_of_entry.match(lines, found.end()):
                raise self._refused(
                    self.quoted.sub(b"q", lines[: found.start()]), "that is closed inside of another entry, lines later"
                )

    def _count(self, lines: bytes) -> int:
        """How many rows end in these lines, none of which has an end inside of quotes."""
        lines = lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n\n" in lines and not self.blank_rows:
            return len(LINE.findall(lines))
        return lines.count(b"\n") - lines.startswith(b"\n")

    def _refused(self, before: bytes, what: str) -> TableError:
        """The error about a quote, with the text in front of it."""
        row = self.n_rows + self._count(before[: 1 + _last_line_end(before + b" ")])
        where = f"row {row:,}" if row else "its header"
        return TableError(f"{self.name} has a quote in {where} {what}. {CLOSE}")


def _last_line_end(text: bytes) -> int:
    """Where the last line ends, -1 if nowhere; a carriage return as the last character may be half of an end."""
    return max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))


def _said(error: Exception, name: str) -> TableError:
    """What is wrong with a CSV, in the row numbers of this library: the header is not counted."""
    said = str(error)
    found = WRONG_LENGTH.search(said)
    if found:
        row, expected, got = map(int, found.groups())
        return TableError(
            f"{name} has {got} entries in row {row - 1:,} but {expected} columns. Quote entries that hold the "
            "separator."
        )
    if "UTF8" in said:
        return TableError(f"{name} is no UTF-8 text. {CONVERT}")
    return TableError(f"{name} is no CSV that can be read: {said.splitlines()[0]}")
