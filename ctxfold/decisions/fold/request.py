"""Checks a fold that a model asked for in words against the workspace: its keys, its steps, its summary.

An unknown key, a value of another kind, a block that is not there or stands twice, a gap: each is refused as a whole, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ctxfold.decisions.fold.directive import FoldDirective, stretch
from ctxfold.decisions.fold.tags import Tag
from ctxfold.errors import FoldError
from ctxfold.log.refs import BlockRef, StepRef, StretchRef, parse_ref
from ctxfold.workspace.workspace import Tile, Workspace

__all__ = ["wanted"]

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
    stretch(workspace, first, last)
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
