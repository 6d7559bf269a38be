"""The house rules, executed: who may import what, how large a thing may grow, and what must be said about it."""

import ast
import importlib
import inspect
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

from tests.architecture.rooms import PAGE, replace_map
from tests.architecture.weigh import function_lines

ROOT = Path(__file__).parents[2]
PACKAGES = ("ctxfold", "browser_agent", "mcp_server")
CLI_ROOMS = ("ctxfold.cli", "browser_agent.cli", "mcp_server.cli")

HOMES = {
    "anthropic": ("ctxfold.models",),
    "click": CLI_ROOMS,
    "mcp": ("mcp_server",),
    "openai": ("ctxfold.models",),
    "playwright": ("browser_agent",),
    "pydantic_ai": ("ctxfold.models",),
    "rich": CLI_ROOMS,
    "sqlite3": ("ctxfold.store",),
    "tiktoken": ("ctxfold.tokens",),
}
"""The libraries that live in one place, and where."""

ENVIRONMENT = {"environ", "environb", "getenv", "getenvb"}
ENVIRONMENT_READERS = ("ctxfold.config", *CLI_ROOMS)

FILE_LINES = 520
FUNCTION_LINES = 60
CONSTRUCTOR_PARAMETERS = 6

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
}
"""Every module by its dotted name."""


def parsed() -> Iterator[tuple[str, ast.Module]]:
    """Every module, parsed."""
    for module, path in MODULES.items():
        yield module, ast.parse(path.read_text(encoding="utf-8"), str(path))


def lives_in(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(room + ".") for room in rooms)


def imported(tree: ast.Module) -> Iterator[str]:
    """The top-level names a module imports from elsewhere, inside functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many parameters a function names, self included."""
    return len(function.args.posonlyargs + function.args.args + function.args.kwonlyargs)


def test_imports_go_down_only(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.disabled = False  # the linter sets up logging anew and silences everyone else's
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_a_library_with_a_home_is_imported_nowhere_else() -> None:
    strays = {
        f"{module} imports {name}"
        for module, tree in parsed()
        for name in imported(tree)
        if name in HOMES and not lives_in(module, HOMES[name])
    }
    assert not strays


def test_the_environment_is_read_in_one_place() -> None:
    reads = [
        f"{module}, line {node.lineno}"
        for module, tree in parsed()
        if not lives_in(module, ENVIRONMENT_READERS)
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in ENVIRONMENT)
        or (isinstance(node, ast.ImportFrom) and node.module == "os" and ENVIRONMENT & {a.name for a in node.names})
    ]
    assert not reads


def test_a_module_says_what_it_is() -> None:
    assert not [module for module, tree in parsed() if tree.body and not ast.get_docstring(tree)]


def test_a_file_can_be_read_in_one_sitting() -> None:
    lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert not {module: lines for module, lines in lengths.items() if lines > FILE_LINES}


def test_a_function_fits_on_a_screen() -> None:
    lengths = {
        f"{module}.{function.name}": function_lines(function)
        for module, tree in parsed()
        for function in functions(tree)
    }
    assert not {function: lines for function, lines in lengths.items() if lines > FUNCTION_LINES}


def test_a_constructor_takes_few_things() -> None:
    taken = {
        f"{module}, line {function.lineno}": parameters(function) - 1
        for module, tree in parsed()
        for function in functions(tree)
        if function.name == "__init__"
    }
    assert not {where: many for where, many in taken.items() if many > CONSTRUCTOR_PARAMETERS}


def test_a_public_name_exists_and_is_documented() -> None:
    silent = []
    for name in MODULES:
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            thing = getattr(module, public)
            if (inspect.isclass(thing) or inspect.isroutine(thing)) and thing.__qualname__ == public:
                said = (thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""
                made_up = said.startswith(f"{public}(")  # what a dataclass says when its author says nothing
                if made_up or not said.strip():
                    silent.append(f"{name}.{public}")
    assert not silent


def test_the_package_data_is_where_the_code_looks_for_it() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file()


def test_contributing_shows_the_map_of_the_house() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert replace_map(page) == page, "run python3 -m tests.architecture.rooms"
