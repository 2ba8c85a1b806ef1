"""The guides: a card for each, in the group that the index has it in."""

from __future__ import annotations

import re

from msgspec import Struct

GUIDES = "docs/cookbook.md"
"""The page that lists all guides."""
_GROUP = re.compile(r"^## (.*)\n\n((?:- .*\n)+)", re.MULTILINE)
_ENTRY = re.compile(
    r'^- (?P<marks>(?:<a id="[^"]*"></a>)*)'
    r"\[(?P<title>.*)\]\((?P<path>[^)#]+)\)(?:: (?P<about>.*))?$",
    re.MULTILINE,
)


class Entry(Struct, frozen=True, kw_only=True):
    """A line of an index: title and path of a page, what it is about, and its old anchors."""

    title: str
    path: str
    about: str
    anchors: tuple[str, ...]


class PageGroup(Struct, frozen=True, kw_only=True):
    """Pages that belong together, in the order in which they are listed."""

    title: str
    entries: tuple[Entry, ...]


def groups(text: str) -> list[PageGroup]:
    """Return how an index groups its pages."""
    return [PageGroup(title=found[1], entries=entries(found[2])) for found in _GROUP.finditer(text)]


def entries(text: str) -> tuple[Entry, ...]:
    """Return the pages that an index lists; their paths are relative to it."""
    return tuple(
        Entry(
            title=found["title"],
            path=found["path"],
            about=found["about"] or "",
            anchors=tuple(re.findall(r'id="([^"]*)"', found["marks"])),
        )
        for found in _ENTRY.finditer(text)
    )


def cards(text: str) -> str:
    """Return the index of the guides with a card for each."""
    return _GROUP.sub(lambda group: _carded(group[1], entries(group[2])), text)


def _carded(title: str, listed: tuple[Entry, ...]) -> str:
    each = "\n\n".join(
        f"-   {_marks(one)}**[{one.title}]({one.path})**\n\n    {one.about}" for one in listed
    )
    return f'## {title}\n\n<div class="grid cards" markdown>\n\n{each}\n\n</div>\n'


def _marks(entry: Entry) -> str:
    return "".join(f'<a id="{anchor}"></a>' for anchor in entry.anchors)
