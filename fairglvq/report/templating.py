"""HTML and scripts from the templates beside this file. In HTML every value is escaped unless it is marked as safe."""

from __future__ import annotations

from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def render(template: str, **values: Any) -> str:
    """A template of ``fairglvq/report/templates`` filled with values."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("fairglvq.report"),
        autoescape=select_autoescape(disabled_extensions=["py.j2"], default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
