"""The theme's colours: words, quiet words and selected items can be read (WCAG AA: a contrast of 4.5)."""

import re
import tomllib
from pathlib import Path

import pytest
from colours import contrast

from pages.shared.style import STYLE

THEME = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text())["theme"]
GROUNDS = {"light": ("#ffffff", "#f8f8f7"), "dark": ("#0e1117", "#191e24")}
"""Streamlit's page and sidebar."""

QUIET, TINT = 0.6, 0.1
"""How much of the text's colour a caption has, and how much of the primary colour is behind a selected item."""


def mixed(colour, ground, share):
    pairs = [(int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


@pytest.mark.parametrize("ground", GROUNDS["light"])
def test_captions_are_dark_enough(ground):
    assert contrast(mixed(THEME["light"]["textColor"], ground, QUIET), ground) >= 4.5
    assert contrast(mixed("#31333f", ground, QUIET), ground) < 4.5  # as it was


@pytest.mark.parametrize(("theme", "ground"), [(theme, ground) for theme in GROUNDS for ground in GROUNDS[theme]])
def test_selected_items_stand_out_from_their_tint(theme, ground):
    primary = THEME[theme]["primaryColor"]
    assert contrast(primary, mixed(primary, ground, TINT)) >= 4.5


def test_white_words_on_blue():
    filled = re.search(r'stBaseButton-primary"\] \{\s*background: (#\w+);.*color: (#\w+);', STYLE)
    assert contrast(filled[1], filled[2]) >= 4.5
