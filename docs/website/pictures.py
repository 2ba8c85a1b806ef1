"""The picture of a spec: the first chart of its live page, as a file of its own."""

from __future__ import annotations

import re
from html import unescape
from xml.sax.saxutils import escape

_CHARTS = ("loads", "topology", "quality", "odds")
"""The pictures of a page that a card may show, the one that tells most first."""
_FIGURE = r'<figure class="picture" id="picture-{}">.*?(<svg class="chart.*?</svg>)'
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_MEDIA = re.compile(r"@(?:media|supports)[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"[^{}]*\{[^{}]*\}")
_OF_CHARTS = re.compile(r"^\s*(?:/\*.*?\*/\s*)?(?::root|\.chart|\.line|\.fan|\.contour)", re.DOTALL)
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);)\w+;")


def picture(page: str) -> str | None:
    """Return the picture of a live page, which stands by itself on white; none where it has none.

    It is drawn by the page's own rules for charts, in its colours for light paper: a file that is
    shown as an image takes nothing of the page around it.
    """
    charts = [re.search(_FIGURE.format(name), page, re.DOTALL) for name in _CHARTS]
    chart = next((found[1] for found in charts if found), None)
    style = _STYLE.search(page)
    if chart is None or style is None:
        return None
    rules = [one for one in _RULE.findall(_MEDIA.sub("", style[1])) if _OF_CHARTS.match(one)]
    own = escape("".join(rules)) + "svg{background:#fff;color:#1c2128;color-scheme:light}"
    plain = _ENTITY.sub(lambda found: unescape(found[0]), chart)
    head, rest = plain.split(">", 1)
    return f"{head}><style>{own}</style>{rest}\n"
