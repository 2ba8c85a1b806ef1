"""Markdown as the site needs it: its fences, headings and links."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

FENCE = re.compile(
    r"(?:<!-- file: (?P<file>[\w./-]+) -->\n)?^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
_HEADING = re.compile(r"^(#{1,6}) (.*)$", re.MULTILINE)


class Section(Struct, frozen=True):
    """What stands under a heading of the second level: its heading, and all of it."""

    heading: str
    text: str

    @property
    def slug(self) -> str:
        """How GitHub and the site call it in an address."""
        return slug(self.heading)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it.

    >>> slug("My latency holds at 95 % load: is that true?")
    'my-latency-holds-at-95--load-is-that-true'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def outside_fences(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the stretches of a text, and whether each is outside of fences."""
    last = 0
    for fence in FENCE.finditer(text):
        yield True, text[last : fence.start()]
        yield False, fence[0]
        last = fence.end()
    yield True, text[last:]


def headings(text: str) -> list[tuple[int, str]]:
    """Return the headings of a page with their levels."""
    plain = "".join(part for is_outside, part in outside_fences(text) if is_outside)
    return [(len(marks), heading) for marks, heading in _HEADING.findall(plain)]


def with_links(text: str, link: Callable[[str], str]) -> str:
    """Return a text with its links changed, but for those in fences."""
    return "".join(
        _linked(part, link) if is_outside else part for is_outside, part in outside_fences(text)
    )


def _linked(text: str, link: Callable[[str], str]) -> str:
    """Return a text with its links changed, also those of pictures within links."""
    return _LINK.sub(
        lambda found: found[1][0] + _linked(found[1][1:], link) + link(found[2]) + found[3], text
    )


def links(text: str) -> list[str]:
    """Return where the links of a text lead."""
    found: list[str] = []

    def seen(target: str) -> str:
        found.append(target)
        return target

    with_links(text, seen)
    return found


def sections(text: str) -> tuple[str, list[Section]]:
    """Return what stands before the first heading of the second level, and the sections."""
    marked, place = [], 0
    for is_outside, part in outside_fences(text):
        if is_outside:
            marked += [place + m.start() for m in re.finditer(r"^## ", part, re.MULTILINE)]
        place += len(part)
    ends = [*marked[1:], len(text)]
    found = [text[start:end] for start, end in zip(marked, ends, strict=True)]
    first = text[: marked[0]] if marked else text
    return first, [Section(one.partition("\n")[0][3:].strip(), one) for one in found]


def moved(target: str, *, of: str, to: str, now: Mapping[str, str]) -> str:
    """Return a link of the page `of`, as the page `to` writes it.

    `now` tells where targets (pages, or pages with anchors) stand that have moved. All paths are
    those from the root.
    """
    if re.match(r"[a-z]+:|//", target):
        return target
    path, hash_mark, anchor = target.partition("#")
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(of), path)) if path else of
    there = now.get(f"{whole}#{anchor}") if hash_mark else None
    if there is None:
        there = now.get(whole, whole) + (hash_mark + anchor)
    file, hash_mark, anchor = there.partition("#")
    if file == to and hash_mark:
        return f"#{anchor}"
    return posixpath.relpath(file, posixpath.dirname(to) or ".") + hash_mark + anchor
