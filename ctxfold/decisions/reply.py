"""Reads the fold that a model wrote in its reply: a `<context>` or `<compress>` block with JSON, or none."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctxfold.decisions.fold import FoldDirective, find_stretch
from ctxfold.errors import FoldError, InputError
from ctxfold.log import BlockRef, StepRef, StretchRef, parse_ref
from ctxfold.text.json import strictly
from ctxfold.workspace import Tile, Workspace

LONGEST = 32_000
"""Characters of a directive at most."""


@dataclass(frozen=True, slots=True)
class _DirectiveBlock:
    """One block of a reply: its stretch, and the JSON object inside or the fault of it.

    `prose`: it holds words rather than JSON, so that a reader may see it.
    """

    start: int
    end: int
    tag: str
    body: dict[str, Any] = field(default_factory=dict)
    fault: str | None = None
    prose: bool = False


@dataclass(frozen=True, slots=True)
class _ContextTag:
    """One tag. `spoken`: words follow it, so it is talked about and opens nothing."""

    start: int
    end: int
    name: str
    closes: bool
    spoken: bool


_TAG = re.compile(r"<(/?)(context|compress)>")
_ESCAPED = re.compile(r"&lt;(context|compress)&gt;\s{0,20}(?:\{|&#123;|&quot;).{0,4000}?&lt;/\1&gt;", re.DOTALL)
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_THOUGHT = re.compile(r"<(/?)think>")
_LIKE_JSON = tuple("{[<\"'&`~")
"""What follows an opening tag that is used; after one that is talked about there are words."""


def _find_blocks(reply: str) -> list[_DirectiveBlock]:
    """Every attempt at a directive, in order, none overlapping; one that is not closed runs to the end.

    Blocks in fenced code, between backticks, and before the end of a model's thinking do not count.
    """
    signs = list(reply)
    for start, end in (*_find_fenced(reply), *_find_thought(reply)):
        signs[start:end] = " " * (end - start)
    seen = "".join(signs)
    tags = list(_find_tags(reply, seen))
    if tags:
        return list(_pair_tags(reply, tags))
    how = "the {} block is HTML-escaped; write its tags and its JSON as they are"
    return [_DirectiveBlock(*each.span(), each[1], fault=how.format(each[1])) for each in _ESCAPED.finditer(seen)]


def _pair_tags(reply: str, tags: Sequence[_ContextTag]) -> Iterator[_DirectiveBlock]:
    at = 0
    while at < len(tags):
        opening = tags[at]
        name = opening.name
        at += 1
        if opening.closes:
            continue
        if opening.spoken:
            closing = tags[at] if at < len(tags) else None
            if closing is not None and closing.closes and closing.name == name:
                yield _DirectiveBlock(opening.start, closing.end, name, fault=_no_json(name), prose=True)
                at += 1
            continue
        first, depth = at, 1
        while at < len(tags) and depth:
            depth += -1 if tags[at].closes else 0 if tags[at].spoken else 1
            at += 1
        inner = tags[first:at]
        if depth:
            fault = f"the {name} block is not closed; write all of it, closing tag included"
            yield _DirectiveBlock(opening.start, len(reply), name, fault=fault)
        elif inner[-1].name != name or any(not tag.spoken for tag in inner[:-1]):
            fault = f"the {name} block holds another tag; write one block with nothing nested"
            yield _DirectiveBlock(opening.start, inner[-1].end, name, fault=fault)
        else:
            body = _read_object(reply[opening.end : inner[-1].start], name)
            yield _DirectiveBlock(opening.start, inner[-1].end, name, *body)


def _read_object(text: str, name: str) -> tuple[dict[str, Any], str | None]:
    """The JSON object of a block, or its fault."""
    if len(text) > LONGEST:
        return {}, f"the {name} block has {len(text)} characters; {LONGEST} are the most"
    found = strictly(text)
    return (found, None) if isinstance(found, dict) else ({}, _no_json(name))


def _no_json(name: str) -> str:
    return f"the {name} block does not hold one strict JSON object; write it without fence, comment or escape"


def _find_tags(reply: str, seen: str) -> Iterator[_ContextTag]:
    """Every tag of a reply that is in `seen`, and not between backticks."""
    for found in _TAG.finditer(seen):
        start, end = found.span()
        closes = bool(found[1])
        near = reply[end : end + 3] if closes else reply[max(0, start - 3) : start][::-1]
        if near.startswith("`") and near != "```":
            continue
        spoken = not closes and not reply[end : end + 200].lstrip().startswith(_LIKE_JSON)
        yield _ContextTag(start, end, found[2], closes, spoken)


def _find_fenced(reply: str) -> Iterator[tuple[int, int]]:
    """Fenced code (CommonMark, section 4.5); a fence left open runs to the end."""
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


def _find_thought(reply: str) -> Iterator[tuple[int, int]]:
    """A model's thinking. Its opening mark may be in the prompt, so all before the last closing mark counts."""
    marks = list(_THOUGHT.finditer(reply))
    end = max((mark.end() for mark in marks if mark[1]), default=0)
    yield 0, end
    yield next((mark.start() for mark in marks if not mark[1] and mark.start() >= end), len(reply)), len(reply)


_Text = Annotated[str, Field(min_length=1)]


class _Strict(BaseModel):
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Target(_Strict):
    ids: list[int | str] = Field(max_length=1_000)


class _ContextFold(_Strict):
    type: Literal["granular_condensation", "deep_consolidation"]
    target: _Target | None = None
    summary_text: _Text


class _Latest(_Strict):
    step: int | None = None
    explanation: str | None = None
    action: dict[str, Any] | str | None = None
    observation: str | None = None


class _Context(_Strict):
    fold: _ContextFold | None = None
    latest: _Latest | None = None


class _Compress(_Strict):
    compress_range: list[int] = Field(min_length=1, max_length=10_000)
    compress_text: _Text


_KEYS = frozenset(name for form in (_Context, _ContextFold, _Target, _Latest, _Compress) for name in form.model_fields)


def _read_directive(tag: str, body: Mapping[str, Any], workspace: Workspace) -> FoldDirective | None:
    """The directive of a block, for steps that are whole blocks of the workspace; None if it asks for no fold.

    Raises:
        FoldError: it does not fit its form, or names steps that cannot be folded.
        RefError: an id that is not an address.
    """
    try:
        if tag == "compress":
            given = _Compress.model_validate(body)
            summary, ends = given.compress_text, _FoldPath(workspace).run(given.compress_range)
        else:
            asked = _Context.model_validate(body).fold
            if asked is None:
                return None
            summary, ends = asked.summary_text, _find_ends(asked, _FoldPath(workspace))
    except ValidationError as error:
        raise FoldError(_describe(error)) from error
    if not summary.strip():
        raise FoldError("the summary is empty; say what was done, found and decided")
    find_stretch(workspace, *ends)
    return FoldDirective(summary=summary, first_step=ends[0], last_step=ends[1])


def _find_ends(asked: _ContextFold, path: _FoldPath) -> tuple[int, int]:
    """The first and the last step that a `context` block names."""
    ids = asked.target.ids if asked.target is not None else []
    if asked.type == "deep_consolidation":
        if not ids:
            raise FoldError('deep_consolidation needs target.ids: the blocks to fold, such as ["s4-s9", "s10"]')
        return path.run(path.covered(ids), gaps=False)
    latest = path.latest
    if len(latest) != 1 or (ids and path.covered(ids) != latest):
        raise FoldError(
            f"granular_condensation folds the latest step, s{latest[-1]}, alone; use deep_consolidation for others"
        )
    return latest[0], latest[0]


class _FoldPath:
    """The steps of a workspace that can be folded, in path order, and the tiles among them."""

    def __init__(self, workspace: Workspace) -> None:
        if not workspace.blocks:
            raise FoldError("nothing to fold yet; record a step first")
        self._steps = [step for block in workspace.blocks for step in block.steps]
        self._at = {step: at for at, step in enumerate(self._steps)}
        self._tiles = {block.number: block.steps for block in workspace.blocks if isinstance(block, Tile)}
        self.latest = workspace.blocks[-1].steps

    def covered(self, ids: Sequence[int | str]) -> tuple[int, ...]:
        """Return the steps that ids name, in path order, each once."""
        named = [step for one in ids for step in self._steps_of(one)]
        if len(set(named)) < len(named):
            raise FoldError("a block is named twice; name each once")
        return tuple(sorted(named, key=self._place))

    def run(self, steps: Sequence[int], gaps: bool = True) -> tuple[int, int]:
        """Return the ends of a run of steps. With `gaps`, two steps alone are the ends of one."""
        start, end = self._place(steps[0]), self._place(steps[-1]) + 1
        if not (gaps and len(steps) == 2 and end - start >= 2) and self._steps[start:end] != list(steps):
            raise FoldError("those are not neighbours in path order; name every block from the first to the last")
        return steps[0], steps[-1]

    def _place(self, step: int) -> int:
        if step not in self._at:
            raise FoldError(f"s{step} is not among the steps that can be folded here; name some that the context shows")
        return self._at[step]

    def _steps_of(self, one: int | str) -> Sequence[int]:
        """The steps of one id: the number of a tile, or an address of one or several runs."""
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
                    how = "an id names whole blocks: a step such as s4, a stretch such as s4-s9, a tile such as b7"
                    raise FoldError(how)
        return found

    def _tile(self, number: int) -> Sequence[int]:
        if number not in self._tiles:
            raise FoldError(f"no block b{number} is in this view; name blocks or steps that the context shows")
        return self._tiles[number]


def _describe(error: ValidationError) -> str:
    """The faults of a directive, without a word that the model wrote."""
    places = [
        f"{fault['type'].replace('_', ' ')} at "
        f"{'.'.join(str(part) for part in fault['loc'] if part in _KEYS) or 'its top'}"
        for fault in error.errors(include_url=False, include_context=False, include_input=False)[:4]
    ]
    return f"the directive does not fit its form ({'; '.join(dict.fromkeys(places))}); write its keys and kinds exactly"


@dataclass(frozen=True, slots=True)
class Compliance:
    """How well a model keeps to the form; counts of several replies add up.

    Attributes:
        replies: replies that were read.
        folds: those with a directive that can be applied.
        silent: those that asked for no fold.
        refused: those with a directive that cannot be applied.
        malformed: blocks passed over because they are not well-formed.
    """

    replies: int = 0
    folds: int = 0
    silent: int = 0
    refused: int = 0
    malformed: int = 0

    def __add__(self, other: Compliance) -> Compliance:
        return Compliance(*map(sum, zip(astuple(self), astuple(other), strict=True)))

    @property
    def rate(self) -> float:
        """The share of attempts that can be applied, from 0 to 1; 1 if there was none."""
        tried = self.folds + self.refused
        return self.folds / tried if tried else 1.0


@dataclass(frozen=True, slots=True)
class Parsed:
    """A reply, read.

    Attributes:
        directive: the directive that fits the workspace.
        text: the reply as its user may see it, without directives.
        reason: why a directive that was tried cannot be applied.
        compliance: what this reply adds to the counts.
    """

    directive: FoldDirective | None
    text: str
    reason: str | None
    compliance: Compliance


def parse(reply: object, workspace: Workspace) -> Parsed:
    """Read the reply of a model for a workspace that its directive would be applied to. Never raises."""
    if not isinstance(reply, str):
        return Parsed(None, "", "the reply is not text", Compliance(replies=1, refused=1))
    blocks = _find_blocks(reply)
    visible = _hide(reply, [block for block in blocks if not block.prose])
    good = [block for block in blocks if block.fault is None]
    malformed = len(blocks) - len(good)
    directive, reason = None, None if good or not blocks else blocks[-1].fault
    if good:
        try:
            directive = _read_directive(good[-1].tag, good[-1].body, workspace)
        except InputError as error:
            reason = str(error)
    folds, refused = int(directive is not None), int(reason is not None)
    return Parsed(directive, visible, reason, Compliance(1, folds, 1 - folds - refused, refused, malformed))


def _hide(reply: str, blocks: Sequence[_DirectiveBlock]) -> str:
    """A reply without some blocks, and without the blank lines they would leave."""
    if not blocks:
        return reply
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept.append(reply[at : block.start].rstrip() if not kept else reply[at : block.start].strip())
        at = block.end
    return "\n".join(part for part in (*kept, reply[at:].strip()) if part)
