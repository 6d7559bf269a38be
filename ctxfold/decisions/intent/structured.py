"""Selects values of a JSON record by a JMESPath expression, which may only return what stands in the record.

Source of the language: jmespath.org. Functions, literals and new names are allowed in conditions alone, as they would put words into the result that
the record does not hold.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import jmespath
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions

from ctxfold.log.json import parse, plain, spelled_tree, written

__all__ = ["values_at"]

_LONGEST = 400
_ALLOWED = frozenset(
    {
        "field", "subexpression", "index", "index_expression", "slice", "projection", "value_projection", "filter_projection", "flatten", "identity",
        "current", "pipe", "multi_select_list", "multi_select_dict", "key_val_pair", "or_expression", "and_expression",
    }
)  # fmt: skip


class _Functions(Functions):  # type: ignore[misc]  # the library is untyped
    """The functions of the language; they tell types by their names, and so are given values without a spelling."""

    def call_function(self, function_name: str, resolved_args: list[Any]) -> Any:
        """What a function makes of its arguments."""
        return super().call_function(function_name, [plain(each) for each in resolved_args])


_OPTIONS = jmespath.Options(custom_functions=_Functions())


def values_at(text: str, expression: str) -> tuple[str, str]:
    """The values an expression chooses, as JSON with each as the record spells it, and an empty string; or an empty string and why there are none."""
    if parse(text) is None:
        return "", "the record is not structured"
    if len(expression) > _LONGEST:
        return "", f"the path is longer than {_LONGEST} characters"
    tree = spelled_tree(text)
    try:
        compiled = jmespath.compile(expression)
        refused = _refused(compiled.parsed, frozenset(_keys(tree)))
        found = None if refused else compiled.search(tree, options=_OPTIONS)
    except (JMESPathError, TypeError, ValueError, RecursionError, AttributeError) as error:
        return "", f"the path is not one: {str(error).splitlines()[0][:80] if str(error) else type(error).__name__}"
    if refused:
        return "", refused
    if (
        found is None
        or found in ([], {})
        or (isinstance(found, list) and all(each in (None, [], {}) for each in found))
    ):
        return "", "the path finds nothing"
    return written(found), ""


def _refused(node: Any, keys: frozenset[str], condition: bool = False) -> str:
    """Why a part of an expression is not allowed; empty when all of it is."""
    sort = node["type"]
    if sort == "field" and node["value"] not in keys:
        near = difflib.get_close_matches(str(node["value"]), sorted(keys), n=1)
        return f"no key {node['value']!r} there" + (f"; did you mean {near[0]!r}?" if near else "")
    if sort == "key_val_pair" and node["value"] not in keys:
        return f"{node['value']!r} is no key of the record; keep the names it has"
    if not condition and sort not in _ALLOWED:
        return f"{sort.replace('_', ' ')} is allowed in conditions only"
    for at, child in enumerate(node.get("children", ())):
        if isinstance(child, dict):
            inside = condition or (sort == "filter_projection" and at == 2)
            refused = _refused(child, keys, inside)
            if refused:
                return refused
    return ""


def _keys(tree: Any) -> Iterator[str]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield from node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
