"""What a command is for, in one line, read from its source without running it.

`ctxfold --help` lists every command, and a command's package may import a browser or a server: so the line is taken from where
it is written, the docstring of the command's function, by parsing the file. It is written nowhere else.
"""

from __future__ import annotations

import ast
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint
from pathlib import Path

__all__ = ["one_line"]


def one_line(entry: EntryPoint) -> str | None:
    """The first sentence of a command's docstring; None where its source cannot be read."""
    source = _source(entry.module)
    if source is None:
        return None
    for node in ast.parse(source.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == entry.attr:
            paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
            return " ".join(paragraph.partition(". ")[0].split()).removesuffix(".")
    return None


def _source(module: str) -> Path | None:
    """The file of a module, found from its outermost package inwards without importing any of them."""
    outermost, *inner = module.split(".")
    spec = PathFinder.find_spec(outermost)
    for folder in (spec.submodule_search_locations if spec else None) or []:
        for file in (Path(folder, *inner, "__init__.py"), Path(folder, *inner).with_suffix(".py")):
            if file.is_file():
                return file
    return None
