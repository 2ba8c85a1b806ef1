"""What the gallery shows of a live page: its picture, as a file of its own, and its answer."""

from __future__ import annotations

import re
from html import unescape
from xml.sax.saxutils import escape

_CHARTS = ("loads", "topology", "quality", "histogram")
"""The pictures of a page that a card may show, the one that tells most first."""
_FIGURE = r'<figure class="picture" id="picture-{}">.*?(<svg class="chart.*?</svg>)'
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
_MEDIA = re.compile(r"@(?:media|supports)[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_RULE = re.compile(r"[^{}]*\{[^{}]*\}")
_OF_CHARTS = re.compile(r"^\s*(?:/\*.*?\*/\s*)?(?::root|\.chart|\.line|\.fan|\.contour)", re.DOTALL)
_MANY = re.compile(r'<p class="many">(.*?)</p>', re.DOTALL)
_LIMIT = re.compile(r"<dt>limited by</dt><dd>(.*?)</dd>", re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-f]+);)\w+;")


def picture(page: str) -> str | None:
    """Return the picture of a live page, which stands by itself on white; none where it has none.

    It is drawn by the page's own rules for charts, in its colors for light paper: a file that is
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


def answer(page: str) -> str:
    """Return the answer of a live page, and what limits it; nothing where it has none."""
    found = [_told(one[1]) for one in (_MANY.search(page), _LIMIT.search(page)) if one]
    return "; limited by ".join(found)


def _told(part: str) -> str:
    """Return a part of a page as text, up to what comes of one more."""
    return " ".join(unescape(_TAG.sub("", part)).partition(";")[0].split())
