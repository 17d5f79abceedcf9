"""CSV: UTF-8 with a header and one of three separators, as docs/cli.md describes it.

The parser is Arrow's, which takes a quote that is not closed for the end of the table: `QuoteChecker` finds these.
"""

from __future__ import annotations

import csv
import io
import re
import time
import weakref
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from .chunk import Chunk, TableError, check_names, iter_chunks

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 2**21  # bytes parsed at a time, some of them ahead; a row must fit
CHUNK_BYTES = 2**24  # of entries as text; a chunk of many columns has fewer rows
SEPARATORS = ",;\t"
BEFORE_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t\v\f]*(?:\r\n|\n|\r))*")
LINE = re.compile(rb"[^\r\n]+")
WRONG_LENGTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")
RELEASE_SECONDS = 2.0  # a thread of Arrow lets go of a table within milliseconds
CONVERT = "Convert it, for example with iconv -f latin1 -t utf-8."
CLOSE = "Close the quote, or write a quote that belongs to an entry twice."


def read_csv(stream: BinaryIO, head: bytes, name: str, n_rows: int, *, whole: bool) -> Iterator[Chunk]:
    """Yield at most `n_rows` rows of a CSV at a time; `head` is its beginning, or the `whole` of it."""
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
    if whole:  # otherwise Arrow would report a header whose quote is open
        QuoteChecker(stream, name, separator, blank_rows=len(header) == 1).check(head[start.end() :], at_end=True)
    lent = _Lent(QuoteChecker(stream, name, separator, blank_rows=len(header) == 1))
    try:
        for rows in _gathered(arrow_csv.open_csv(lent, **options), n_rows):
            rows = rows.select(named).rename_columns([header[k].strip() for k in named])
            yield from iter_chunks(rows, name, n_rows, typed=False)
    except pa.ArrowInvalid as error:
        raise _arrow_error(error, name) from error
    finally:
        # Wait until no thread of Arrow calls Python: one that does while the interpreter ends aborts the process.
        held = weakref.ref(lent)
        del lent
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
    """The names of the columns as they are written, and the separator."""
    try:
        text = head.decode("utf-8", errors="strict" if whole else "ignore")
    except UnicodeDecodeError as error:
        raise TableError(f"{name} is not UTF-8 text. {CONVERT}") from error
    if not text.strip():
        raise TableError(f"{name} is empty. Give a table with a header and at least one row.")
    try:
        header, separator = _separated(text)
    except csv.Error as error:
        raise TableError(f"{name} has a header that cannot be read: {error}. {CLOSE}") from error
    for column in header:
        if column[:1].isspace() and column.lstrip().startswith('"'):
            raise TableError(f"{name} has a blank in front of the quote of the column {column.strip()}. Remove it.")
    check_names([column.strip() for column in header if column.strip()], name)
    return header, separator


def _separated(text: str) -> tuple[list[str], str]:
    """The entries of the header, by the separator that suits it and the first row best, and that separator."""
    found: dict[tuple[bool, int], tuple[list[str], str]] = {}
    for separator in SEPARATORS:
        header, *rows = islice(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=separator)), 2)
        suits = len(header) > 1 and all(len(row) == len(header) for row in rows)
        found.setdefault((suits, len(header)), (header, separator))
    return found[max(found)]


class _Lent:
    """The file that Arrow gets: released when Arrow has released it; no traceback holds it, as it has no methods."""

    closed = False

    def __init__(self, stream: QuoteChecker):
        self.read = stream.read


class QuoteChecker(io.RawIOBase):
    """The bytes of a CSV from its header on, whose rows are checked as they are read.

    Plain rows, with quotes only around entries of one line, are found by an expression, others parsed by `csv.reader`.
    """

    def __init__(self, stream: BinaryIO, name: str, separator: str, *, blank_rows: bool):
        super().__init__()
        ends, inside = rb"[\r\n%s]" % separator.encode(), rb"[^\r\n%s]" % separator.encode()
        self.plain = re.compile(rb'(?:(?:"(?:[^"\r\n]++|"")*+"|(?!")%s++|)%s)*+' % (inside, ends))
        self.stream, self.name, self.separator, self.blank_rows = stream, name, separator, blank_rows
        self.n_rows = 0  # the header is one; blank lines are if `blank_rows`
        self.waiting = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes, after a check of the rows that they complete."""
        block = self.stream.read(size)
        text = self.waiting + block
        end = 1 + _last_line_end(text) if block else len(text)
        self.waiting = self.check(text[:end], at_end=not block) + text[end:]
        if len(self.waiting) > BLOCK and b'"' in self.waiting:
            raise self._error(f"that is not closed within {BLOCK // 2**20} MB")
        return block

    def check(self, lines: bytes, *, at_end: bool) -> bytes:
        """Count the rows of whole lines, and return those of a row whose quote is open."""
        if b'"' in lines:
            found = self.plain.match(lines)
            assert found is not None
            done = 1 + _last_line_end(found[0] + b" ")
            self._count(lines[:done])
            return self._parse(lines[done:].splitlines(keepends=True), at_end=at_end)
        self._count(lines)
        return b""

    def _parse(self, lines: list[bytes], *, at_end: bool) -> bytes:
        """Do the same for rows that are not plain."""
        csv.field_size_limit(max(2 * BLOCK, csv.field_size_limit()))
        rows, first = csv.reader((line.decode("latin-1") for line in lines), delimiter=self.separator, strict=True), 0
        while first < len(lines):
            row: Any = True
            try:
                row = next(rows)
            except csv.Error as error:
                if "unexpected end" in str(error):
                    if at_end:
                        raise self._error("that is not closed") from error
                    return b"".join(lines[first:])
                if rows.line_num > first + 1:  # what follows a quote on the same line belongs to the entry
                    raise self._error("that is closed inside of another entry, lines later") from error
            self.n_rows += bool(row) or self.blank_rows
            first = rows.line_num
        return b""

    def _count(self, lines: bytes) -> None:
        """Count the rows of lines that each are one."""
        lines = lines.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n\n" in lines and not self.blank_rows:
            self.n_rows += len(LINE.findall(lines))
        else:
            self.n_rows += lines.count(b"\n")

    def _error(self, what: str) -> TableError:
        where = f"row {self.n_rows:,}" if self.n_rows else "its header"
        return TableError(f"{self.name} has a quote in {where} {what}. {CLOSE}")


def _last_line_end(text: bytes) -> int:
    """Where the last line ends, -1 if nowhere; a final carriage return may be half of a line end."""
    return max(text.rfind(b"\n"), text.rfind(b"\r", 0, -1))


def _arrow_error(error: Exception, name: str) -> TableError:
    """What is wrong with a CSV, with rows counted without the header."""
    text = str(error)
    found = WRONG_LENGTH.search(text)
    if found:
        row, expected, got = map(int, found.groups())
        return TableError(
            f"{name} has {got} entries in row {row - 1:,} but {expected} columns. Quote entries that hold separators."
        )
    if "UTF8" in text:
        return TableError(f"{name} is not UTF-8 text. {CONVERT}")
    return TableError(f"{name} is not a readable CSV: {text.splitlines()[0]}")
