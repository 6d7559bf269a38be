"""Draws scores as one SVG: for each set a field of size against recall, every policy a dot. It measures nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from tests.benchmarks.fidelity.board import Score

__all__ = ["svg"]

WIDTH, HEIGHT, LEFT, TOP = 340, 240, 46, 40
STEP_X, STEP_Y = WIDTH + 90, HEIGHT + 110
COLOURS = {"session": "#0b6e4f", "full": "#555555", "drop": "#b3541e", "first": "#7a4fa3", "mask": "#1f5fa8", "bag": "#c0392b"}  # fmt: skip
STYLE = (
    "text{font:11px system-ui,sans-serif;fill:#222}.title{font-weight:600;font-size:13px}.axis{fill:#666}"
    ".rule{stroke:#ddd}.link{fill:none;stroke:#0b6e4f;stroke-width:1.5}"
)


def svg(board: Mapping[str, Sequence[Score]]) -> str:
    """The picture of a board.

    Args:
        board: the scores of each set, by the set's name.
    """
    columns = min(2, max(1, len(board)))
    rows = -(-len(board) // columns)
    fields = [
        _field(name, scores, 20 + at % columns * STEP_X, 50 + at // columns * STEP_Y)
        for at, (name, scores) in enumerate(board.items())
    ]
    size = (40 + columns * STEP_X, 60 + rows * STEP_Y)
    title = "Bound recall (filled), recall (open), by size of the view"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size[0]} {size[1]}" width="{size[0]}" height="{size[1]}">',
            f"<title>{title}</title>",
            f'<style>{STYLE}</style><rect width="100%" height="100%" fill="#fff"/>',
            f'<text class="title" x="20" y="22">{title}</text>',
            '<text class="axis" x="20" y="40">recorded calls, no model: presence is not use</text>',
            *fields,
            "</svg>\n",
        )
    )


def _field(name: str, scores: Sequence[Score], x: int, y: int) -> str:
    lowest = min([0.8, *(min(each.bound_recall, each.recall) for each in scores)])
    floor = max(0.0, int(lowest * 10) / 10)
    most = max([1.0, *(each.mean_tokens for each in scores)]) * 1.05

    def place(tokens: float, share: float) -> tuple[float, float]:
        return LEFT + tokens / most * (WIDTH - LEFT), TOP + (1 - share) / (1 - floor) * (HEIGHT - TOP)

    parts = [f'<g transform="translate({x},{y})"><text class="title" x="0" y="14">{escape(name)}</text>']
    for at in range(5):
        share = floor + (1 - floor) * at / 4
        _, height = place(0, share)
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH}" y1="{height:.1f}" y2="{height:.1f}"/>')
        parts.append(f'<text class="axis" x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{share:.2f}</text>')
        across, _ = place(most / 1.05 * at / 4, floor)
        label = f"{most / 1.05 * at / 4:,.0f}"
        parts.append(f'<text class="axis" x="{across:.1f}" y="{HEIGHT + 16}" text-anchor="middle">{label}</text>')
    parts.append(f'<text class="axis" x="{WIDTH}" y="{HEIGHT + 32}" text-anchor="end">mean tokens of a view</text>')
    ours = sorted((each for each in scores if each.budget is not None), key=lambda each: each.mean_tokens)
    path = " ".join("{:.1f},{:.1f}".format(*place(each.mean_tokens, each.bound_recall)) for each in ours)
    parts += [f'<polyline class="link" points="{path}"/>'] if len(ours) > 1 else []
    parts += [dot for each in scores for dot in _dots(each, *_ends(each, place))]
    return "\n".join([*parts, "</g>"])


def _ends(each: Score, place) -> tuple[tuple[float, float], tuple[float, float]]:
    return place(each.mean_tokens, each.bound_recall), place(each.mean_tokens, each.recall)


def _dots(each: Score, bound: tuple[float, float], found: tuple[float, float]) -> Iterator[str]:
    colour = COLOURS[each.spec.partition(":")[0]]
    told = escape(
        f"{each.spec}: {each.mean_tokens:.0f} tokens, recall {each.recall:.3f}, bound {each.bound_recall:.3f}"
    )
    yield f'<line x1="{bound[0]:.1f}" x2="{found[0]:.1f}" y1="{bound[1]:.1f}" y2="{found[1]:.1f}" stroke="{colour}" stroke-dasharray="2 2"/>'
    yield f'<circle cx="{found[0]:.1f}" cy="{found[1]:.1f}" r="4" fill="#fff" stroke="{colour}"/>'
    yield f'<circle cx="{bound[0]:.1f}" cy="{bound[1]:.1f}" r="4" fill="{colour}"><title>{told}</title></circle>'
    down = -8 if each.spec == "full" else 14  # beside a large budget's dot, which stands where it does
    yield f'<text x="{bound[0] + 7:.1f}" y="{bound[1] + down:.1f}" style="fill:{colour}">{escape(each.spec.replace(":", " "))}</text>'
