"""A fold in a reply: tool call, else."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctxfold.decisions.fold import FoldDirective, find_stretch
from ctxfold.errors import FoldError, InputError
from ctxfold.log import BlockRef, StepRef, StretchRef, parse_ref
from ctxfold.text.json import strictly
from ctxfold.workspace import Tile, Workspace

LONGEST = 32_000
"""Characters of a directive at most."""

Tag = Literal["context", "compress"]


@dataclass(frozen=True, slots=True)
class Marked:
    """One block of a reply, from where its opening tag begins to its end, with the JSON object inside, or the fault that makes it not well-formed.

    `prose`: whether it holds words rather than something like JSON, so that it is nothing to hide from a reader.
    """

    start: int
    end: int
    tag: Tag
    body: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None
    prose: bool = False


@dataclass(frozen=True, slots=True)
class _Mark:
    """One tag: where it stands, what it is, whether it closes, and whether words follow it rather than JSON."""

    start: int
    end: int
    tag: Tag
    closes: bool
    spoken: bool


_TAG = re.compile(r"<(/?)(context|compress)>")
_ESCAPED = re.compile(r"&lt;(context|compress)&gt;\s{0,20}(?:\{|&#123;|&quot;).{0,4000}?&lt;/\1&gt;", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_THOUGHT = re.compile(r"<(/?)think>")


def marked(reply: str) -> list[Marked]:
    """Every attempt at a directive in a reply, in order, none overlapping; one that is not closed runs to its end.

    Blocks in fenced code, between backticks, and before the end of a model's thinking are none.
    """
    hidden = _Stretches([*_fenced(reply), *_thought(reply)])
    marks = [mark for mark in _marks(reply) if mark.start not in hidden]
    if not marks:
        return [block for block in _escaped(reply) if block.start not in hidden]
    return list(_blocks(reply, marks))


def _blocks(reply: str, marks: Sequence[_Mark]) -> Iterator[Marked]:
    at = 0
    while at < len(marks):
        opening = marks[at]
        at += 1
        if opening.closes:
            continue
        if opening.spoken:
            closing = marks[at] if at < len(marks) else None
            if closing is not None and closing.closes and closing.tag == opening.tag:
                yield Marked(opening.start, closing.end, opening.tag, fault=_no_json(opening.tag), prose=True)
                at += 1
            continue
        inner: list[_Mark] = []
        depth = 1
        while at < len(marks) and depth:
            depth += -1 if marks[at].closes else 0 if marks[at].spoken else 1
            inner.append(marks[at])
            at += 1
        yield _open(reply, opening) if depth else _closed(reply, opening, inner)


def _open(reply: str, opening: _Mark) -> Marked:
    """A block that is never closed."""
    fault = f"the {opening.tag} block is not closed; write all of it, closing tag included"
    return Marked(opening.start, len(reply), opening.tag, fault=fault)


def _closed(reply: str, opening: _Mark, inner: Sequence[_Mark]) -> Marked:
    closing = inner[-1]
    tag = opening.tag
    if closing.tag != tag or any(not mark.spoken for mark in inner[:-1]):
        fault = f"the {tag} block holds another tag; write one block with nothing nested"
        return Marked(opening.start, closing.end, tag, fault=fault)
    return Marked(opening.start, closing.end, tag, *_object(reply[opening.end : closing.start], tag))


def _object(text: str, tag: Tag) -> tuple[dict[str, Any], str | None]:
    """The JSON object of a block, or why there is none."""
    if len(text) > LONGEST:
        return {}, f"the {tag} block has {len(text)} characters; {LONGEST} are the most"
    found = strictly(text)
    return (found, None) if isinstance(found, dict) else ({}, _no_json(tag))


def _no_json(tag: Tag) -> str:
    return f"the {tag} block does not hold one strict JSON object; write it as it is, no fence, comment or escape around it"


def _marks(reply: str) -> Iterator[_Mark]:
    """Every tag that is used; one between backticks is spoken of."""
    for found in _TAG.finditer(reply):
        start, end = found.span()
        closes = bool(found[1])
        beside = reply[end : end + 3] if closes else reply[max(0, start - 3) : start][::-1]
        if beside.startswith("`") and beside != "```":
            continue
        behind = reply[end : end + 200].lstrip()
        yield _Mark(start, end, _tag(found[2]), closes, not closes and not behind.startswith(_LIKE_JSON))


_LIKE_JSON = tuple("{[<\"'&`~")
"""What follows an opening tag that is used. Behind one that is spoken of there are words."""


def _escaped(reply: str) -> Iterator[Marked]:
    for found in _ESCAPED.finditer(reply):
        fault = f"the {found[1]} block is HTML-escaped; write its tags and its JSON as they are"
        yield Marked(found.start(), found.end(), _tag(found[1]), fault=fault)


def _tag(name: str) -> Tag:
    return "context" if name == "context" else "compress"


class _Stretches:
    """Stretches of a text, each a start and an end, which may overlap; to ask whether a place lies in one."""

    def __init__(self, stretches: Sequence[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(stretches):
            if self._ends and start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, at: int) -> bool:
        found = bisect_right(self._starts, at) - 1
        return found >= 0 and at < self._ends[found]


def _fenced(reply: str) -> Iterator[tuple[int, int]]:
    """Fenced code, as CommonMark has it; a fence left open runs to the end."""
    fence, start = "", 0
    for mark in _FENCE.finditer(reply):
        if not fence:
            if mark[1][0] == "~" or "`" not in mark[2]:
                fence, start = mark[1], mark.start()
        elif mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
            yield start, mark.end()
            fence = ""
    if fence:
        yield start, len(reply)


def _thought(reply: str) -> Iterator[tuple[int, int]]:
    """What a model thought before it answered. Its opening mark may stand in the prompt, so all before the last closing one counts."""
    marks = list(_THOUGHT.finditer(reply))
    end = max((mark.end() for mark in marks if mark[1]), default=0)
    yield 0, end
    left_open = next((mark.start() for mark in marks if not mark[1] and mark.start() >= end), len(reply))
    yield left_open, len(reply)


_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Target(_Strict):
    ids: list[int | str] = Field(max_length=1_000)


class _Fold(_Strict):
    type: Literal["granular_condensation", "deep_consolidation"]
    target: _Target | None = None
    summary_text: _Text


class _Latest(_Strict):
    step: int | None = None
    explanation: str | None = None
    action: dict[str, Any] | str | None = None
    observation: str | None = None


class _Context(_Strict):
    fold: _Fold | None = None
    latest: _Latest | None = None


class _Compress(_Strict):
    compress_range: list[int] = Field(min_length=1, max_length=10_000)
    compress_text: _Text


_KEYS = frozenset(name for form in (_Context, _Fold, _Target, _Latest, _Compress) for name in form.model_fields)


def wanted(tag: Tag, body: Mapping[str, Any], workspace: Workspace) -> FoldDirective | None:
    """The directive of a block, its first and last step whole blocks of the workspace; None where it asks for no fold.

    Raises:
        FoldError: it does not fit its form, or names what cannot be folded.
        RefError: an id that is no address.
    """
    try:
        summary, ends = _read(tag, body, workspace)
    except ValidationError as error:
        raise FoldError(_told(error)) from error
    if ends is None:
        return None
    if not summary.strip():
        raise FoldError("the summary is empty; say what was done, found and decided")
    first, last = ends
    find_stretch(workspace, first, last)
    return FoldDirective(summary=summary, first_step=first, last_step=last)


def _read(tag: Tag, body: Mapping[str, Any], workspace: Workspace) -> tuple[str, tuple[int, int] | None]:
    """The summary of a block and the ends of what it folds; no ends where it folds nothing."""
    match tag:
        case "context":
            fold = _Context.model_validate(body).fold
            return ("", None) if fold is None else (fold.summary_text, _ends(fold, _Path(workspace)))
        case "compress":
            given = _Compress.model_validate(body)
            return given.compress_text, _Path(workspace).run(given.compress_range)


def _ends(fold: _Fold, path: _Path) -> tuple[int, int]:
    """The first and the last step that a fold of the `context` form names."""
    ids = fold.target.ids if fold.target is not None else []
    latest = path.latest
    match fold.type:
        case "granular_condensation":
            if len(latest) != 1 or (ids and path.covered(ids) != latest):
                raise FoldError(
                    f"granular_condensation folds the latest step, s{latest[-1]}, alone; use deep_consolidation for others"
                )
            return latest[0], latest[0]
        case "deep_consolidation":
            if not ids:
                raise FoldError('deep_consolidation needs target.ids: the blocks to fold, such as ["s4-s9", "s10"]')
            return path.run(path.covered(ids), gaps=False)


class _Path:
    """The steps of a workspace that can be folded, in path order, and the tiles among them."""

    def __init__(self, workspace: Workspace) -> None:
        if not workspace.blocks:
            raise FoldError("nothing to fold yet; record a step first")
        self._steps = [step for block in workspace.blocks for step in block.steps]
        self._at = {step: at for at, step in enumerate(self._steps)}
        self._tiles = {block.number: block.steps for block in workspace.blocks if isinstance(block, Tile)}
        self.latest = workspace.blocks[-1].steps

    def covered(self, ids: Sequence[int | str]) -> tuple[int, ...]:
        """The steps that ids name, in path order, each once."""
        named = [step for one in ids for step in self._named(one)]
        if len(set(named)) < len(named):
            raise FoldError("a block is named twice; name each once")
        return tuple(sorted(named, key=self._place))

    def run(self, steps: Sequence[int], gaps: bool = True) -> tuple[int, int]:
        """The ends of a run of steps. With `gaps`, two steps alone are the ends of one."""
        start, end = self._place(steps[0]), self._place(steps[-1]) + 1
        if not (gaps and len(steps) == 2 and end - start >= 2) and self._steps[start:end] != list(steps):
            raise FoldError("those are not neighbours in path order; name every block from the first to the last")
        return steps[0], steps[-1]

    def _place(self, step: int) -> int:
        if step not in self._at:
            raise FoldError(f"s{step} is not among the steps that can be folded here; name some that the context shows")
        return self._at[step]

    def _named(self, one: int | str) -> Sequence[int]:
        """The steps of one id. A number is a tile's; an address of several runs names all of them."""
        if isinstance(one, int):
            return self._tile(one)
        found: list[int] = []
        for part in one.split(","):
            match parse_ref(part):
                case StepRef(step=step):
                    found.append(step)
                case StretchRef(first=first, last=last):
                    found += self._steps[self._place(first) : self._place(last) + 1]
                case BlockRef(block=number):
                    found += self._tile(number)
                case _:
                    raise FoldError(
                        "an id names whole blocks: a step such as s4, a stretch such as s4-s9, a tile such as b7"
                    )
        return found

    def _tile(self, number: int) -> Sequence[int]:
        if number not in self._tiles:
            raise FoldError(f"no block b{number} stands here; name blocks or steps that the context shows")
        return self._tiles[number]


def _told(error: ValidationError) -> str:
    """What does not fit, without a word that the model wrote."""
    faults = error.errors(include_url=False, include_context=False, include_input=False)[:4]
    places = [
        f"{fault['type'].replace('_', ' ')} at {'.'.join(str(part) for part in fault['loc'] if part in _KEYS) or 'its top'}"
        for fault in faults
    ]
    return f"the directive does not fit its form ({'; '.join(dict.fromkeys(places))}); write its keys and kinds exactly"


@dataclass(frozen=True, slots=True)
class Compliance:
    """How well a model keeps to the form; those of several replies add up.

    Attributes:
        replies: replies read.
        folds: those that held a directive which can be applied.
        silent: those that asked for no fold.
        refused: those whose directive, or attempts at one, cannot be applied.
        malformed: blocks passed over because they are not well-formed.
    """

    replies: int = 0
    folds: int = 0
    silent: int = 0
    refused: int = 0
    malformed: int = 0

    def __add__(self, other: Compliance) -> Compliance:
        return Compliance(
            self.replies + other.replies,
            self.folds + other.folds,
            self.silent + other.silent,
            self.refused + other.refused,
            self.malformed + other.malformed,
        )

    @property
    def rate(self) -> float:
        """The share of attempts that can be applied, from 0 to 1; 1 where nothing was tried."""
        tried = self.folds + self.refused
        return self.folds / tried if tried else 1.0


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply, read: the directive in it that fits the workspace, if any, and the text as its user may see it, directives taken out.

    `reason`: why there is no directive although one was tried; `compliance`: what this reply adds to the count.
    """

    directive: FoldDirective | None
    text: str
    reason: str | None
    compliance: Compliance


def parse(reply: object, workspace: Workspace) -> Parsed:
    """Read what a model wrote, for a workspace that its directive would be applied to. Nothing a model writes makes it raise."""
    if not isinstance(reply, str):
        return Parsed(None, "", "the reply is not text", Compliance(replies=1, refused=1))
    blocks = marked(reply)
    visible = _without(reply, [block for block in blocks if not block.prose])
    good = [block for block in blocks if block.fault is None]
    malformed = len(blocks) - len(good)
    if good:
        try:
            directive = wanted(good[-1].tag, good[-1].body, workspace)
        except InputError as error:
            return Parsed(None, visible, str(error), Compliance(replies=1, refused=1, malformed=malformed))
        folds = directive is not None
        return Parsed(directive, visible, None, Compliance(1, int(folds), int(not folds), malformed=malformed))
    if blocks:
        return Parsed(None, visible, blocks[-1].fault, Compliance(replies=1, refused=1, malformed=malformed))
    return Parsed(None, visible, None, Compliance(replies=1, silent=1))


def _without(reply: str, blocks: Sequence[Marked]) -> str:
    """A reply without some blocks, and without the blank lines they would leave."""
    if not blocks:
        return reply
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept.append(reply[at : block.start].rstrip() if not kept else reply[at : block.start].strip())
        at = block.end
    return "\n".join(part for part in (*kept, reply[at:].strip()) if part)
