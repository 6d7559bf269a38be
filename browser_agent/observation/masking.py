"""Takes passwords out of a snapshot's text. Everything else stays byte for byte."""

from __future__ import annotations

import re
from collections.abc import Sequence

from browser_agent.observation.snapshot import split, unquoted

MASK = "••••••••"
"""What stands for a password, whatever its length."""

_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox"})
_OPENS = tuple(f"- {quote}{role}" for role in sorted(_FIELDS) for quote in ("", "'"))
"""How the line of a field begins; the rest of a large page is not read for it."""
_CALLED = re.compile(r"pass(?:word|phrase|code)|kennwort|passwort|contrase|mot de passe|\bpin\b", re.IGNORECASE)


def masked(yaml: str, secrets: Sequence[str], *, every_field: bool) -> str:
    """`yaml` without the values of password fields.

    Args:
        yaml: a whole snapshot.
        secrets: the values of the page's password fields, as they stand.
        every_field: some frame would not tell which of its fields hold one, so the value of every field goes.
    """
    known = {_squeezed(secret) for secret in secrets}
    lines = yaml.split("\n")
    inside: int | None = None
    named = False
    for number, line in enumerate(lines):
        body = line.lstrip(" ")
        depth = len(line) - len(body)
        if not body.startswith(_OPENS) and (inside is None or depth <= inside):
            inside = None
            continue
        key, value = split(body[2:])
        if inside is not None and depth > inside:
            within = key == "text"
        else:
            within = key.partition(" ")[0] in _FIELDS
            inside = depth if within else None
            named = within and bool(_CALLED.search(key))
        if within and value and (every_field or named or _squeezed(unquoted(value)) in known):
            lines[number] = line[: len(line) - len(value)] + MASK
    return "\n".join(lines)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
