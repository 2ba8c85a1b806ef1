"""Pages at addresses of the past that lead to where their contents are now."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from website import indexes

_PAGE = """<!doctype html><meta charset="utf-8"><title>Moved</title>
<link rel="canonical" href="{0}"><meta http-equiv="refresh" content="0; url={0}">
<script>location.replace("{0}" + location.hash)</script>
<a href="{0}">This page has moved.</a>
"""
_COOKBOOK = "docs/cookbook"
"""The folder of the guides when their pages had the headings of the cookbook as names."""
_ROOMS = ("docs/guides", "specs/textbook", "live/specs/textbook")
"""Folders whose pages were directly in them, before they had rooms."""
REMOVED = {
    "docs/tutorial/exercise.html": "docs/tutorial/own-spec.html",
    "docs/tutorial/networks.html": "docs/tutorial/own-spec.html",
    "docs/tutorial/queueing-delay.html": "docs/tutorial/limits.html",
}
"""Pages that became part of another one. Only ever grows."""


def write_redirects(root: Path, site: Path) -> None:
    """Write a page for each address of the past, from the repository's index of the guides."""
    for old, new in sorted(redirects(root, site).items()):
        page = site / old
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            text = _PAGE.format(posixpath.relpath(new, posixpath.dirname(old)))
            page.write_text(text, encoding="utf-8")


def redirects(root: Path, site: Path) -> dict[str, str]:
    """Return today's addresses in a site by those of the past."""
    return {
        f"{_COOKBOOK}/index.html": f"{_COOKBOOK}.html",
        **dict(_headings(root)),
        **_moved(site),
        **REMOVED,
    }


def _headings(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the addresses of guides when they were called by the headings of the cookbook."""
    folder = posixpath.dirname(indexes.GUIDES)
    for group in indexes.groups((root / indexes.GUIDES).read_text(encoding="utf-8")):
        for entry in group.entries:
            for anchor in entry.anchors:
                old = f"{_COOKBOOK}/{re.sub('-+', '-', anchor)}.html"
                yield old, f"{folder}/{entry.path.removesuffix('.md')}.html"


def _moved(site: Path) -> dict[str, str]:
    """Return the addresses of pages that are in a room of their folder now."""
    return {
        f"{folder}/{page.name}": page.relative_to(site).as_posix()
        for folder in _ROOMS
        for page in (site / folder).glob("*/*.html")
    }
