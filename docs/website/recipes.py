"""The cookbook: each recipe a page, and a card in the group that the cookbook's list has it in."""

from __future__ import annotations

import re

from msgspec import Struct

from website.markdown_text import Section, sections

FRONT = "docs/cookbook/index.md"
"""The page that lists all recipes."""
_GROUP = re.compile(r"^### (.*)\n\n((?:- .*\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^- \[(.*)\]\(#([\w-]+)\): (.*)$", re.MULTILINE)


class Entry(Struct, frozen=True, kw_only=True):
    """A line of the list: the heading of a recipe, its anchor, and what it is about."""

    heading: str
    slug: str
    about: str


class Group(Struct, frozen=True, kw_only=True):
    """Recipes that belong together, in the order in which they are listed."""

    title: str
    entries: tuple[Entry, ...]


def groups(text: str) -> list[Group]:
    """Return how the cookbook's list groups its recipes."""
    return [_group(found) for found in _GROUP.finditer(sections(text)[0])]


def _group(found: re.Match[str]) -> Group:
    entries = [
        Entry(heading=heading, slug=anchor, about=about)
        for heading, anchor, about in _ENTRY.findall(found[2])
    ]
    return Group(title=found[1], entries=tuple(entries))


def cards(text: str) -> str:
    """Return the list of the cookbook as a page: a heading for each group, a card for each recipe.

    Raises ValueError where the list leaves out a recipe, or names one that is not there.
    """
    first, found = sections(text)
    listed = [(one.heading, one.slug) for group in groups(text) for one in group.entries]
    odd = set(listed) ^ {(one.heading, one.slug) for one in found}
    if odd or len(listed) != len(found):
        raise ValueError(f"the list of the cookbook is not that of its recipes: {sorted(odd)}")
    return _GROUP.sub(lambda group: _carded(_group(group)), first)


def _carded(group: Group) -> str:
    each = "\n\n".join(
        f"-   **[{one.heading}](#{one.slug})**\n\n    {one.about}" for one in group.entries
    )
    return f'## {group.title}\n\n<div class="grid cards" markdown>\n\n{each}\n\n</div>\n'


def page(recipe: Section) -> str:
    """Return a recipe as a page: its heading is the first of the page."""
    return recipe.text.removeprefix("#")


def path_of(anchor: str) -> str:
    """Return the path of the page of a recipe."""
    return f"docs/cookbook/{re.sub('-+', '-', anchor)}.md"
