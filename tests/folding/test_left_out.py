"""A fold and a view mark what they leave out by one rule: at each place, once, and only where something of the same call or record is gone."""

import pytest

from ctxfold.log.compact.prose import is_cut, whole
from ctxfold.log.lines import Line, LineKind, line
from ctxfold.view.left_out import MARK, marked


def of(kind: LineKind, ref: str, *texts: str) -> list[Line]:
    return [line(kind, ref, text) for text in texts]


STRETCH = [
    *of("user", "s1.1", "user: look"),
    *of("call", "s1.2", "> order shop=Nord", ">  lines: sku title", ">   A1 lamp", ">   A2 rug"),
    *of("call", "s1.3", "> order shop=Sud"),
    *of("data", "s1.4", "< sku title:", "<  A1 lamp …", "<  A2 rug", "<  A3 kettle"),
    *of("data", "s1.5", "< ok"),
]


@pytest.mark.parametrize(
    ("gone", "cut"),
    [
        ({3}, {2}),
        ({3, 4}, {2}),
        ({2, 4}, {1, 3}),
        ({5}, set()),
        ({0}, set()),
        ({8, 9}, set()),
        ({9}, {8}),
        ({10}, set()),
    ],
    ids="a row|two rows|two places|a call whole|a message|behind a mark|the end|a record whole".split("|"),
)
def test_what_is_left_out_is_marked_where_it_stood(gone: set[int], cut: set[int]) -> None:
    kept = [at for at in range(len(STRETCH)) if at not in gone]
    found = dict(zip(kept, marked(STRETCH, set(kept)), strict=True))
    for at, each in found.items():
        assert is_cut(each.text) == (at in cut or is_cut(STRETCH[at].text))
        assert whole(each.text)[0] == whole(STRETCH[at].text)[0]
        assert each.tokens == STRETCH[at].tokens + MARK * (at in cut)


def test_a_row_without_its_mark_and_the_mark_are_the_row() -> None:
    for row in ("< A1 lamp …", "< A1 lamp", "< A1 lamp…", "…", " …", ""):
        assert "".join(whole(row)) == row
        assert not whole(row)[0].endswith(" …")
