"""Weighs the house: code and files of each room, and the few other sizes that `ceilings.toml` holds.

`python -m tests.architecture.weigh` prints what is above its ceiling, or one line when nothing is; `--tighten` lowers
each ceiling to what was measured. A ceiling rises by hand only, in the commit that lowers another by as much.
"""

import ast
import io
import subprocess
import sys
import tokenize
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
CEILINGS = Path(__file__).with_name("ceilings.toml")
GOAL = 17_500
"""Lines of code that the product aims at, with the features it has today."""
PRODUCT = ("ctxfold", "browser_agent", "mcp_server", "tiktoken_ext", "run.py")
IGNORED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING,
}  # fmt: skip
Sizes = dict[str, dict[str, int]]


def list_files(*endings: str) -> list[str]:
    """Return the files that git tracks, or would track, with one of these endings."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return sorted(name for name in set(listed) if name.endswith(endings) and (ROOT / name).is_file())


def count_code(text: str, tree: ast.Module) -> int:
    """Count the lines that hold a token which is no comment, docstring or import."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        ):
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in IGNORED:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - skipped)


def count_script(text: str) -> int:
    """Count the lines of a JavaScript file that are neither blank nor a comment."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith(("//", "*", "/*")))


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count a function's lines without its docstring."""
    first = function.body[0]
    documented = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(function) is not None else 0
    return (function.end_lineno or 0) - function.lineno + 1 - documented


def find_room(name: str) -> str:
    """Return the room of a file: its package and folder, or its package alone."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def weigh() -> Sizes:
    """Measure the tree: a table for each room, and `whole` for what holds everywhere."""
    sizes: Sizes = defaultdict(lambda: {"files": 0, "code": 0})
    classes: dict[str, set[str]] = defaultdict(set)
    files, functions, wide = {"": 0}, {"": 0}, 0
    for name in list_files(".py"):
        text = (ROOT / name).read_text(encoding="utf-8")
        if not name.startswith(PRODUCT):
            continue
        tree = ast.parse(text)
        code = count_code(text, tree)
        for room in (find_room(name), "whole"):
            sizes[room]["files"] += 1
            sizes[room]["code"] += code
        files[name] = len(text.splitlines())
        wide += sum(len(line) > 120 for line in text.splitlines())
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].add(name)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[f"{name}:{node.name}"] = function_lines(node)
    scripts = [
        name for name in list_files(".js", ".mjs", ".ts") if not name.startswith(("tests/", "examples/", "docs/"))
    ]
    tests = {
        name: len((ROOT / name).read_text(encoding="utf-8").splitlines())
        for name in list_files(".py")
        if name.startswith("tests/")
    }
    benchmarks = sum(lines for name, lines in tests.items() if name.startswith("tests/benchmarks/"))
    sizes["whole"] |= {
        "longest_file": max(files.values()),
        "longest_function": max(functions.values()),
        "names_with_two_meanings": sum(len(homes) > 1 for homes in classes.values()),
        "lines_over_120": wide,
        "javascript": sum(count_script((ROOT / name).read_text(encoding="utf-8")) for name in scripts),
        "tests": sum(tests.values()) - benchmarks,
        "benchmarks": benchmarks,
    }
    return dict(sizes)


def read_ceilings() -> Sizes:
    """Read `ceilings.toml`."""
    return tomllib.loads(CEILINGS.read_text(encoding="utf-8"))


def compare(sizes: Sizes, ceilings: Sizes) -> list[str]:
    """Say in a sentence each what is above its ceiling, with the next move."""
    above = []
    for room, measured in sorted(sizes.items()):
        for what, size in measured.items():
            most = ceilings.get(room, {}).get(what, 0)
            if size > most:
                above.append(
                    f"{room}: {size:,} {what.replace('_', ' ')}, ceiling {most:,}. "
                    f"Delete {size - most:,}, or lower another room's ceiling by as much."
                )
    return above


def summarise(sizes: Sizes, ceilings: Sizes) -> str:
    """Say in one line how heavy the house is."""
    whole = sizes["whole"]
    rooms = sorted(((room["code"], name) for name, room in sizes.items() if name != "whole"), reverse=True)[:3]
    heaviest = ", ".join(f"{name} {code:,}" for code, name in rooms)
    return (
        f"house: {whole['code']:,} of {ceilings['whole']['code']:,} code, {whole['files']} files; "
        f"goal {GOAL:,}: {whole['code'] - GOAL:,} to go; heaviest: {heaviest}"
    )


def tighten(sizes: Sizes, ceilings: Sizes) -> str:
    """Return `ceilings.toml` with each ceiling lowered to what was measured; rooms that are gone leave it."""
    tables = []
    for room, measured in sorted(sizes.items(), key=lambda item: (item[0] == "whole", item[0])):
        lowered = {what: min(size, ceilings.get(room, {}).get(what, size)) for what, size in measured.items()}
        tables.append(f'["{room}"]\n' + "".join(f"{what} = {size}\n" for what, size in lowered.items()))
    return (
        "# The most that each room may hold. Lowered by `python3 run.py check --tighten`, raised by hand against another.\n\n"
        + "\n".join(tables)
    )


def main() -> int:
    """Print what is too large, or one line; return 1 where something is."""
    sizes, ceilings = weigh(), read_ceilings()
    if "--tighten" in sys.argv[1:]:
        CEILINGS.write_text(tighten(sizes, ceilings), encoding="utf-8")
        ceilings = read_ceilings()
    above = compare(sizes, ceilings)
    print("\n".join(above) or summarise(sizes, ceilings))
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
