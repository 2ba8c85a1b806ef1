"""What inputs are made of: all texts, tables and traces of this repository, and their parts."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from qps.grammar.parsing import ParseTree, Piece, UnexpectedError, parse

ROOT = Path(__file__).parents[2]
_LARGEST_TEXT, _LARGEST_TABLE = 6_000, 20_000
_BLOCKS = re.compile(r"^```qps\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DECLARATIONS = re.compile(r"\n(?=[a-z\"])")


@cache
def texts() -> tuple[str, ...]:
    """Return all specs, modules, wrong examples and blocks of the docs that are not long."""
    found = [
        path.read_text(encoding="utf-8", errors="replace")
        for folder in ("specs", "stdlib", "tests/errors", "tests/first_edition")
        for path in sorted((ROOT / folder).rglob("*.qps"))
    ]
    pages = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").rglob("*.md"))]
    found += [block for page in pages for block in _BLOCKS.findall(page)]
    return tuple(text for text in found if len(text) <= _LARGEST_TEXT)


@cache
def declarations() -> tuple[str, ...]:
    """Return each declaration of all texts."""
    return tuple({part: None for text in texts() for part in _DECLARATIONS.split(text)})


@cache
def tables() -> tuple[str, ...]:
    """Return all tables that specs and tests read."""
    paths = [*(ROOT / "specs").rglob("*.csv"), *(ROOT / "tests").rglob("*.csv")]
    found = (path.read_text(encoding="utf-8", errors="replace") for path in sorted(paths))
    return tuple(text for text in found if len(text) <= _LARGEST_TABLE)


@cache
def captures() -> tuple[bytes, ...]:
    """Return recorded packets, as files of them are."""
    paths = [path for path in ROOT.rglob("*.pcap*") if ".venv" not in path.parts]
    return tuple(path.read_bytes()[:_LARGEST_TABLE] for path in sorted(paths))


@cache
def phrases() -> Mapping[str, tuple[str, ...]]:
    """Return for each rule of the grammar what stands for it in the texts that are right."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for text in declarations():
        for tree in trees(text):
            if tree.end > tree.start:
                found[tree.data][text[tree.start : tree.end]] = None
    return {rule: tuple(stored) for rule, stored in found.items()}


def trees(text: str) -> list[ParseTree]:
    """Return every tree of a text, none where the grammar does not take it."""
    try:
        return list(_below(parse(text).tree))
    except (UnexpectedError, RecursionError):
        return []


def _below(piece: Piece) -> Iterator[ParseTree]:
    if isinstance(piece, ParseTree):
        yield piece
        for child in piece.children:
            yield from _below(child)


def drawn(draw: random.Random, least: int = 1, most: int = 12) -> str:
    """Return some declarations of several texts, one behind the other."""
    return "\n".join(draw.choices(declarations(), k=draw.randint(least, most)))
