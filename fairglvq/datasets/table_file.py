"""Bytes of a CSV or Parquet file, or pasted text, become a frame; and a frame becomes a CSV that is safe to open.

Everything that can be wrong with a file is a `TableError`: one sentence that names the row or the column. Rows are
counted as a spreadsheet counts them, the header being row 1, and the frame's index keeps these numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "?", "-"})
"""Cells that say "no value here"."""

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
Tell = Callable[[float], None]
PACE = 50_000  # rows between two words about progress
MOST_COLUMNS = 1000
MOST_PARQUET_ROWS = 20_000_000
MOST_PARQUET_BYTES = 4 * 2**30  # unpacked: a small file can hold a very large table

# Marks that turn the reading direction of everything behind them, and control characters: nothing a table needs, and
# able to make one name look like another.
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?\d+(,\d+)?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MAGIC = {
    b"PK\x03\x04": "an Excel workbook or another packed file: save the sheet as CSV first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV first",
    b"\x1f\x8b": "packed (gzip): unpack it first",
    b"%PDF": "a PDF: save the table as CSV first",
}


class TableError(ValueError):
    """A table cannot be used; the message is one sentence for whoever brought it."""


@dataclass(frozen=True)
class Reading:
    """A frame, what the file is in one sentence, and what to keep in mind about how it was read.

    ``n_rows`` counts the rows of the whole file, of which ``frame`` may hold a sample.
    """

    frame: pd.DataFrame
    summary: str
    notes: tuple[str, ...]
    n_rows: int


def quoted(name: object, most: int = 60) -> str:
    """A name as it stands in a sentence: in quotation marks, cut if long, its reading direction kept to itself."""
    text = str(name)
    text = text if len(text) <= most else text[: most - 1] + "…"
    return f"“\u2068{text}\u2069”" if _RIGHT_TO_LEFT.search(text) else f"“{text}”"


def read(
    content: bytes,
    name: str = "",
    *,
    most_rows: int | None = None,
    skip_ragged: bool = False,
    seed: int = 0,
    tell: Tell | None = None,
) -> Reading:
    """Read a CSV or Parquet file; which of the two it is, the bytes say and not the name.

    Of more than ``most_rows`` rows a random sample of that size is taken (``seed``), in the file's order.
    ``skip_ragged`` leaves out rows that have more or fewer values than the header, instead of refusing the file.
    ``tell`` hears the share of the work done now and then, and may raise to stop it.
    """
    if content[:4] == b"PAR1":
        return _read_parquet(content, most_rows, seed, tell)
    if name.lower().endswith((".parquet", ".pq")):
        raise TableError(f"{quoted(name)} is called Parquet, but it is not a Parquet file or it is damaged.")
    for magic, words in _MAGIC.items():
        if content.startswith(magic):
            raise TableError(f"The file is {words}.")
    text, note = _decoded(content)
    return _read_text(text, [note] if note else [], most_rows, skip_ragged, seed, tell)


def read_text(
    text: str, *, most_rows: int | None = None, skip_ragged: bool = False, seed: int = 0, tell: Tell | None = None
) -> Reading:
    """Read a pasted table: what a spreadsheet puts on the clipboard, or the text of a CSV file."""
    return _read_text(text.removeprefix("\ufeff"), [], most_rows, skip_ragged, seed, tell)


def write(frame: pd.DataFrame) -> bytes:
    """A frame as CSV (UTF-8 with a mark that Excel understands), safe to open in a spreadsheet.

    Text that a spreadsheet would run as a formula gets an apostrophe in front, column names too.
    """
    safe = pd.DataFrame(index=frame.index)
    for position in range(frame.shape[1]):
        column = frame.iloc[:, position]
        if not pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_datetime64_any_dtype(column):
            column = column.map(lambda value: _defused(value) if isinstance(value, str) else value)
        safe.insert(position, position, column)
    safe.columns = pd.Index([_defused(str(name)) for name in frame.columns])
    return b"\xef\xbb\xbf" + safe.to_csv(index=False).encode()


def _defused(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


# Text


def _decoded(content: bytes) -> tuple[str, str]:
    """The text of a file, and a sentence where its encoding had to be guessed."""
    if not content.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00"):
        raise TableError("The file is empty.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _strictly(content, "utf-16", "UTF-16"), "The file is UTF-16 and was read as that."
    if content.startswith(b"\xef\xbb\xbf"):
        return _strictly(content[3:], "utf-8", "UTF-8"), ""
    if b"\x00" in content[:4000]:
        # Western text in UTF-16 has a zero in every other byte; nothing else that is a table does.
        even, odd = content[:4000:2].count(0), content[1:4000:2].count(0)
        if max(even, odd) < 0.4 * len(content[:4000:2]) or min(even, odd) > 0:
            raise TableError("The file is not a table in text form: it holds zero bytes. Save it as CSV in UTF-8.")
        codec = "utf-16-le" if odd > even else "utf-16-be"
        return _strictly(content, codec, "UTF-16"), "The file is UTF-16 without a mark and was read as that."
    try:
        return content.decode("utf-8"), ""
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
    note = (
        f"The file is not UTF-8 (line {line}): it was read as Windows-1252. Check names with accents, and save the "
        "file as UTF-8 if they look wrong."
    )
    return _strictly(content, "cp1252", "Windows-1252"), note


def _strictly(content: bytes, codec: str, words: str) -> str:
    try:
        return content.decode(codec)
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        also = " nor UTF-8" if codec == "cp1252" else ""
        raise TableError(
            f"Line {line} holds the byte 0x{content[problem.start]:02X}, which is not {words}{also}: save the file as "
            "UTF-8 and try again."
        ) from None


def _read_text(
    text: str, notes: list[str], most_rows: int | None, skip_ragged: bool, seed: int, tell: Tell | None
) -> Reading:
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise TableError(f"Line {line} holds a zero byte, which is no text: save the file as CSV in UTF-8.")
    if _CONTROL.search(text):
        text = _CONTROL.sub("", text)
        notes.append("Invisible control characters were taken out.")
    if not text.strip():
        raise TableError("The file is empty.")
    start = text.lstrip()[:200].lower()
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise TableError("This is a web page or XML and not a table: download the table itself as CSV.")
    if re.match(r'[\[{]\s*["{\[\]}]', start):
        raise TableError("This is JSON and not a table: save it as CSV first.")
    separator = _separator(text)
    rows = _Rows(text, separator, tell or (lambda share: None))
    header, first = rows.header()
    names, renamed = _names(header)
    notes += renamed
    numbers, cells, n, ragged = rows.collect(len(names), first, most_rows, skip_ragged, seed)
    if ragged:
        what, were = ("row", "was") if ragged == 1 else ("rows", "were")
        notes.append(f"{ragged:,} {what} with too many or too few values {were} left out.")
    if n == 0:
        raise TableError("The file has a header but not a single row below it.")
    if len(cells) < n:
        notes.append(_sampled(n, len(cells)))
    columns = list(zip(*cells, strict=True))
    del cells
    index = pd.Index(numbers, name="row")
    frame = pd.DataFrame(
        {name: _typed(column, separator != ",") for name, column in zip(names, columns, strict=True)},
    ).set_index(index)
    summary = f"{n:,} rows and {len(names):,} columns, separated by {SEPARATORS[separator]}s."
    return Reading(frame, summary, tuple(notes), n)


class _Rows:
    """The rows of a text, numbered as in a spreadsheet; blank ones count but are passed over."""

    def __init__(self, text: str, separator: str, tell: Tell):
        self.text, self.separator, self.tell = text, separator, tell
        self.lines = text.count("\n") + 1

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        reader = _reader(self.text, self.separator)
        number = lines = 0
        row: list[str] = []
        try:
            for number, row in enumerate(reader, start=1):
                if any(map(str.strip, row)):
                    yield number, row
                lines, before = reader.line_num, lines
        except csv.Error as problem:
            raise TableError(
                f"Row {number + 1} cannot be read ({problem}): look for a quotation mark that is not closed."
            ) from None
        if row and "\n" in row[-1] and lines - before > 1 and self.text.count('"') % 2:
            raise TableError(f"In row {number:,} a quotation mark is opened and never closed.")

    def header(self) -> tuple[list[str], int]:
        """The names, and the number of the row from which on there are people."""
        number, row = next(iter(self))
        while len(row) > 1 and not row[-1].strip():
            row = row[:-1]
        if len(row) > MOST_COLUMNS:
            raise TableError(f"The table has {len(row):,} columns; at most {MOST_COLUMNS:,} can be used.")
        if all(_NUMBER.fullmatch(cell.strip()) for cell in row):
            return [""] * len(row), number  # no header: the first row is a person
        return row, number + 1

    def collect(
        self, width: int, first: int, most: int | None, skip: bool, seed: int
    ) -> tuple[list[int], list[list[str]], int, int]:
        """Numbers and cells of all rows or of a sample, how many there are in the file, and how many did not fit.

        Without a single quotation mark a row is a line, which can be counted without being taken apart: about three
        times as fast for a million rows of which a sample is wanted. Otherwise a long file is gone through twice.
        """
        rows = self._by_line(width, first) if '"' not in self.text else self._by_row(width, first)
        numbers: list[int] = []
        cells: list[str | list[str]] = []
        ragged, why, n = 0, "", 0
        for number, row, found in rows:
            if number % PACE == 0:
                self.tell(0.7 * min(1.0, number / self.lines))
            if found != width:
                ragged += 1
                why = why or _ragged(number, found, width)
                continue
            n += 1
            # Lines are there anyway; rows that were taken apart are kept only as long as they may all be wanted.
            if isinstance(row, str) or most is None or n <= most:
                numbers.append(number)
                cells.append(row)
        if ragged and not skip:
            raise RaggedError(why + (f" There are {ragged:,} such rows." if ragged > 1 else ""), ragged)
        if most is not None and n > most:
            chosen = np.sort(np.random.default_rng(seed).choice(n, most, replace=False)).tolist()
            if len(cells) == n:
                numbers, cells = [numbers[i] for i in chosen], [cells[i] for i in chosen]
            else:
                numbers, cells = self._pick(chosen, width, first)
        self.tell(0.9)
        return numbers, [self._cut(row, width) if isinstance(row, str) else row for row in cells], n, ragged

    def _by_row(self, width: int, first: int) -> Iterator[tuple[int, list[str], int]]:
        """Number, cells, and how many there are."""
        for number, row in self:
            if number >= first:
                _trim(row, width)
                yield number, row, len(row)

    def _by_line(self, width: int, first: int) -> Iterator[tuple[int, str, int]]:
        """Number, line, and how many cells it has."""
        separator = self.separator
        nothing = separator + " \t"
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for number, line in enumerate(lines, start=1):
            if number < first or not line or (line[0] in nothing and not line.strip(nothing)):
                continue
            found = line.count(separator) + 1
            yield number, line, found if found <= width else len(self._cut(line, width))

    def _cut(self, line: str, width: int) -> list[str]:
        row = line.split(self.separator)
        _trim(row, width)
        return row

    def _pick(self, chosen: list[int], width: int, first: int) -> tuple[list[int], list[str | list[str]]]:
        fitting = ((number, row) for number, row, found in self._by_row(width, first) if found == width)
        numbers: list[int] = []
        cells: list[str | list[str]] = []
        wanted = iter(chosen)
        following = next(wanted)
        for position, (number, row) in enumerate(fitting):
            if position == following:
                numbers.append(number)
                cells.append(row)
                if (following := next(wanted, -1)) < 0:
                    break
        return numbers, cells


class RaggedError(TableError):
    """Some rows do not have as many values as the header; ``n`` says how many."""

    def __init__(self, message: str, n: int):
        super().__init__(message)
        self.n = n


def _ragged(number: int, found: int, width: int) -> str:
    values = "1 value" if found == 1 else f"{found:,} values"
    return f"Row {number:,} has {values}, but the header names {width:,} columns (the header is row 1)."


def _trim(row: list[str], width: int) -> None:
    """Cut empty cells behind the last column, which many programs write."""
    while len(row) > width and not row[-1].strip():
        row.pop()


def _reader(text: str, separator: str) -> Any:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)


def _separator(text: str) -> str:
    """The separator that cuts most of the first rows into the same number of values, and into most of them."""
    best, found = (0.0, 0), ""
    for candidate in SEPARATORS:
        widths: list[int] = []
        with suppress(csv.Error):  # said later, with its row
            widths.extend(len(row) for row in islice(_reader(text[:200_000], candidate), 100) if row)
        if widths and max(widths) > 1:
            same = widths.count(widths[0]) / len(widths) if widths[0] > 1 else 0.0
            # Rows may be ragged; a separator that the header does not have is none.
            if same and (round(same, 1), widths[0]) > best:
                best, found = (round(same, 1), widths[0]), candidate
    if not found:
        raise TableError(
            "Only one column was found: values must be separated by commas, semicolons, tabs or vertical bars."
        )
    return found


def _names(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names of the columns, each different, and what had to be done for that."""
    names: list[str] = []
    notes: list[str] = []
    if not any(header):
        notes.append("The first row holds numbers only, so it was taken for a person: columns are counted instead.")
    for position, cell in enumerate(header, start=1):
        name = " ".join(cell.split())
        if not name:
            name = f"column {position}"
            if any(header):
                notes.append(f"Column {position} has no name: it is called {quoted(name)}.")
        if name in names:
            first, number = names.index(name) + 1, 2
            while f"{name} ({number})" in names or f"{name} ({number})" in header:
                number += 1
            new = f"{name} ({number})"
            notes.append(f"Columns {first} and {position} are both called {quoted(name)}: the second is {quoted(new)}.")
            name = new
        names.append(name)
    return names, notes


def _typed(cells: Sequence[str], decimal_comma: bool) -> pd.Series:
    """Numbers if every cell that says something is one, else text; nothing is run and nothing is guessed further."""
    codes, found = pd.factorize(np.fromiter(cells, dtype=object, count=len(cells)))  # most cells repeat others
    values = [None if cell.strip() in MISSING else cell.strip() for cell in found.tolist()]
    told = [value for value in values if value is not None]
    numbers = None
    if told and all(map(_NUMBER.fullmatch, told)):
        if not any(map(_padded, told)):
            numbers = [np.nan if value is None else float(value) for value in values]
    elif decimal_comma and told and all(map(_COMMA_NUMBER.fullmatch, told)):
        numbers = [np.nan if value is None else float(value.replace(",", ".")) for value in values]
    if numbers is not None:
        return pd.Series(np.array(numbers)[codes])
    return pd.Series(np.array(values, dtype=object)[codes], dtype="str")


def _padded(value: str) -> bool:
    """Whether it is a code such as 007, which loses its zeros as a number."""
    return len(value) > 1 and value[0] == "0" and value.isdigit()


def _sampled(n: int, most: int) -> str:
    return f"The file has {n:,} rows: a random sample of {most:,} of them is used."


# Parquet


def _read_parquet(content: bytes, most_rows: int | None, seed: int, tell: Tell | None) -> Reading:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise TableError("Parquet files need the package pyarrow: install it, or save the table as CSV.") from None
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        meta = file.metadata
        size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        n = meta.num_rows
        if n > MOST_PARQUET_ROWS or size > MOST_PARQUET_BYTES:
            raise TableError(
                f"The file unpacks to {n:,} rows and {size / 2**30:,.1f} GB; at most {MOST_PARQUET_ROWS:,} rows and "
                f"{MOST_PARQUET_BYTES // 2**30} GB can be read. Save a part of it."
            )
        if len(file.schema_arrow.names) > MOST_COLUMNS:
            raise TableError(
                f"The table has {len(file.schema_arrow.names):,} columns; at most {MOST_COLUMNS:,} can be used."
            )
        if n == 0:
            raise TableError("The file has columns but not a single row.")
        rows = np.arange(n)
        if most_rows is not None and n > most_rows:
            rows = np.sort(np.random.default_rng(seed).choice(n, most_rows, replace=False))
        table = _take(pa, file, rows, n, tell or (lambda share: None))
    except (pa.ArrowException, OSError) as problem:
        reason = str(problem).split("\n")[0][:120]
        raise TableError(f"The Parquet file is damaged or not supported: {reason}.") from None
    names, notes = _names([_CONTROL.sub("", name) for name in table.column_names])
    columns = {name: _from_arrow(pa, table.column(position), len(rows)) for position, name in enumerate(names)}
    frame = pd.DataFrame(columns).set_index(pd.Index(rows + 2, name="row"))
    if len(rows) < n:
        notes.append(_sampled(n, len(rows)))
    return Reading(frame, f"{n:,} rows and {len(names):,} columns, Parquet.", tuple(notes), n)


def _take(pa: Any, file: Any, rows: np.ndarray, n: int, tell: Tell) -> Any:
    """These rows, batch by batch, so that a large file is never in memory as a whole."""
    parts, start = [], 0
    for batch in file.iter_batches(batch_size=65_536):
        own = rows[(rows >= start) & (rows < start + batch.num_rows)] - start
        start += batch.num_rows
        tell(0.9 * start / n)
        if len(own):
            parts.append(batch if len(own) == batch.num_rows else batch.take(pa.array(own)))
    return pa.Table.from_batches(parts, schema=file.schema_arrow)


def _from_arrow(pa: Any, column: Any, n: int) -> pd.Series:
    """Numbers and dates as they are, everything else as text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_decimal(kind):
        column, kind = column.cast(pa.float64()), pa.float64()
    if pa.types.is_boolean(kind):
        words = {True: "true", False: "false", None: None}
        return pd.Series([words[value] for value in column.to_pylist()], dtype="str")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pd.Series(column.to_numpy(zero_copy_only=False).astype(float))
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        dates = pd.Series(column.cast(pa.timestamp("us", tz=getattr(kind, "tz", None))).to_pandas())
        return dates.dt.tz_convert("UTC").dt.tz_localize(None) if dates.dt.tz is not None else dates
    if pa.types.is_null(kind):
        return pd.Series([None] * n, dtype="str")
    values = [None if value is None else _CONTROL.sub("", str(value)).strip() for value in column.to_pylist()]
    return pd.Series([None if value in MISSING else value for value in values], dtype="str")
