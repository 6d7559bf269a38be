"""The shape of the house, executed: what stands at a package's root, how deep imports go, what is public and whether
anything reaches it.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, get_args, get_type_hints

import grimp

import ctxfold

ROOT = Path(__file__).parents[2]
PACKAGES = ("ctxfold", "browser_agent", "mcp_server")
DEEPEST = 24
WORDS = 8
"""So many plain lower-case English words in one collection or alternation make a list of words."""
VOCABULARIES = {
    "network/effects.py": "words on links and buttons that pay or delete by GET",
    "deciders/explorer.py": "endings of files",
    "observation/blocks.py": "ARIA roles",
    "observation/inline.py": "ARIA roles",
    "observation/rows.py": "words of JSON Schema",
    "log/page.py": "ARIA roles",
    "decisions/refactor/operators.py": "tags",
    "session/redact.py": "keys that code reads",
    "text/sentences.py": "keywords of programming languages",
}
"""Lists that guard, and vocabularies of formats: the files that hold one, and what it lists."""
SOURCES = {path: path.read_text(encoding="utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py")}


def test_files_import_in_no_circle_and_chains_are_short() -> None:
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}
    depth = dict.fromkeys(imports, 1)
    for module in TopologicalSorter(imports).static_order():  # raises CycleError, which names the circle
        inside = [other for other in imports[module] if other.partition(".")[0] == module.partition(".")[0]]
        depth[module] += max((depth[other] for other in inside), default=0)
    deepest = {package: max(n for name, n in depth.items() if name.startswith(package)) for package in PACKAGES}
    assert max(deepest.values()) <= DEEPEST, deepest


def test_a_session_is_what_reads_it_and_what_it_adds() -> None:
    assert [each.__name__ for each in ctxfold.Session.__mro__] == ["Session", "SessionReader", "object"]


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
    assert not {each.__name__ for each in types - exported if each.__module__.startswith("ctxfold")}


def test_the_contract_holds_no_benchmark() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "contract").glob("*.py")}
    assert not {name for name, text in texts.items() if "from tests.benchmarks" in text}


def listed_words(tree: ast.Module) -> Iterator[list[str]]:
    """The lower-case words of each collection, and of each text that holds a regular expression's alternatives or
    nothing but words.

    A statement that is a text alone documents, and `__all__` exports; neither lists words.
    """
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    silent |= {
        id(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "__all__" for to in node.targets)
    }
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.Set | ast.Tuple | ast.List):
            texts = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            yield [text for text in texts if re.fullmatch("[a-z]{2,}", text)]
        elif isinstance(node, ast.Attribute) and node.attr == "split" and isinstance(node.value, ast.Constant):
            yield re.findall("[a-z]{2,}", str(node.value.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for run in re.findall(r"\w+(?:\|\w+)+", node.value):
                yield [word for word in run.split("|") if re.fullmatch("[a-z]{2,}", word)]
            if "\n" in node.value.strip() and re.fullmatch(r"[a-z\s]+", node.value):
                yield node.value.split()


def test_no_language_words_in_product() -> None:
    data = {path.suffix for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()}
    assert data <= {".py", ".pyc", ".typed", ".md", ".js", ".html", ".sql", ".json", ".gz", ""}, "a data file of words"
    found = {
        str(path.relative_to(ROOT)): max(map(len, lists))
        for path, text in SOURCES.items()
        if (lists := [words for words in listed_words(ast.parse(text)) if len(words) >= WORDS])
    }
    assert not {path: words for path, words in found.items() if not path.endswith(tuple(VOCABULARIES))}
    assert all(any(path.endswith(name) for path in found) for name in VOCABULARIES), "a vocabulary that is gone"
