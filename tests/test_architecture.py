"""The house rules, executed: who may import what, how large a thing may grow, and what must be said about it."""

import ast
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).parents[1]
PACKAGES = ("ctxfold", "browser_agent", "mcp_server")
CLI_ROOMS = ("ctxfold.cli", "browser_agent.cli", "mcp_server.cli")

HOMES = {
    "anthropic": ("ctxfold.models",),
    "click": CLI_ROOMS,
    "mcp": ("mcp_server",),
    "playwright": ("browser_agent",),
    "rich": CLI_ROOMS,
    "sqlite3": ("ctxfold.store",),
    "tiktoken": ("ctxfold.tokens",),
}
"""The libraries that live in one place, and where."""

ENVIRONMENT_READERS = ("ctxfold.config", *CLI_ROOMS)

FILE_LINES = 400
FUNCTION_LINES = 60
CONSTRUCTOR_PARAMETERS = 6

SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

every_module = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())


def module_name(path: Path) -> str:
    """The dotted name of the module in `path`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


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


def code_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function, its docstring not counted: a rule against long code must not be one against explaining it."""
    first = function.body[0]
    said = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return (function.end_lineno or 0) - function.lineno + 1 - said


def test_imports_go_down_only(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@every_module
def test_a_library_with_a_home_is_imported_nowhere_else(path: Path) -> None:
    module = module_name(path)
    strays = {name for name in imported(parsed(path)) if name in HOMES and not lives_in(module, HOMES[name])}
    assert not strays, f"{module} imports {', '.join(sorted(strays))}"


@every_module
def test_the_environment_is_read_in_one_place(path: Path) -> None:
    module = module_name(path)
    reads = [
        node.lineno
        for node in ast.walk(parsed(path))
        if (isinstance(node, ast.Attribute) and node.attr in ("environ", "environb", "getenv"))
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "os"
            and {"environ", "getenv"} & {a.name for a in node.names}
        )
    ]
    assert not reads or lives_in(module, ENVIRONMENT_READERS), f"{module} reads the environment in line {reads}"


@every_module
def test_a_module_says_what_it_is(path: Path) -> None:
    tree = parsed(path)
    assert not tree.body or ast.get_docstring(tree), f"{path.name} has no docstring"


@every_module
def test_a_file_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES


@every_module
def test_a_function_fits_on_a_screen(path: Path) -> None:
    long = {function.name: code_lines(function) for function in functions(parsed(path))}
    assert not {name: lines for name, lines in long.items() if lines > FUNCTION_LINES}


@every_module
def test_a_constructor_takes_few_things(path: Path) -> None:
    for function in functions(parsed(path)):
        if function.name == "__init__":
            taken = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
            assert len(taken) - 1 <= CONSTRUCTOR_PARAMETERS, f"line {function.lineno}"


@every_module
def test_a_public_name_exists_and_is_documented(path: Path) -> None:
    module = importlib.import_module(module_name(path))
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            said = (thing.__dict__.get("__doc__") if inspect.isclass(thing) else thing.__doc__) or ""
            made_up = said.startswith(f"{name}(")  # what a dataclass says when its author says nothing
            assert said.strip(), f"{module.__name__}.{name} has no docstring"
            assert not made_up, f"{module.__name__}.{name} has no docstring of its own"


def test_the_package_data_is_where_the_code_looks_for_it() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file()
