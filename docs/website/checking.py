"""Whether all links of a site lead somewhere, and none out of it by loading."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import unquote

from msgspec import Struct

_ELSEWHERE = ("http:", "https:", "//")


_TAG = re.compile(r"<(a|img|script|iframe|link)\s([^>]*)>")
_GIVEN = re.compile(r'\b(href|src|rel)="?([^"\s>]*)')
_ANCHOR = re.compile(r'<[^>]*\s(?:id|name)="?([^"\s>]+)')


class _PageLinks(Struct, frozen=True, kw_only=True):
    """The links and the anchors of a page, and what it loads."""

    links: list[str]
    loaded: list[str]
    anchors: frozenset[str]


def broken_links(site: Path) -> list[str]:
    """Return the links of all pages that lead nowhere, and what is loaded from elsewhere."""
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    pages = sorted(one for one in files if one.endswith(".html") and not one.startswith("live/"))
    seen = {page: _seen((site / page).read_text(encoding="utf-8")) for page in pages}
    return [f"{page}: {one}" for page in pages for one in _broken(page, seen, files)]


def _broken(page: str, seen: dict[str, _PageLinks], files: set[str]) -> Iterator[str]:
    found = seen[page]
    for target in found.loaded:
        if target.startswith(_ELSEWHERE):
            yield f"loads {target}"
    is_error_page = page == "404.html"  # its links are those of a server's root
    for target in [] if is_error_page else dict.fromkeys([*found.links, *found.loaded]):
        if target.startswith((*_ELSEWHERE, "mailto:", "data:", "javascript:")):
            continue
        path, _, anchor = target.partition("#")
        there = page
        if path:
            there = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(path)))
        if there not in files:
            yield f"broken link to {target}: no such file"
        elif anchor and there in seen and unquote(anchor) not in seen[there].anchors:
            yield f"broken link to {target}: no such anchor"


def _seen(text: str) -> _PageLinks:
    links, loaded = [], []
    for tag, attributes in _TAG.findall(text):
        given = {name: unescape(value) for name, value in _GIVEN.findall(attributes)}
        if tag == "a" and given.get("href"):
            links.append(given["href"])
        elif given.get("src"):
            loaded.append(given["src"])
        elif tag == "link" and given.get("href") and given.get("rel") != "canonical":
            loaded.append(given["href"])
    anchors = frozenset(unescape(anchor) for anchor in _ANCHOR.findall(text))
    return _PageLinks(links=links, loaded=loaded, anchors=anchors)
