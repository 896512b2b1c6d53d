"""The stage's markup, styles and modules, put together for a page that can import nothing. No Streamlit here."""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

FOLDER = Path(__file__).parent
ENTRY = "main.js"

_IMPORT = re.compile(r"^import\s*\{([^}]*)\}\s*from\s*[\"']\./([\w.]+)[\"'];?[ \t]*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function|class|const|let)", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:(?:async )?function\*?|class|const|let) (\w+)", re.MULTILINE)
_EXPORT_DEFAULT = re.compile(r"^export default function (\w+)", re.MULTILINE)
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
    """All modules as one, because an inline component can import nothing; the ``ending`` does something with the entry.

    Each module becomes a function of its own that returns its exports, in the order of the import lines, so names of
    one module never meet those of another. Comments and indentation stay behind: the text travels with every rerun.
    """
    sources = {path.name: path.read_text("utf-8") for path in sorted((FOLDER / "js").glob("*.js"))}
    needs = {name: [module for _, module in _IMPORT.findall(source)] for name, source in sources.items()}
    parts = [_wrapped(name, sources[name]) for name in TopologicalSorter(needs).static_order()]
    entry = _EXPORT_DEFAULT.search(sources[ENTRY])
    if entry is None:
        raise ValueError(f"{ENTRY} has no default export")
    return "\n".join([*parts, f"const {entry[1]} = {_variable(ENTRY)}.{entry[1]};", ending])


def _wrapped(name: str, source: str) -> str:
    """One module as ``const m_name = (() => { ...; return { exports }; })();``."""
    exports = _EXPORTED.findall(source) + _EXPORT_DEFAULT.findall(source)

    def taken(match: re.Match[str]) -> str:
        names = re.sub(r"(\w+)\s+as\s+(\w+)", r"\1: \2", " ".join(match[1].split()))
        return f"const {{ {names} }} = {_variable(match[2])};\n"

    code = _EXPORT.sub("", _EXPORT_DEFAULT.sub(r"function \1", _IMPORT.sub(taken, source)))
    code = _INDENT.sub("", _LINE_COMMENT.sub("", _BLOCK_COMMENT.sub("", code)))
    return f"const {_variable(name)} = (() => {{\n{code}return {{ {', '.join(exports)} }};\n}})();"


def _variable(name: str) -> str:
    return "m_" + name.removesuffix(".js")
