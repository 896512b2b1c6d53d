"""The bytes of a Parquet file become a frame: sampled while it is unpacked, nothing but numbers, dates and words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from fairglvq.datasets.table.cells import MISSING
from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.reading import CONTROL, Progress, Reading, named, refuse_wide, sample, sampled, summary

MOST_ROWS = 20_000_000
MOST_BYTES = 4 * 2**30  # unpacked: a small file can hold a very large table


def read_parquet(content: bytes, most_rows: int | None, seed: int, progress: Progress | None) -> Reading:
    """Read the whole file, or a random sample of rows in its order."""
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
        if n > MOST_ROWS or size > MOST_BYTES:
            raise TableError(
                f"The file unpacks to {n:,} rows and {size / 2**30:,.1f} GB; at most {MOST_ROWS:,} rows and "
                f"{MOST_BYTES // 2**30} GB can be read. Save a part of it."
            )
        refuse_wide(len(file.schema_arrow.names))
        if n == 0:
            raise TableError("The file has columns but not a single row.")
        rows = sample(n, most_rows, seed)
        table = _take(pa, file, rows, n, progress or (lambda share: None))
    except pa.ArrowNotImplementedError as problem:
        reason = str(problem).splitlines()[0][:120].rstrip(". ")
        raise TableError(
            f"The Parquet file uses something that cannot be read here ({reason}): save it as CSV."
        ) from None
    except (pa.ArrowException, OSError):
        raise TableError("The Parquet file is damaged or not complete: save it or download it again.") from None
    names, notes = named([CONTROL.sub("", name) for name in table.column_names])
    columns = {name: _from_arrow(pa, table.column(position)) for position, name in enumerate(names)}
    frame = pd.DataFrame(columns).set_index(pd.Index(rows + 2, name="row"))
    if len(rows) < n:
        notes.append(sampled(n, len(rows)))
    return Reading(frame, summary(n, len(names), "Parquet"), tuple(notes), n)


def _take(pa: Any, file: Any, rows: np.ndarray, n: int, progress: Progress) -> Any:
    """These rows, batch by batch, so that a large file is never in memory as a whole."""
    parts, start = [], 0
    for batch in file.iter_batches(batch_size=65_536):
        own = rows[(rows >= start) & (rows < start + batch.num_rows)] - start
        start += batch.num_rows
        progress(0.9 * start / n)
        if len(own):
            parts.append(batch if len(own) == batch.num_rows else batch.take(pa.array(own)))
    return pa.Table.from_batches(parts, schema=file.schema_arrow)


def _from_arrow(pa: Any, column: Any) -> pd.Series:
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
    values = [None if value is None else CONTROL.sub("", str(value)).strip() for value in column.to_pylist()]
    return pd.Series([None if value in MISSING else value for value in values], dtype="str")
