"""The map of the house: each room and file with the sentence its docstring begins with, as CONTRIBUTING.md shows it.

`python -m tests.architecture.rooms` writes the map into CONTRIBUTING.md anew.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
PACKAGES = ("ctxfold", "browser_agent", "mcp_server")
BEGIN, END = "<!-- the map -->\n", "<!-- the map ends -->\n"


def first_sentence(path: Path) -> str:
    """Return the first sentence of a module's docstring on one line."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n\n")[0].split())
    return re.split(r"(?<=[^.\d])\. (?=[A-Z`])", text)[0].rstrip(".:").replace("|", "\\|")


def draw_map() -> str:
    """Return a list of files for each package, in which a room's own line comes before its files."""
    lines: list[str] = []
    for package in PACKAGES:
        lines.append(f"\n**{package}/** {first_sentence(ROOT / package / '__init__.py')}.\n")
        paths = sorted(
            (ROOT / package).rglob("*.py"),
            key=lambda path: (len(path.parts) > 1, path.parent, path.name != "__init__.py", path.name),
        )
        for path in paths:
            name = path.relative_to(ROOT / package)
            if str(name) == "__init__.py":
                continue
            shown = f"`{name.parent}/`" if name.name == "__init__.py" else f"`{name}`"
            lead = "" if name.name == "__init__.py" or len(name.parts) == 1 else "  "
            lines.append(f"{lead}- {shown} {first_sentence(path)}")
    return "\n".join(lines).lstrip("\n") + "\n"


def replace_map(page: str) -> str:
    """Return a page with the map between its two marks drawn anew."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{draw_map()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(replace_map(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
