"""The import graph is the one that ARCHITECTURE.md draws: every room imports only from rooms before it."""

import ast
import re

import pytest
from browser import ROOT
from interpreter import modules_after

ORDER = re.findall(r"^\d+\. (.+?):", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE)
ROOMS = [{name.strip(" `/") for name in line.split(",")} for line in ORDER]


@pytest.fixture(scope="module")
def graph():
    """Every module of the project, and those that it imports."""
    paths = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for folder in ("fairglvq", "pages")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    return {name: set(imports(path, paths)) - {name} for name, path in paths.items()}


def imports(path, known):
    """Modules of the project that a file imports, also those inside functions and for type checkers."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in ("fairglvq", "pages"):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in known else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in ("fairglvq", "pages"))


def room(module):
    """The number of the line in ARCHITECTURE.md that names the longest part of a module's name."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        for number, names in enumerate(ROOMS):
            if ".".join(parts[:length]) in names:
                return number
    return None


FREE = {
    "fairglvq",
    "fairglvq.__main__",
    "fairglvq.bench",
    "fairglvq.warm",
}  # the façade loads lazily; commands may use everything


def test_every_module_has_a_room(graph):
    assert len(ROOMS) > 5
    assert [name for name in graph if name not in FREE and room(name) is None] == []


def test_imports_go_one_way(graph):
    wrong = [
        f"{name} -> {needed}"
        for name, all_needed in graph.items()
        for needed in sorted(all_needed)
        if name not in FREE and needed not in FREE and room(needed) > room(name)
    ]
    assert wrong == []


def test_no_two_rooms_import_each_other(graph):
    pairs = {
        (own, other)
        for name, all_needed in graph.items()
        for needed in all_needed
        if name not in FREE and needed not in FREE and (own := package(name)) != (other := package(needed))
    }
    assert [pair for pair in pairs if pair[::-1] in pairs] == []


def package(module):
    """The sub-package of the library, or the page's folder."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[0] == "pages" else 2])


def test_no_module_is_part_of_a_circle(graph):
    done, path = set(), []

    def follow(name):
        if name in path:
            pytest.fail(" -> ".join([*path[path.index(name) :], name]))
        if name in done or name not in graph:
            return
        path.append(name)
        for needed in sorted(graph[name] - FREE):
            follow(needed)
        path.pop()
        done.add(name)

    for name in graph:
        if name not in FREE:
            follow(name)


@pytest.mark.parametrize("module", ["fairglvq.scenes.settings", "fairglvq.tradeoff.choice", "pages.shared.links"])
def test_reading_a_link_loads_no_training(module):
    assert modules_after(f"import {module}").isdisjoint({"numba", "sklearn", "scipy", "joblib"})
