"""The shape of the house, executed: what stands at a package's root, how deep imports go, what is public and whether anything reaches it."""

import inspect
import re
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, get_args, get_type_hints

import grimp
import pytest

import ctxfold

ROOT = Path(__file__).parents[2]
LOOSE = {
    "ctxfold": {"__init__", "__main__", "config", "errors", "testing"},
    "browser_agent": {"__init__"},
    "mcp_server": {"__init__", "briefings", "errors", "resources", "server"},
}
"""The modules that stand at a package's root, in no room."""
ENTRIES = {"ctxfold": 14, "browser_agent": 11, "mcp_server": 11}
DEEPEST = 29
BASES_OF_SESSION = 0
LEAKED = {"By", "Constraint", "Extract", "Item", "RecordRef", "StepRef", "Trigger", "Workspace"}
"""Types that signatures of `ctxfold.__all__` name and that are not exported themselves."""
UNREACHED = {"CAUSES", "Mover", "branch_off"}
"""Public names that no line of the product mentions."""
BENCHMARKS_IN_CONTRACT = {"test_stated.py", "test_unsaid.py", "test_changes_of_mind.py"}
SOURCES = {path: path.read_text(encoding="utf-8") for package in LOOSE for path in (ROOT / package).rglob("*.py")}

packages = pytest.mark.parametrize("package", LOOSE)


def entries(package: str) -> set[str]:
    """Rooms and modules at a package's root."""
    return {path.stem for path in (ROOT / package).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


@packages
def test_no_module_stands_loose(package: str) -> None:
    assert {name for name in entries(package) if (ROOT / package / f"{name}.py").exists()} <= LOOSE[package]


@packages
def test_a_package_has_few_rooms_at_its_root(package: str) -> None:
    assert len(entries(package) - {"__init__", "__main__"}) <= ENTRIES[package]


def test_files_import_in_no_circle_and_chains_are_short() -> None:
    graph = grimp.build_graph(*LOOSE, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    depth = dict.fromkeys(imports, 1)
    for module in TopologicalSorter(imports).static_order():  # raises CycleError, which names the circle
        inside = [other for other in imports[module] if other.partition(".")[0] == module.partition(".")[0]]
        depth[module] += max((depth[other] for other in inside), default=0)
    deepest = {package: max(n for name, n in depth.items() if name.startswith(package)) for package in LOOSE}
    assert max(deepest.values()) <= DEEPEST, deepest


def test_a_session_is_one_class() -> None:
    assert len(ctxfold.Session.__mro__) - 2 <= BASES_OF_SESSION


def named(annotation: Any) -> set[type]:
    """The classes an annotation is made of."""
    inner = set().union(*map(named, get_args(annotation)))
    return inner | {annotation} if inspect.isclass(annotation) else inner


def test_public_signatures_name_only_exported_types() -> None:
    exported = {getattr(ctxfold, name) for name in ctxfold.__all__}
    functions = [thing for thing in exported if inspect.isfunction(thing)]
    for thing in filter(inspect.isclass, exported):
        members = [value.fget if isinstance(value, property) else value for value in vars(thing).values()]
        members = [getattr(member, "__func__", member) for member in members]
        functions += [one for one in members if inspect.isfunction(one) and not one.__name__.startswith("_")]
    types = set().union(*(named(hint) for one in functions for hint in get_type_hints(one).values()))
    assert {each.__name__ for each in types - exported if each.__module__.startswith("ctxfold")} <= LEAKED


def test_every_public_name_is_reached() -> None:
    entry_points = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    bare = [re.sub(r"^__all__.*?[\])]$", "", text, flags=re.DOTALL | re.MULTILINE) for text in SOURCES.values()]
    said = Counter(re.findall(r"\w+", "\n".join([*bare, entry_points])))
    public = {
        name
        for text in SOURCES.values()
        for listed in re.findall(r"^__all__.*?[\])]$", text, flags=re.DOTALL | re.MULTILINE)
        for name in re.findall(r'"(\w+)"', listed)
    }
    assert {name for name in public - set(ctxfold.__all__) if said[name] < 2} <= UNREACHED


def test_the_contract_holds_no_benchmark() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "contract").glob("*.py")}
    assert {name for name, text in texts.items() if "from tests.benchmarks" in text} <= BENCHMARKS_IN_CONTRACT
