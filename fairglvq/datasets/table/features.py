"""The features of a table: choose columns, convert them, treat missing values, merge rare categories.

Each step adds a sentence on what it left out, filled or merged to ``caveats``, those of the data set.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from fairglvq.datasets.encoding import Binary
from fairglvq.datasets.table.errors import TableError
from fairglvq.datasets.table.plan import MOST_CATEGORIES, OTHER, Plan, kind_of
from fairglvq.datasets.table.reading import sample
from fairglvq.datasets.table.values import distinct, in_numbers, in_words, in_years
from fairglvq.wording import percent, quoted, quoted_names, rows

LARGEST = 1e30
MISSING_VALUE = "(missing)"


def chosen(frame: pd.DataFrame, plan: Plan, caveats: list[str]) -> list[str]:
    """Columns that become features; the others are named in the caveats."""
    rest = [name for name in frame if name != plan.target]
    kinds = {name: plan.kinds.get(name) or kind_of(frame[name], name) for name in rest}
    n_values = frame[rest].nunique()
    hidden = [name for name in rest if name in plan.left_out and n_values[name] > 1]
    empty = [name for name in rest if n_values[name] == 0]
    texts = [name for name in rest if kinds[name] == "text" and name not in (*hidden, *empty)]
    constant = [name for name in rest if n_values[name] == 1]
    for names, sentence in (
        (hidden, "The model does not see {}, as chosen."),
        (empty, "Empty in all rows and left out: {}."),
        (texts, "Text or identifiers and left out: {}."),
        (constant, "The same in all rows and left out: {}."),
    ):
        if names:
            caveats.append(sentence.format(quoted_names(names)))
    features = [name for name in rest if name not in {*hidden, *empty, *texts, *constant, *plan.left_out}]
    if not features:
        raise TableError("No column is left that a model could decide by: leave fewer out, or correct their kinds.")
    return features


def converted(table: pd.DataFrame, plan: Plan, caveats: list[str]) -> pd.DataFrame:
    """Numbers and dates as floats, everything else as words."""
    columns, dates = {}, []
    for name in table:
        kind = plan.kinds.get(name) or kind_of(table[name], name)
        if kind == "number":
            columns[name] = in_numbers(table[name], name)
            endless = int(np.isinf(columns[name]).sum())
            if endless:
                columns[name] = columns[name].where(~np.isinf(columns[name]))
                caveats.append(f"{rows(endless)} infinite in {quoted(name)}: treated as missing.")
            large = columns[name].index[columns[name].abs() > LARGEST]
            if len(large):
                raise TableError(
                    f"Row {large[0]} holds {columns[name][large[0]]:g} in column {quoted(name)}, too large to compute "
                    "with."
                )
        elif kind == "date":
            dates.append(name)
            columns[name] = in_years(table[name], name, caveats)
        else:
            columns[name] = in_words(table[name])
            values = columns[name].nunique()
            if kind == "binary" and values > 2:
                raise TableError(f"Column {quoted(name)} is to be binary, but it has {values:,} different values.")
    if dates:
        caveats.append(f"Dates became decimal years (1 July 1990 is about 1990.5): {quoted_names(dates)}.")
    return pd.DataFrame(columns, index=table.index)


def without_gaps(table: pd.DataFrame, plan: Plan, n_read: int, caveats: list[str]) -> pd.DataFrame:
    """Rows with a gap left out, or the gaps filled; of the ``n_read`` rows of the file some may be gone already."""
    gaps = table.isna().sum()
    gaps = gaps[gaps > 0].sort_values(ascending=False)
    if gaps.empty:
        return table
    if plan.missing == "drop":
        full = table.dropna()
        if full.empty:
            worst, n = gaps.index[0], int(gaps.iloc[0])
            raise TableError(
                f"No row has a value in every column; column {quoted(worst)} misses {n:,} of {len(table):,}: leave it "
                "out, or fill gaps instead of dropping rows."
            )
        n = len(table) - len(full)
        where = ", ".join(f"{quoted(name)} {count:,}" for name, count in gaps.head(5).items())
        caveats.append(
            f"{rows(n)} with a missing value left out ({percent(n / n_read)} of all {n_read:,}; most in {where})."
        )
        return full
    table = table.copy()
    for name, count in gaps.items():
        if pd.api.types.is_numeric_dtype(table[name]):
            median = float(table[name].median())
            table[name] = table[name].fillna(median)
            caveats.append(f"{rows(int(count))} without {quoted(name)}: filled with the median of all, {median:g}.")
        else:
            table[name] = table[name].fillna(MISSING_VALUE)
            caveats.append(f"{rows(int(count))} without {quoted(name)}: put into a category of their own.")
    return table


def sampled(table: pd.DataFrame, plan: Plan, most_cells: int | None, caveats: list[str], seed: int) -> pd.DataFrame:
    """At most as many rows as fit into ``most_cells`` once every category, and every bin of a number, has a column."""
    if most_cells is None:
        return table
    width = 0
    for name in table:
        values = table[name].nunique()
        if pd.api.types.is_numeric_dtype(table[name]):
            width += 1 + min(values, 2 * plan.bins)  # common values may need as many again
        else:
            width += 1 if values <= 2 else min(values, MOST_CATEGORIES + 1)
    most = max(1, most_cells // width)
    if len(table) <= most:
        return table
    caveats.append(
        f"{len(table):,} rows of {width:,} encoded columns are too many: a random sample of {most:,} rows is used."
    )
    return table.iloc[sample(len(table), most, seed)]


def merged(table: pd.DataFrame, plan: Plan, caveats: list[str]) -> pd.DataFrame:
    """Rare categories become one; columns that hold one value then, or held one before, are left out."""
    table = table.copy()
    gone: list[str] = []
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            gone += [name] if table[name].nunique() < 2 else []
            continue
        counts = table[name].value_counts()
        if len(counts) > 2:
            rare = counts.index[(counts < plan.rare * len(table)) | (np.arange(len(counts)) >= MOST_CATEGORIES)]
            if len(rare) == len(counts):
                caveats.append(
                    f"{quoted(name)} has {len(counts):,} values, each rarer than {100 * plan.rare:g}% of the rows: the "
                    "column was left out."
                )
                del table[name]
                continue
            if len(rare) > 1:
                n = int(counts[rare].sum())
                table[name] = table[name].where(~table[name].isin(rare), OTHER)
                caveats.append(
                    f"{len(rare):,} rare values of {quoted(name)} ({n:,} rows) were merged into {quoted(OTHER)}."
                )
        if table[name].nunique() < 2:
            gone.append(name)
    if gone:
        caveats.append(f"The same in all rows that are left, so left out: {quoted_names(gone)}.")
    table = table.drop(columns=gone)
    if table.shape[1] == 0:
        raise TableError(
            f"No column has two values to decide by in the rows that are left ({len(table):,}): fill gaps instead of "
            "dropping rows, leave fewer columns out, or merge fewer categories."
        )
    return table


def encodings(table: pd.DataFrame) -> tuple[dict[str, Binary], list[str]]:
    """Columns of two words, and columns of more: as `encode` takes them."""
    binary, categories = {}, []
    for name in table:
        if pd.api.types.is_numeric_dtype(table[name]):
            continue
        values = distinct(table[name])
        if len(values) == 2:
            binary[name] = Binary(values[1], (values[0], values[1]))
        else:
            categories.append(name)
    return binary, categories
