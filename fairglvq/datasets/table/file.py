"""Bytes of a CSV or Parquet file, or pasted text, become a frame; and a frame becomes a CSV that is safe to open.

Everything that can be wrong with a file is a `TableError`: one sentence that names the row or the column. Rows are
counted as a spreadsheet counts them, the header being row 1, and the frame's index keeps these numbers.
"""

from __future__ import annotations

import pandas as pd

from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.parquet import read_parquet
from fairglvq.datasets.table.reading import Progress, Reading
from fairglvq.datasets.table.text import read_rows
from fairglvq.wording import quoted

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MAGIC = {
    b"PK\x03\x04": "an Excel workbook or another packed file: save the sheet as CSV first",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV first",
    b"\x1f\x8b": "packed (gzip): unpack it first",
    b"%PDF": "a PDF: save the table as CSV first",
    **dict.fromkeys((b"\x89PNG", b"\xff\xd8\xff", b"GIF8"), "a picture and not a table"),
}


def read(
    content: bytes,
    name: str = "",
    *,
    most_rows: int | None = None,
    skip_ragged: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reading:
    """Read a CSV or Parquet file; the content decides which of the two it is, not the name.

    Of more than ``most_rows`` rows a random sample of that size is taken (``seed``), in the file's order.
    ``skip_ragged`` leaves out rows that have more or fewer values than the header, instead of refusing the file.
    ``progress`` is called now and then with the share of the work done; it may raise to stop the work.
    """
    if content[:4] == b"PAR1":
        return read_parquet(content, most_rows, seed, progress)
    if name.lower().endswith((".parquet", ".pq")):
        raise TableError(f"{quoted(name)} is called Parquet, but it is not a Parquet file or it is damaged.")
    for magic, words in _MAGIC.items():
        if content.startswith(magic):
            raise TableError(f"The file is {words}.")
    text, note = _decoded(content)
    return read_rows(text, [note] if note else [], most_rows, skip_ragged, seed, progress)


def read_text(
    text: str,
    *,
    most_rows: int | None = None,
    skip_ragged: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reading:
    """Read a pasted table: what a spreadsheet puts on the clipboard, or the text of a CSV file."""
    return read_rows(text.removeprefix("\ufeff"), [], most_rows, skip_ragged, seed, progress)


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


def _decoded(content: bytes) -> tuple[str, str]:
    """The text of a file, and a sentence where its encoding had to be guessed."""
    if not content.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00"):
        raise TableError("The table is empty.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _strictly(content, "utf-16", "UTF-16"), "The file is UTF-16 and was read as that."
    if content.startswith(b"\xef\xbb\xbf"):
        return _strictly(content[3:], "utf-8", "UTF-8"), ""
    if b"\x00" in content[:4000]:
        # Western text in UTF-16 has a zero in every other byte; nothing else that is a table does.
        even, odd = content[:4000:2].count(0), content[1:4000:2].count(0)
        if max(even, odd) < 0.4 * len(content[:4000:2]) or min(even, odd) > 0:
            raise TableError(
                "The file is not text, so it is no CSV, and it is not Parquet either: open it in the program that made "
                "it, and save the table as CSV."
            )
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
