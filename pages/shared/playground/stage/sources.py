"""The stage's markup, styles and modules, put together for a page that can import nothing. No Streamlit here."""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

FOLDER = Path(__file__).parent

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w.]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:default )?((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_BLOCK_COMMENT = re.compile(r"^[ \t]*/\*.*?\*/[ \t]*\n", re.MULTILINE | re.DOTALL)
_LINE_COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+|[ \t]+$|^\n", re.MULTILINE)


def markup() -> str:
    """The elements that the stage fills."""
    return (FOLDER / "stage.html").read_text("utf-8")


def stylesheet() -> str:
    """All styles; later files may build on earlier ones."""
    return "\n".join((FOLDER / name).read_text("utf-8") for name in ("stage.css", "readout.css", "lesson.css"))


@cache
def bundle(ending: str = "export default mountStage;\n") -> str:
    """All modules as one, because an inline component can import nothing; ``ending`` exports or calls the entry.

    Each module becomes a function of its own that returns its exports, every module after those it imports, so names of
    one module never meet those of another. Comments and indentation are removed: the text is sent with every rerun.
    """
    sources = {path.name: path.read_text("utf-8") for path in sorted((FOLDER / "js").glob("*.js"))}
    needed = {name: [module for _, module in _IMPORT.findall(source)] for name, source in sources.items()}
    parts = [_wrapped(name, sources[name]) for name in TopologicalSorter(needed).static_order()]
    return "\n".join([*parts, f"const {{ mountStage }} = {_variable('main.js')};", ending])


def _wrapped(name: str, source: str) -> str:
    """One module as ``const m_name = (() => { ...; return { exports }; })();``."""
    exports = [export for _, export in _EXPORT.findall(source)]
    code = _IMPORT.sub(lambda match: f"const {{{match[1]}}} = {_variable(match[2])};\n", source)
    code = _INDENT.sub("", _LINE_COMMENT.sub("", _BLOCK_COMMENT.sub("", _EXPORT.sub(r"\1", code))))
    return f"const {_variable(name)} = (() => {{\n{code}return {{ {', '.join(exports)} }};\n}})();"


def _variable(name: str) -> str:
    return "m_" + name.removesuffix(".js")
