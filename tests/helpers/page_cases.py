"""Arguments of every operation of the table, and what Python makes of them, for Node to compare.

`PYTHONPATH=tests python -m helpers.page_cases` writes them as JSON.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from fractions import Fraction
from math import isfinite
from typing import Any

from helpers.operations import CASES, arguments_at_edges
from qps.engine.exactness import InexactError, NoValueError
from qps.engine.operations import OPERATIONS
from qps.engine.powers import TooLongError
from qps.reports.pages.page_program import OWN_WORDS

Ranges = tuple[tuple[float, float], ...]

_SIZES, _SHARES, _LATE = (-6.0, 6.0), (-6.0, 0.0), (-9.0, 0.0)
_SERVERS, _FEW_TIMES, _VARIATIONS = (0.0, 6.0), (-2.0, 2.0), (-5.0, 1.0)

WIDE: dict[str, Ranges] = {
    "harmonic": (_SIZES,),
    "erlang_b": (_SERVERS, _SERVERS),
    "erlang_c": (_SERVERS, _SERVERS),
    "periodic_wait": (_SERVERS, _SHARES),
    "md1_tail": (_SHARES, _FEW_TIMES),
    "md1_quantile": (_SHARES, _LATE),
    "batch_quantile": (_SHARES, _LATE),
    "periodic_tail": (_SERVERS, _SHARES, _FEW_TIMES),
    "periodic_quantile": (_SERVERS, _SHARES, _LATE),
    "sojourn_quantile": (_SHARES, _FEW_TIMES, _LATE),
    "gamma_quantile": (_SHARES, _VARIATIONS, _LATE),
    "normal_quantile": (_LATE,),
    "w": (_SIZES,),
    "exp": (_FEW_TIMES,),
    "ln": (_SIZES,),
}
"""The same as powers of ten, much wider; a load or level is a power or 1 less one."""

_WHOLE = 7.000000000000001


def _drawn(chance: random.Random, word: str) -> Iterator[tuple[float, ...]]:
    for _ in range(60):
        yield tuple(low + chance.random() * (high - low) for low, high in CASES[word])
    for _ in range(150 if word in WIDE else 0):
        yield tuple(_power(chance, part) for part in WIDE[word])
    yield from arguments_at_edges(word)
    if word in ("floor", "ceil"):
        yield (_WHOLE,)


def _power(chance: random.Random, part: tuple[float, float]) -> float:
    found: float = 10 ** chance.uniform(*part)
    if part == _LATE or (part == _SHARES and chance.random() < 1 / 2):
        return 1 - found
    return round(found) if part == _SERVERS and chance.random() < 1 / 2 else found


def _value(word: str, at: tuple[float, ...]) -> float:
    return OPERATIONS[word].number(*at)


def _exact(chance: random.Random, word: str) -> Iterator[tuple[list[Fraction], Any]]:
    for _ in range(60):
        at = [
            chance.choice(
                (
                    Fraction(chance.randint(-4, 9)),
                    Fraction(chance.randint(0, 8), 4),
                    Fraction(chance.randint(0, 12), chance.randint(1, 12)),
                )
            )
            for _ in range(OPERATIONS[word].operands)
        ]
        try:
            yield at, OPERATIONS[word].exact(*at)
        except (InexactError, NoValueError, TooLongError):
            yield at, None


def _lines(chance: random.Random, word: str) -> tuple[list[list[float]], list[float]]:
    """Return where each operand starts and ends, and nine values on the way."""
    lines = [[low + chance.random() * (high - low) for _ in range(2)] for low, high in CASES[word]]
    if chance.random() < 1 / 4:
        lines[-1][1] = lines[-1][0]
    ways = [k / 8 for k in range(9)]
    return lines, [_value(word, tuple(a + way * (b - a) for a, b in lines)) for way in ways]


def cases() -> dict[str, Any]:
    """Return for each operation arguments, with values, exact values, slopes and bounds."""
    found: dict[str, Any] = {}
    for word, row in OPERATIONS.items():
        chance = random.Random(word)
        inside = list(_drawn(chance, word))[:20]
        found[word] = {
            "laws": {word: {"grows": row.grows, "whole": row.whole}} if row.by_ends else {},
            "isSigned": row.lies[0] < 0,
            "values": [(at, _value(word, at)) for at in _drawn(chance, word)],
            "exact": [
                ([_parts(one) for one in at], None if told is None else _parts(told))
                for at, told in _exact(chance, word)
            ],
            "bounds": [_lines(chance, word) for _ in range(40)],
            "slopes": [(at, row.slopes(*at)) for at in inside],
        }
    return found


def _parts(value: Fraction | float) -> tuple[str, str]:
    if isinstance(value, float):
        return ("1" if value > 0 else "-1", "0")
    return str(value.numerator), str(value.denominator)


def _told(value: Any) -> Any:
    """Return what JSON can hold: floats that are none of its numbers are texts."""
    if isinstance(value, dict):
        return {key: _told(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_told(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    return value


def as_json() -> str:
    """Return the cases as JSON."""
    return json.dumps(_told({"operations": cases(), "own": OWN_WORDS}), allow_nan=False)


if __name__ == "__main__":
    sys.stdout.write(as_json())
