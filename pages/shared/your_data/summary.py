"""The table before any model: rates by group, columns that predict the group, and the encoding."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from fairglvq.datasets import Block, Dataset, table
from fairglvq.datasets.base import columns_of, trait_blocks
from fairglvq.datasets.table import Plan, Reading, TableError
from fairglvq.datasets.table.profile import GroupRate, Profile, Proxy, profile
from fairglvq.explain.view import who_of
from fairglvq.report.templating import render
from fairglvq.wording import gap, interval, number, of_hundred, percent, quoted, rows
from pages.shared import safe_text
from pages.shared.visit import visit

SHOWN_PROXIES = 8

STYLE = """<style>
.rates { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
.rates th { text-align: left; font-weight: 600; padding: 0.25rem 0.6rem 0.25rem 0; }
.rates td { padding: 0.25rem 0.6rem 0.25rem 0; vertical-align: middle; }
.rates td.name { overflow-wrap: anywhere; max-width: 14rem; }
.rates td.name bdi { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; }
.rates td.number, .rates th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.rates .bar { position: relative; height: 0.9rem; min-width: 5rem; width: 100%; border-radius: 0.2rem;
  background: rgba(128, 128, 128, 0.16); }
.rates .bar i { position: absolute; top: 0; bottom: 0; left: 0; border-radius: 0.2rem; background: #4a8ae8; }
.rates .bar b { position: absolute; top: 0.38rem; height: 0.14rem; background: currentColor; }
.rates .bar b::before, .rates .bar b::after { content: ""; position: absolute; top: -0.2rem; width: 0.12rem;
  height: 0.54rem; background: currentColor; }
.rates .bar b::after { right: 0; }
.rates .flag { font-size: 0.75rem; white-space: nowrap; font-weight: 600; border: 1px solid currentColor;
  border-radius: 0.3rem; padding: 0 0.3rem; }
@media (max-width: 640px) { .rates td, .rates th { padding-right: 0.35rem; } .rates { font-size: 0.8rem; } }
</style>"""


def build() -> tuple[Dataset, Profile] | None:
    """The data set of this draft and its profile; made once per draft."""
    here = visit().table
    draft, reading, kept = here.draft, here.reading, here.built
    if draft is None or reading is None:
        return None
    if kept is None or kept[0] != here.serial or kept[1] != draft:
        try:
            data = table.build(
                reading.frame, draft, title="Your table", source=f"the file {quoted(here.name)}", notes=reading.notes,
                most_cells=table.MOST_CELLS,
            )  # fmt: skip
            result: tuple = (data, profile(data, protected=draft.protected))
        except TableError as problem:
            result = (str(problem),)
        except Exception as problem:
            safe_text.log("A table could not be built", problem)
            result = ("Something unexpected went wrong with this table. Try other choices.",)
        kept = here.built = (here.serial, draft, result)
    if len(kept[2]) == 1:
        safe_text.write(kept[2][0], "box wrong")
        return None
    return kept[2]


def draw(data: Dataset, found: Profile, plan: Plan, reading: Reading) -> None:
    """What was dropped, filled or merged; then rates, proxies and encoding."""
    st.header("Before any model", anchor=False)
    safe_text.write(rows_words(len(data.y), len(reading.frame)), "box")
    safe_text.listed(caveat for caveat in data.caveats if caveat not in reading.notes)  # which were shown before
    safe_text.write(gap_words(data, found))
    left, right = st.columns(2, gap="large")
    with left:
        st.html(rates_table(found.rates, quoted(data.class_names[data.favourable]), len(data.y)))
        interval = "The thin line is the 95% interval: where the share may well lie with this many people."
        safe_text.write(interval, "small")
    with right:
        st.html(proxies_table(found.proxies[:SHOWN_PROXIES]))
        safe_text.write(proxy_words(found), "small")
    encoding(data, plan)


def rows_words(used: int, read: int) -> str:
    """How many rows the numbers are about, and how many were left out, of how many."""
    if used == read:
        return f"All {rows(read)} of your table are described here."
    return (
        f"{used:,} of {rows(read)} of your table are described here; {read - used:,} ({percent((read - used) / read)}) "
        "were left out."
    )


def gap_words(data: Dataset, found: Profile) -> str:
    """The gap in people, naming who gets less."""
    low, *_, high = sorted(found.rates, key=lambda rate: rate.rate)
    wanted = data.class_names[data.favourable]
    few, many = who_of(data.name, [low.group, high.group])
    words = (
        f"Of 100 {few}, {of_hundred(low.rate)} have the outcome {quoted(wanted)}; of "
        f"100 {many}, {of_hundred(high.rate)}. The gap is {gap(found.gap)}"
    )
    if math.isnan(found.gap_low):
        return words + "."
    reach = f" (95% interval {interval(found.gap_low, found.gap_high)})"
    chance = " With this many people, such a gap may be chance." if found.gap_low <= 0 else ""
    return f"{words}{reach}.{chance}"


def rates_table(rates: tuple[GroupRate, ...], outcome: str, n: int) -> str:
    """Favourable rates as bars with intervals, and the same in figures."""
    bars = [
        {
            "group": rate.group,
            "small": rate.small,
            "people": f"{rate.n:,}",
            "bar": round(100 * rate.rate, 1),
            "left": round(100 * rate.low, 1),
            "reach": round(100 * (rate.high - rate.low), 1),
            "share": percent(rate.rate),
            "interval": interval(rate.low, rate.high),
        }
        for rate in rates
    ]
    return render("group_rates.html.j2", rows=bars, outcome=outcome, n=n)


def proxies_table(proxies: tuple[Proxy, ...]) -> str:
    """How well single columns predict the group."""
    bars = [
        {
            "column": proxy.column,
            "protected": proxy.protected,
            "bar": round(100 * max(0.0, 2 * proxy.auc - 1), 1),
            "right": percent(proxy.auc, 0),
            "spread": number(100 * proxy.spread, 0),
        }
        for proxy in proxies
    ]
    return render("proxies.html.j2", rows=bars)


def proxy_words(found: Profile) -> str:
    """What the numbers mean, and the strongest proxy by name."""
    rest = len(found.proxies) - SHOWN_PROXIES
    more = f" {rest} more columns tell less." if rest > 0 else ""
    return (
        "Take two people of different groups and look at this one column: how often does it tell who belongs where? "
        f"50% or less is guessing, 100% gives the group away; ± is the spread over five parts of the table.{more}"
    )


def encoding(data: Dataset, plan: Plan) -> None:
    """How columns became numbers."""
    n, d = data.X.shape
    traits = trait_blocks(data.blocks)
    with st.expander(f"How your columns become numbers: {d:,} features from {len(traits):,} columns, {n:,} people"):
        st.dataframe(
            pd.DataFrame(
                {
                    "Column": [block.column for block, *_ in traits],
                    "Becomes": [_becomes(block, bins, plan) for block, *bins in traits],
                    "Features": [len(columns_of(trait)) for trait in traits],
                    "Values": [_values(trait[-1]) for trait in traits],
                }
            ),
            hide_index=True,
        )


def _becomes(block: Block, bins: list[Block], plan: Plan) -> str:
    words = {"number": "the number itself", "binary": "0 or 1", "category": "a 0 or 1 for each value"}
    text = "a decimal year" if plan.kinds.get(block.column) == "date" else words[block.kind]
    return f"{text}, and a 0 or 1 for each range" if bins else text


def _values(block: Block) -> str:
    """The words behind the zeros and ones."""
    if block.kind == "binary":
        return ", ".join(f"{name} is {number}" for number, name in enumerate(block.categories))
    return ", ".join(block.categories)
