"""How a text is changed: by rules of the grammar, by words, by characters."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from fuzz.corpus import declarations, phrases, trees

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]+")
_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?")
_CELL = re.compile(r"[^,\n]+")
_NUMBERS = (
    "0", "1", "2", "3", "0.5", "1e-300", "1e300", "1e9", "999999999999", "0.1", "1/3", "-1", "7",
    "100", "1000", "1_000", "1e5", "1e-9", "2147483648", "9007199254740993", "inf", "nan", "00",
    "1.",
)  # fmt: skip
_CHARACTERS = (
    "\x00", "\x1b[31m", "\u202e", "\ufeff", "\u2028", "é", "🙂", "µ", "²", "−", "‰", "\r", "\t",
    '"', '"""', "#", "{", "}", "(", ")", "[", "]", ";", ",", "..", "->", "~", "+-", "±", "%", "\n",
    "\\", "'", "<script>", "${", "{{", "%s", "../", "\ud800",
)  # fmt: skip

Change = Callable[[random.Random, str], str]


def another_phrase(draw: random.Random, text: str) -> str:
    """Put what stands for a rule elsewhere in the place of what stands for it here."""
    places = [tree for tree in trees(text) if tree.end > tree.start and tree.data in phrases()]
    if not places:
        return another_word(draw, text)
    place = draw.choice(places)
    return text[: place.start] + draw.choice(phrases()[place.data]) + text[place.end :]


def another_word(draw: random.Random, text: str) -> str:
    """Leave out a word, say it twice, or put another of the text in its place."""
    words = _TOKENS.findall(text)
    if not words:
        return text
    at = draw.randrange(len(words))
    words[at] = draw.choice(["", words[at] * 2, draw.choice(words), draw.choice(words)])
    return "".join(words)


def another_number(draw: random.Random, text: str) -> str:
    """Put an unlikely number in the place of one."""
    places = [found.span() for found in _NUMBER.finditer(text)]
    if not places:
        return text
    start, end = draw.choice(places)
    return text[:start] + draw.choice(_NUMBERS) + text[end:]


def another_character(draw: random.Random, text: str) -> str:
    """Put an unlikely character somewhere, perhaps in the place of others."""
    at = draw.randint(0, len(text))
    return text[:at] + draw.choice(_CHARACTERS) + text[at + draw.choice([0, 0, 1, 3]) :]


def another_declaration(draw: random.Random, text: str) -> str:
    """Put a declaration of another text somewhere among the lines."""
    lines = text.split("\n")
    lines.insert(draw.randint(0, len(lines)), draw.choice(declarations()))
    return "\n".join(lines)


def lines_moved(draw: random.Random, text: str) -> str:
    """Leave lines out, or put them elsewhere."""
    lines = text.split("\n")
    start = draw.randrange(len(lines))
    taken = lines[start : start + draw.randint(1, 5)]
    del lines[start : start + len(taken)]
    if draw.random() < 0.5:
        at = draw.randint(0, len(lines))
        lines[at:at] = taken
    return "\n".join(lines)


def cut(draw: random.Random, text: str) -> str:
    """Leave out the end."""
    return text[: draw.randint(0, len(text))]


def another_cell(draw: random.Random, text: str) -> str:
    """Put a number, a word or nothing in the place of a cell of a table."""
    places = [found.span() for found in _CELL.finditer(text)]
    if not places:
        return text
    start, end = draw.choice(places)
    put = draw.choice([*_NUMBERS, "", "x", '"', '"a,b"', " ", "2026-11-23", "1,5", "1 ms"])
    return text[:start] + put + text[end:]


_OF_TEXTS: tuple[Change, ...] = (
    another_phrase, another_phrase, another_phrase, another_word, another_number, another_number,
    another_character, another_declaration, lines_moved, cut,
)  # fmt: skip
_OF_TABLES: tuple[Change, ...] = (
    another_cell, another_cell, another_cell, another_number, another_word, another_character,
    lines_moved, cut,
)  # fmt: skip


def changed(draw: random.Random, text: str) -> str:
    """Return a spec with a few changes; one is the most usual."""
    return _some(draw, text, _OF_TEXTS)


def changed_table(draw: random.Random, text: str) -> str:
    """Return a table with a few changes."""
    return _some(draw, text, _OF_TABLES)


def changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """Return a file with a few bytes others, or without its end."""
    found = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5, 20])):
        if found:
            byte = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
            found[draw.randrange(len(found))] = byte
    return bytes(found[: draw.choice([len(found), draw.randint(0, len(found))])])


def _some(draw: random.Random, text: str, changes: tuple[Change, ...]) -> str:
    for _ in range(draw.choice([1, 1, 1, 2, 2, 3, 6])):
        text = draw.choice(changes)(draw, text)
    return text
