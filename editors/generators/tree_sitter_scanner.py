"""What the scanner of the tree-sitter grammar looks ahead for, as programs for it to run.

tree-sitter's own tokens cannot look ahead, those of `grammar/qps.lark` do: `call` is a word of the
language where a name follows, and a name elsewhere. Each such pattern becomes a program of a few
instructions, which `src/scanner.c` runs over the text.
"""

from __future__ import annotations

import json
import re
import re._constants as sre
import re._parser as parser
from collections.abc import Iterable
from functools import cache
from typing import Any

from msgspec import Struct

from qps.grammar.parsing import patterns

EXTERNAL, CONTINUATION = "_word_", "_continuation"

_CHAR, _SET, _SPLIT, _JUMP, _LOOK, _BOUNDARY, _END, _MATCH = range(8)
_WORD, _DIGIT, _SPACE = -1, -2, -3
"""What stands for a class of characters in a set."""

_CATEGORIES = {
    sre.CATEGORY_WORD: _WORD,
    sre.CATEGORY_DIGIT: _DIGIT,
    sre.CATEGORY_SPACE: _SPACE,
    sre.CATEGORY_NOT_WORD: _WORD - 10,
    sre.CATEGORY_NOT_DIGIT: _DIGIT - 10,
    sre.CATEGORY_NOT_SPACE: _SPACE - 10,
}


class Looking(Struct, frozen=True, kw_only=True):
    """A word that is one of the language where `ahead` follows; `number` tells it from others."""

    word: str
    number: int
    ahead: str


@cache
def looking() -> dict[str, tuple[Looking, ...]]:
    """Return the terminals that look ahead, with their words."""
    found: dict[str, tuple[Looking, ...]] = {}
    number = 0
    for terminal, pattern in sorted(patterns().items()):
        plain = re.sub(r"^\(\?:\(\?<=.*?\)\)(?=certainty)", "", pattern)  # what stands before it
        plain = re.sub(r"^(one)(.*?of)\(\?=", r"\1(?=\2", plain)  # two words: the first looks ahead
        head = re.match(r"\(?([a-z|]+)\)?(?:\\b)?(\(\?[=!].*)$", plain, re.DOTALL)
        if head:
            words = head[1].split("|")
            found[terminal] = tuple(
                Looking(word=word, number=number + at, ahead=head[2])
                for at, word in enumerate(words)
            )
            number += len(words)
    return found


def _continued() -> str:
    """Return what the first line that says something begins with where one before goes on."""
    return patterns()["_CONTINUATION"].rpartition(")*(?=")[2].join(("(?=", ""))


def _program(pattern: str) -> list[int]:
    made: list[int] = []
    _parts(parser.parse(pattern, re.DOTALL if "(?s" in pattern else 0), made)
    return [*made, _MATCH]


def _parts(parts: Iterable[tuple[Any, Any]], made: list[int]) -> None:
    for kind, value in parts:
        _part(kind, value, made)


def _part(kind: Any, value: Any, made: list[int]) -> None:
    match kind:
        case sre.LITERAL:
            made += [_CHAR, value]
        case sre.NOT_LITERAL:
            made += [_SET, 1, 1, value, value]
        case sre.IN:
            _set(value, made)
        case sre.SUBPATTERN:
            _parts(value[3], made)
        case sre.BRANCH:
            _branch(value[1], made)
        case sre.MAX_REPEAT | sre.MIN_REPEAT:
            _repeat(value, made, is_greedy=kind is sre.MAX_REPEAT)
        case sre.ASSERT | sre.ASSERT_NOT:
            direction, inner = value
            assert direction == 1, "nothing looks back"
            made += [_LOOK, int(kind is sre.ASSERT_NOT), 0]
            place = len(made) - 1
            _parts(inner, made)
            made.append(_MATCH)
            made[place] = len(made)
        case sre.AT:
            made.append({sre.AT_BOUNDARY: _BOUNDARY, sre.AT_END_STRING: _END}[value])
        case _:
            raise AssertionError(kind)


def _set(value: list[tuple[Any, Any]], made: list[int]) -> None:
    is_negative = value[0][0] is sre.NEGATE
    ranges: list[int] = []
    for kind, what in value[is_negative:]:
        match kind:
            case sre.LITERAL:
                ranges += [what, what]
            case sre.RANGE:
                ranges += [what[0], what[1]]
            case sre.CATEGORY:
                ranges += [_CATEGORIES[what], 0]
    made += [_SET, int(is_negative), len(ranges) // 2, *ranges]


def _branch(choices: list[Any], made: list[int]) -> None:
    ends: list[int] = []
    for choice in choices[:-1]:
        made += [_SPLIT, len(made) + 3, 0]
        place = len(made) - 1
        _parts(choice, made)
        made += [_JUMP, 0]
        ends.append(len(made) - 1)
        made[place] = len(made)
    _parts(choices[-1], made)
    for end in ends:
        made[end] = len(made)


def _repeat(value: tuple[int, Any, Any], made: list[int], *, is_greedy: bool) -> None:
    least, most, inner = value
    for _ in range(least):
        _parts(inner, made)
    for _ in range(1 if most is sre.MAXREPEAT else most - least):
        start = len(made)
        made += [_SPLIT, 0, 0]
        _parts(inner, made)
        if most is sre.MAXREPEAT:
            made += [_JUMP, start]
        inside, after = start + 3, len(made)
        made[start + 1 : start + 3] = (inside, after) if is_greedy else (after, inside)


def patterns_h() -> str:
    """Return `src/patterns.h`."""
    lines = [
        "// Made by `python editors/generators` of grammar/qps.lark: change that instead.",
        "// Programs for `run` of scanner.c, and the words that look ahead by them.",
        "#include <stdint.h>",
        "",
        _array("CONTINUED", _continued()),
        _array("TOLD", patterns()["TOLD"]),
    ]
    words = [one for many in looking().values() for one in many]
    ahead = list(dict.fromkeys(one.ahead for one in words))
    lines += [_array(f"AHEAD_{number}", text) for number, text in enumerate(ahead)]
    lines += [
        "",
        "typedef struct { const char *word; const int32_t *ahead; } Looking;",
        "",
        "// In the order of the external tokens.",
        "static const Looking LOOKING[] = {",
        *(f"  {{{json.dumps(one.word)}, AHEAD_{ahead.index(one.ahead)}}}," for one in words),
        "};",
    ]
    return "\n".join(lines) + "\n"


def _array(name: str, pattern: str) -> str:
    return f"static const int32_t {name}[] = {{{', '.join(map(str, _program(pattern)))}}};"
