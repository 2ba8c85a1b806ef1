"""The answer of a spec over revisions, drawn, as SVG or as a page that loads nothing."""

from __future__ import annotations

from html import escape

from qps.compiler.diagnostics.visible_text import printable
from qps.reports.pages.drawings.chart_axes import ticks
from qps.reports.text.words.nouns import noun
from qps.reviewing.history_view import History, Point, RevisionState, history_text

_WIDTH, _HEIGHT = 760, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 20, 40, 50
_MOST_DAYS = 8
_LETTERS = 'role="img" font-family="system-ui, sans-serif" font-size="12" fill="#333"'


def history_svg(history: History) -> str:
    """Return the picture; what cannot be read at a revision is a cross at the foot."""
    points, of = history.points, _text(noun(history.population))
    most = max((point.users or 0 for point in points), default=0) or 1
    lines = ticks(0, most, 5)
    top = max(*lines, most)

    def x(index: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * index / max(1, len(points))

    def y(users: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * users / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {_LETTERS}>',
        f"<title>{_text(history.file)}: {of} over revisions</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="20" font-size="14">{_text(history.file)}: capacity in {of}</text>',
    ]
    parts += [
        f'<path d="M{_LEFT} {y(tick):.1f}H{_WIDTH - _RIGHT}" stroke="#ddd"/>' for tick in lines
    ]
    parts += [
        f'<text x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:,.0f}</text>'
        for tick in lines
    ]
    path, pen = "", "M"
    every = -(-len(points) // _MOST_DAYS)
    for index, point in enumerate(points):
        left, right = x(index), x(index + 1)
        if not index % every:
            parts.append(f'<text x="{left:.1f}" y="{_HEIGHT - 28}">{_text(point.day)}</text>')
        if point.state is RevisionState.ANSWERS:
            level = y(point.users or 0)
            path += f"{pen}{left:.1f} {level:.1f}H{right:.1f}"
            pen = "L"
            parts.append(
                f'<circle cx="{left:.1f}" cy="{level:.1f}" r="4" fill="#0072B2">'
                f"<title>{_describe(point)}</title></circle>"
            )
        else:
            pen = "M"
            foot = _HEIGHT - _BOTTOM - 8
            parts.append(
                f'<text x="{left:.1f}" y="{foot}" fill="#D55E00" font-weight="bold">✗'
                f"<title>{_describe(point)}</title></text>"
            )
    parts.append(f'<path d="{path or "M0 0"}" fill="none" stroke="#0072B2" stroke-width="2"/>')
    if not history.is_whole:
        parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 8}">older revisions are not included</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def history_page(history: History) -> str:
    """Return a page of the picture and its table."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    style = "body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}"
    style += "pre{overflow:auto}svg{max-width:100%;height:auto}"
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{_text(history.file)} over revisions</title>\n<style>{style}</style>\n"
        f"<h1>{_text(history.file)} over revisions</h1>\n{history_svg(history)}"
        f"<pre>{_text(history_text(history))}</pre>\n</html>\n"
    )


def _describe(point: Point) -> str:
    users = f"{point.users or 0:,}" if point.state is RevisionState.ANSWERS else point.state.value
    why = point.limited_by or point.reason or ""
    return _text(f"{point.day} {point.commit[:10]}: {users} ({why}) {point.subject}")


def _text(text: str) -> str:
    return escape(printable(text))
