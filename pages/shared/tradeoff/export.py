"""Export of a curve: rows, pictures, and the Python script that prints the same numbers."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from fairglvq.experiments import bundle
from fairglvq.figures.svg import to_svg
from fairglvq.figures.tradeoff import alt_text
from fairglvq.grammar import BACKGROUNDS
from fairglvq.report import scripts
from fairglvq.scenes.settings import TABLE
from fairglvq.tradeoff import curve
from fairglvq.tradeoff.choice import Choice
from fairglvq.tradeoff.measures import MEASURES
from fairglvq.wording import in_hundredths
from pages.shared.style import theme
from pages.shared.tradeoff.results import Found, title_of
from pages.shared.visit import visit
from pages.shared.widgets import download

_PNG = """
export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  button.textContent = "Picture (PNG)";
  button.onclick = async () => {
    const image = new Image();
    image.src = "data:image/svg+xml;base64," + data.svg;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.width;
    canvas.height = 2 * image.height;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = data.name;
      link.click();
      URL.revokeObjectURL(link.href);
    }, "image/png");
  };
}
"""

_CSS = """
button { font: inherit; color: inherit; background: transparent; border: 1px solid var(--st-border-color, #8886);
  border-radius: var(--st-button-radius, 0.5rem); padding: 0.25rem 0.75rem; min-height: 2.5rem; cursor: pointer; }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
"""


def offer(choice: Choice, found: Found, table: pd.DataFrame, figure: go.Figure) -> None:
    """Rows, pictures and script, behind one heading."""
    name = f"fairglvq-{choice.dataset}"
    box = st.expander(
        "Export numbers, pictures and the script to reproduce them", key="curve_export", on_change="rerun"
    )
    if not box.open:
        return
    with box:
        st.dataframe(_readable(table), hide_index=True)
        if found.n_bundled:
            it = bundle.load()
            st.caption(
                f"Results that came with the project were computed on {it.date} by `{it.command}`, version "
                f"{it.version}."
            )
        svg = to_svg(figure, background=BACKGROUNDS[theme()], alt=alt_text(table, choice.x, choice.y))
        with st.container(horizontal=True, vertical_alignment="center"):
            download(
                "Rows (CSV)", lambda: found.rows.drop(columns="counts", errors="ignore").to_csv(index=False),
                f"{name}.csv", "text/csv", key="t_csv",
            )  # fmt: skip
            _png(svg, f"{name}.png")
            download("Picture (SVG)", svg, f"{name}.svg", "image/svg+xml", key="t_svg")
            download(
                "Interactive (HTML)", lambda: _page(figure, choice), f"{name}.html", "text/html", key="t_html",
                help="One file of about 5 MB that works without this program and without a network.",
            )  # fmt: skip
        script = script_of(choice)
        if script:
            st.markdown(
                "**Script to reproduce this**: where the library is installed, it prints the numbers above, as "
                "fractions of 1."
            )
            st.code(script, language="python")
            download("Python script", script, f"{name}.py", "text/plain", key="t_script")


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    points = [curve.label(row.method, row.strength) for row in table.itertuples()]
    columns = {"": points, "test folds": table["n"]}
    for name, measure in MEASURES.items():
        if f"{name}_mean" in table:
            columns[measure.heading] = in_hundredths(table[f"{name}_mean"]).round(2)
            columns[f"± {measure.title}"] = in_hundredths(table[f"{name}_std"]).round(2)
    return pd.DataFrame(columns)


def _page(figure: go.Figure, choice: Choice) -> str:
    whole = go.Figure(figure)
    whole.update_layout(paper_bgcolor=BACKGROUNDS[theme()], title_text=title_of(choice.dataset), margin_t=60)
    return whole.to_html(include_plotlyjs=True, config={"displaylogo": False})


def script_of(choice: Choice) -> str | None:
    """The script that prints the numbers on screen; a table of one's own is read from its file."""
    plan = choice.sweep()
    bins = {"bins": choice.bins} if choice.bins else {}
    load = visit().table.script if choice.dataset == TABLE else scripts.load_dataset(choice.dataset, **bins)
    if not load:
        return None
    return scripts.sweep(load, dict(plan.strengths), folds=plan.folds, seeds=plan.seeds, params=dict(plan.params))


def _png(svg: str, name: str) -> None:
    """A button that turns the SVG into pixels in the browser, where there are always fonts."""
    _button()(data={"svg": base64.b64encode(svg.encode()).decode(), "name": name}, key="t_png", width="content")


@cache
def _button() -> Any:
    """The one declaration of this process."""
    return st.components.v2.component("picture_button", html="<button type='button'></button>", css=_CSS, js=_PNG)
