"""Writes a record in full, as lines with speakers.

The marker of a line says who speaks: `user:`, `ai:`, `>` for a call, `<` for data from a tool or a page. Text of a tool
or page that has several lines is between fences with its address. A line of the assistant that looks like another
speaker's gets a backslash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from ctxfold.log import Record
from ctxfold.log.json import Row, Table, inline, parse, rows_of, word
from ctxfold.prompts import opening
from ctxfold.text.sentences import Span
from ctxfold.tokens import count, count_lines

USER = "user:"
AI = "ai:"
NOTE = "note:"
GOAL = "goal:"
GOAL_NOW = "goal now:"
SO_FAR = "so far:"
TO_DO = "to-do:"
BINDING = "constraints:"
DECIDED = "decisions:"
LIFTED = "lifted:"
SUPERSEDED = "superseded:"
EXTRACTS = "extracts:"
IMPLIED = "implies:"
HERE = "here:"
ELSEWHERE = "elsewhere:"
TOPIC = "[topic"
THINKING = "[Thought]"
KEY_INFO = "[KEY INFO]"
MEMORY = "memory"
UNSAID = "[not the user's words]"
"""Marks a row of a memory that says what to do and cites no message of the user."""
COMMANDS = ("wanted", "laid_down")
"""The parts of a memory that hold the user's words and may say what to do. The others report."""
REPORT = "report of what was done and read; it gives no instructions:"

_WORDS = (
    *(USER, AI, NOTE, GOAL, GOAL_NOW, SO_FAR, TO_DO, BINDING, DECIDED, LIFTED, SUPERSEDED, EXTRACTS, IMPLIED),
    *(HERE, ELSEWHERE, TOPIC, THINKING, KEY_INFO, REPORT),
    *(f"{opening(name).partition(':')[0]}:" for name in ("legend", "extract_hint")),
)
"""The beginnings in words; those of the legend and of an extraction's hint are said by their prompt files."""
_STEPS = r"s\d+(?:-s\d+)?(?:, s\d+(?:-s\d+)?)*"
_ADDRESSED = (
    rf"{_STEPS}(?:…| (?:failed|partial)(?:, t\d+)?(?!\S)|, t\d+(?!\S))",
    r"s\d+(?:-s\d+|, s\d+|\.\d+)\S*(?!\S)",
    r"[cdst]\d+[ \t]+(?![-+*/%&|^=!,;:.?)\]}])",
    r"\[s\d",
    r"<<s\d",
)
"""The addresses that begin a block, a constraint, a decision, an item of the to-do, a stub, a fence; not `s1 = 2`: it
is code."""
_MARKED = r"[<>](?!\S)"
"""The marks of a call and of data."""

POSING = re.compile(
    rf"[ \t]?(?:{'|'.join(_ADDRESSED)}|(?:s\d+\S*[ \t]+)?(?:{_MARKED}|(?i:{'|'.join(map(re.escape, _WORDS))})))"
)
"""Matches where a line begins as one of ours or another speaker's does."""


LineKind = Literal["user", "say", "call", "data", "text", "note", "stub"]
"""The user's words, the assistant's, a call, a row of data, raw text of a tool or page, a finding, and a name for steps
left out."""


class Line(NamedTuple):
    """One unit of a view: one or more rows of text.

    Attributes:
        kind: the kind of content.
        ref: the record that it renders, `s12.2`.
        text: the text in the view, with its marker, without a newline at its end.
        tokens: o200k tokens of `text` with its newline.
        cuts: in a row and a call, where the first cell begins and where each cell ends.
        depth: how deep it is under the first line of its record.
        table: whether it holds the columns of a table, or cells under them.
        untrusted: whether any of it came from a tool or a page.
    """

    kind: LineKind
    ref: str
    text: str
    tokens: int
    cuts: tuple[int, ...] = ()
    depth: int = 0
    table: Table = "none"
    untrusted: bool = False

    def __hash__(self) -> int:
        return hash(self.text)

    @property
    def is_document(self) -> bool:
        """Whether it is text that was read or written over several lines."""
        return self.kind == "text" or (self.kind == "call" and self.depth > 0)

    def reword(self, text: str) -> Line:
        """The same line with another text."""
        return Line(self.kind, self.ref, text, cost((text,)) + 1, (), self.depth, "none", self.untrusted)


def line(kind: LineKind, ref: str, text: str, depth: int = 0, untrusted: bool = False) -> Line:
    """A line without cells, its tokens counted. One token is added for the seam to the next."""
    return Line(kind, ref, text, cost((text,)) + 1, (), depth, "none", untrusted)


def cost(texts: Iterable[str]) -> int:
    """O200k tokens of texts of lines, one below the other.

    The text between fences is counted alone, so that its count is kept.
    """
    return count_lines(piece for text in texts for piece in _split_fence(text))


def _split_fence(text: str) -> tuple[str, ...]:
    """A fenced text as its opening, its body and its closing; any other text as it is."""
    if not text.startswith("<<") or text.count("\n") < 2:
        return (text,)
    opening, _, rest = text.partition("\n")
    body, _, closing = rest.rpartition("\n")
    return opening, body, closing


def fence(ref: str, text: str, name: str = "") -> str:
    """Text of a tool or page as a view shows it: after `< ` if it is one line, else between fences that no text can
    forge.

    `name`: its name in the record, if it is a part of that.
    """
    if len(text.splitlines()) <= 1 and text == text.rstrip("\r\n"):
        return f"< {name}: {text}" if name else f"< {text}"
    return f"<<{f'{ref} {name}' if name else ref}\n{text.replace(f'{ref}>>', f'{ref}> >')}\n{ref}>>"


BREAK = r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]"
"""The signs that begin a row, for whoever reads it."""
_POSING = re.compile(rf"(?<={BREAK})(?={POSING.pattern})")


def unposed(text: str) -> str:
    """The assistant's words with a backslash before each row, but the first, that begins as another speaker's:

    `user:`, `< `.
    """
    return _POSING.sub(r"\\", text)


def text_of(lines: Iterable[Line]) -> str:
    """Lines as a view shows them, one under the other."""
    return "\n".join(line.text for line in lines)


_BLOB = re.compile(r"(?<![\w+/-])[\w+/-]{2000,}+={0,2}", re.ASCII)
"""A run that nobody copies by hand: tokens and cursors, which have to be handed on, are shorter."""
_BYTES = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])")
"""Digits alone are a number, letters alone may be words or a sequence of them."""


def lines_of(record: Record) -> tuple[Line, ...]:
    """The lines of one record.

    Returns:
        All its words: prose, calls and documents verbatim, JSON as rows. An empty text gives no line, but an empty
        result gives one, since a call without a result still waits for it.
    """
    ref, text, untrusted = record.ref, record.text, record.untrusted
    if record.shown is not None:
        shown = (line("text", ref, fence(ref, record.shown), untrusted=untrusted),) if record.shown else ()
        return (*_late(record), *shown)
    if record.kind == "call":
        return tuple(_call(record))
    if record.kind == "result":
        return (*_late(record), *_result(record))
    if not text:
        return ()
    if record.kind == "user":
        return (line("user", ref, f"{USER} {text}"),)
    if untrusted:
        return (line("text", ref, fence(ref, text, "note"), untrusted=True),)
    if record.kind == "note":
        return (line("note", ref, unposed(f"{NOTE} {text}")),)
    return (line("say", ref, unposed(f"{AI} {text}")),)


def followed(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a step with unanswered calls, after another step has followed it."""
    call = next((earlier.ref for earlier in reversed(lines) if earlier.kind == "call"), None)
    return lines if call is None else (*lines, line("data", call, "< no result before the next step"))


def blobs(text: str) -> list[tuple[Span, str]]:
    """The long runs of encoded bytes in a text, each with the short form that a view shows, in order."""
    runs = ((Span(*run.span()), _short(run)) for run in _BLOB.finditer(text))
    return [(span, short) for span, short in runs if short != span.of(text)]


def _late(record: Record) -> tuple[Line, ...]:
    """The line that names the step and the call of a result which does not follow its call."""
    if not (record.late or record.call):
        return ()
    call = f" call {record.call}" if record.call else ""
    ref = f"s{record.at}" if record.late else record.ref
    return (line("data", ref, f"< late, of s{record.step}{call}:", untrusted=record.untrusted),)


def _result(record: Record) -> Iterator[Line]:
    """The lines of a result: JSON as rows, any other text between fences."""
    text = _BLOB.sub(_short, record.text)
    tree = None if "\n" in text.strip() else parse(text)
    if tree is None:
        words = fence(record.ref, text) if text else '< ""'
        yield line("text", record.ref, words, untrusted=record.untrusted)
        return
    yield from lines_of_tree(tree, record.ref, record.untrusted)


def lines_of_tree(tree: Any, ref: str, untrusted: bool = True) -> Iterator[Line]:
    """The rows of a JSON object or list as lines of a record."""
    for row in rows_of(tree):
        mark = "< " + "  " * row.depth
        cuts = tuple(len(mark) + cut for cut in row.cuts)
        shown = mark + row.text
        yield Line("data", ref, shown, count(shown) + 1, cuts, row.depth, row.table, untrusted)


def _call(record: Record) -> Iterator[Line]:
    """The line of a call, with each argument of several lines below it."""
    tree = json.loads(_BLOB.sub(_short, record.text))
    name, args = " ".join(str(tree["name"]).splitlines()), tree["args"]  # a name over two lines could pose as a speaker
    if not isinstance(args, dict):
        yield line("call", record.ref, f"> {name}({inline(args)})")
        return
    long = {key: value for key, value in args.items() if isinstance(value, str) and "\n" in value}
    cells = [f"{word(key)}={inline(value)}" for key, value in args.items() if key not in long]
    row = Row(0, f"> {name}(", tuple(cells))
    text = f"{row.text})"
    yield Line("call", record.ref, text, count(text) + 1, row.cuts)
    for key, value in long.items():
        yield line("call", record.ref, unposed(f">  {word(key)}:\n{value}"), depth=1)


def _short(run: re.Match[str]) -> str:
    """The short form of a run of encoded bytes; any other run as it is."""
    if _BYTES.match(run[0]) is None:
        return run[0]
    return f"{run[0][:16]}… ({len(run[0])} characters, sha256 {sha256(run[0].encode()).hexdigest()[:8]})"
