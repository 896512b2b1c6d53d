"""Styles of Streamlit's own elements: small words around a large picture."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

import streamlit as st

from fairglvq.grammar import Theme

CHART: dict[str, Any] = {"theme": None, "config": {"displayModeBar": False}}
"""For `st.plotly_chart`: the figure's own colours, and no bar of buttons."""


def theme() -> Theme:
    """Light or dark, as the visitor sees the page."""
    return "dark" if st.context.theme.type == "dark" else "light"


def show_svg(svg: str, css_class: str, alt: str = "") -> None:
    """An SVG document as a picture."""
    data = base64.b64encode(svg.encode()).decode()
    st.html(f'<img class="{css_class}" alt="{escape(alt)}" src="data:image/svg+xml;base64,{data}">')


NO_CONTROLS = """<style>
@media (max-width: 640px) { [data-testid="stExpandSidebarButton"]::after { content: "Pages" !important; } }
</style>"""
"""For pages whose sidebar holds nothing but the menu."""

# Buttons with white text are in the light theme's blue in both themes: no colour has enough contrast below white text
# and also as text on a dark page.
STYLE = """<style>
.stMainBlockContainer { padding: 4.4rem 2rem 2rem; }
.stMain h1 { font-size: 1.5rem; line-height: 1.2; padding: 0; }
[data-testid="stMultiSelectTagsContainer"] [data-tag], [data-testid="stBaseButton-primary"] {
  background: #1f57ad; border-color: #1f57ad; color: #ffffff;
}
.stApp :is(a, button, summary, input, canvas, [role="radio"], [role="tab"], [data-tag]):focus-visible {
  outline: 2px solid currentColor; outline-offset: 2px;
}
.stMain [data-testid="stPageLink-NavLink"] {
  border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 0.5rem; min-height: 2.5rem;
}
.stMain h2 { font-size: 1.15rem; line-height: 1.3; padding: 0.4rem 0 0; font-weight: 600; }
.stMainBlockContainer > [data-testid="stVerticalBlock"] { gap: 0.7rem; }
.stMainBlockContainer [data-testid="stMarkdownContainer"] { margin-bottom: 0; }
:has(> .st-key-menu) { display: none; }
.st-key-head { gap: 0.7rem; }
.st-key-picture { gap: 0; }
.st-key-conclusions { gap: 0.6rem; }
.st-key-conclusions p, .st-key-offer p, .stMain [data-testid="stAlert"] p:last-child { margin-bottom: 0; }
.st-key-t_box { position: relative; min-height: 520px; }
.st-key-t_box .still { position: absolute; top: 0; left: 0; width: 100%; height: 520px; object-fit: contain; }
.st-key-t_box:has(.scatterlayer) .still { display: none; }
.st-key-intro p { font-size: 0.9rem; line-height: 1.4; margin: 0; }
[data-testid="stSidebarHeader"] { height: 2.5rem; margin-bottom: 0; }
[data-testid="stSidebarUserContent"] { padding: 0 0 1.5rem; }
[data-testid="stSidebar"] [data-testid="stVerticalBlock"] { gap: 0.6rem; }
[data-testid="stSidebar"] [data-testid="stSlider"] { margin-bottom: -0.75rem; }
[data-testid="stSidebar"] [data-testid="stCaptionContainer"] { margin-bottom: 0.2rem; }
[data-testid="stSidebar"] [data-testid="stCaptionContainer"] p { font-size: 0.8rem; line-height: 1.3; margin: 0; }
[class*="st-key-dataset-"] { width: 100%; }
[class*="st-key-dataset-"] [role="radiogroup"] {
  display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: 0.35rem; width: 100%;
}
[class*="st-key-dataset-"] button {
  grid-column: span 3; width: 100%; height: auto; padding: 0.3rem 0; border-radius: 0.5rem;
}
[class*="st-key-dataset-"] button:nth-child(n+5) { grid-column: span 4; }
[class*="st-key-dataset-"] button p { font-size: 0.75rem; line-height: 1.2; white-space: nowrap; text-align: center; }
[class*="st-key-dataset-"] button img {
  display: block; max-width: none; max-height: none; width: 3.1rem; height: auto; margin: 0 auto 0.15rem;
}
[class*="st-key-dataset-"] button:nth-child(n+5) img { display: none; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 4rem 1rem 2rem; }
  .stMain h1 { font-size: 1.2rem; }
  [class*="st-key-preset-"] [role="radiogroup"] { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
  [class*="st-key-preset-"] button { flex: none; }
  .stMain [data-testid="stButtonGroup"] button { padding-left: 0.6rem; padding-right: 0.6rem; }
  [data-testid="stExpandSidebarButton"] { width: auto; padding: 0 0.6rem; }
  [data-testid="stExpandSidebarButton"]::after { content: "Menu and controls"; margin-left: 0.3rem; font-size: 0.9rem; }
}
@media (max-height: 520px) {
  .stMainBlockContainer { padding-top: 3.8rem; }
  .stMain h1 { font-size: 1rem; }
  .st-key-head { gap: 0.3rem; }
  .st-key-intro p { font-size: 0.8rem; line-height: 1.3; }
}
</style>"""


# For a projector: everything grows with the root's letters, nothing is grey, and what can be touched has a strong edge.
PROJECTOR_STYLE = """<style>
html { font-size: 22px; }
.stApp { --grey: 100%; --edge: var(--st-text-color, currentColor); }
[data-testid="stSidebar"], [data-testid="stExpandSidebarButton"] { display: none; }
.stApp [data-testid="stCaptionContainer"], .stApp [data-testid="stCaptionContainer"] p { color: inherit; opacity: 1; }
.stApp [data-testid="stAlert"] p { color: var(--st-text-color, inherit); }
.stApp [data-testid^="stBaseButton"] { border-color: currentColor; }
</style>"""

# Inside another page, without menu: the page around it has its own head and margins.
EMBED_STYLE = """<style>
.stApp .stMainBlockContainer { padding: 1rem; }
.stApp:has([data-testid="stExpandSidebarButton"]) .stMainBlockContainer { padding-top: 3.6rem; }
.stApp [data-testid="stExpandSidebarButton"]::after { content: "Controls"; }
</style>"""
