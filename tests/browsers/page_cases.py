"""Arguments of every operation of the table, and what Python makes of them, for Node to compare.

`PYTHONPATH=tests python -m browsers.page_cases` writes them as JSON.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, isfinite, nan
from typing import Any

from helpers.nightly import examples
from helpers.operations import (
    ANY,
    CASES,
    EDGES,
    OF_NETWORKS,
    POLES,
    POSITIVE,
    counted,
    some_of,
)
from helpers.some_forks import some_stages
from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.exact_algebra.exact_values import Exact, InexactError, NoValueError
from qps.engine.operation_rows import Operation
from qps.engine.operations import OPERATIONS
from qps.reports.pages.live.page_program import law_of

Ranges = tuple[tuple[float, float], ...]

_SIZES, _SHARES, _LATE = (-6.0, 6.0), (-6.0, 0.0), (-9.0, 0.0)
_CUSTOMERS, _WIDE_STATION = (0.0, 9.0), ((-4.0, 0.0), (0.0, 1.0), _SHARES, (0.0, 0.0))
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
    "room_loss": ((0.0, 2.0), _SERVERS, (0.0, 3.0)),
    "room_wait": ((0.0, 2.0), _SERVERS, (0.0, 3.0)),
    "room_traffic": ((0.0, 0.0), (0.5, 3.0), (-3.0, -0.3)),
    "room_quantile": ((0.0, 0.0), (0.5, 3.0), _SHARES, _LATE),
    "burst_wait": ((0.0, 2.5), (-3.0, 0.0), (-3.0, 0.0)),
    "burst_quantile": ((0.0, 2.5), (-3.0, 0.0), (-3.0, 0.0), _LATE),
    "uneven": (_VARIATIONS, _VARIATIONS, _SHARES),
    "normal_quantile": (_LATE,),
    "closed_rate": (_CUSTOMERS, _FEW_TIMES, *_WIDE_STATION),
    "closed_cycle": (_CUSTOMERS, _FEW_TIMES, *_WIDE_STATION, *_WIDE_STATION),
    "closed_wait": (_CUSTOMERS, _FEW_TIMES, *_WIDE_STATION, *_WIDE_STATION),
    "mixed_wait": (_CUSTOMERS, _FEW_TIMES, *_WIDE_STATION, *_WIDE_STATION),
    "mixed_room": (_SHARES, _CUSTOMERS, _FEW_TIMES, *_WIDE_STATION, *_WIDE_STATION),
    "w": (_SIZES,),
    "exp": (_FEW_TIMES,),
    "ln": (_SIZES,),
}
"""The same as powers of ten, much wider; a load or level is a power or 1 less one."""

_WHOLE = 7.000000000000001
_DEAREST = frozenset({"order_quantile", "order_tail", "fork_quantile"})
"""By day without slopes: these are differences, as those of other sums are."""
_DEAR = frozenset(OF_NETWORKS) | _DEAREST
"""Of these, which have most of the edges, a twentieth of them is tried by day."""

_OF_ONE_NETWORK = frozenset(
    {"forked_rate", "forked_time", "nested_rate", "nested_time", "shared_rate", "shared_time"}
)
"""By day few values: each solves the network whose wait, a word of its own, has all cases."""


@dataclass(frozen=True)
class Own:
    """An operation that only programs of pages have, told by those of the table."""

    ranges: Ranges
    exact: Callable[..., Exact]
    number: Callable[..., float]
    slopes: Callable[..., tuple[float, ...]]
    operands: int = 2
    lies: tuple[float, float] = (-inf, inf)
    by_ends: bool = False


_ADD, _TIMES, _POWER = (OPERATIONS[word] for word in ("+", "*", "pow"))

OWN: dict[str, Own] = {
    "-": Own(
        (ANY, ANY),
        lambda a, b: _ADD.exact(a, -b),
        lambda a, b: _ADD.number(a, -b),
        lambda *_: (1.0, -1.0),
    ),
    "/": Own(
        (ANY, POSITIVE),
        lambda a, b: _TIMES.exact(a, _POWER.exact(b, Fraction(-1))),
        lambda a, b: nan if b == 0 else a / b,
        lambda a, b: (1 / b, -a / (b * b)),
    ),
    "^": Own(
        (ANY, (0.0, 4.0)),
        _POWER.exact,
        _POWER.number,
        lambda a, b: (b * _POWER.number(a, b - 1), 0.0),
    ),
}
"""Of `^` the exponent is a whole number that does not move."""

ROWS: dict[str, Own | Operation] = {**OPERATIONS, **OWN}


def _ranges(word: str) -> Ranges:
    return OWN[word].ranges if word in OWN else CASES[word]


def _counted(word: str) -> list[bool]:
    return [False] * len(_ranges(word)) if word in OWN else counted(word)


def _fitted(word: str, at: tuple[float, ...]) -> tuple[float, ...]:
    """Return arguments as the operation takes them."""
    return (at[0], float(round(at[1]))) if word == "^" else at


def _drawn(chance: random.Random, word: str) -> Iterator[tuple[float, ...]]:
    for _ in range(examples(24, least=2) if word in _DEAR else examples(60)):
        at = (low + chance.random() * (high - low) for low, high in _ranges(word))
        pairs = zip(at, _counted(word), strict=True)
        whole = (
            float(ceil(x)) if is_count and chance.random() < 1 / 2 else x for x, is_count in pairs
        )
        yield _fitted(word, tuple(whole))
    for _ in range(examples(150) if word in WIDE else 0):
        yield tuple(_power(chance, part) for part in WIDE[word])
    if word != "^":
        edges = list(some_of(EDGES, [(low + high) / 2 for low, high in _ranges(word)], POLES))
        part = 100 if word in _OF_ONE_NETWORK else 20
        yield from chance.sample(edges, examples(len(edges), part=part)) if word in _DEAR else edges
    if word in ("floor", "ceil"):
        yield (_WHOLE,)
    for _ in range(examples(60) if word.startswith("fork_") else 0):
        before = {"fork_mean": (), "fork_tail": (chance.uniform(0, 30),)}
        level = (chance.choice([0.5, 0.9, 0.99, 0.9999]),)
        yield (*before.get(word, level), *some_stages(chance))


def _power(chance: random.Random, part: tuple[float, float]) -> float:
    found: float = 10 ** chance.uniform(*part)
    if part == _LATE or (part == _SHARES and chance.random() < 1 / 2):
        return 1 - found
    return round(found) if part == _SERVERS and chance.random() < 1 / 2 else found


def _value(word: str, at: tuple[float, ...]) -> float:
    return ROWS[word].number(*at)


def _exact(
    chance: random.Random, word: str, *, endless: bool = False
) -> Iterator[tuple[list[Exact], Any]]:
    for _ in range(examples(60)):
        at: list[Exact] = [
            chance.choice(
                (
                    Fraction(chance.randint(-4, 9)),
                    Fraction(chance.randint(0, 8), 4),
                    Fraction(chance.randint(0, 12), chance.randint(1, 12)),
                )
            )
            for _ in range(ROWS[word].operands)
        ]
        if word == "^":
            at[1] = Fraction(chance.randint(0, 4))
        elif endless:
            at = [chance.choice((one, inf, -inf)) for one in at]
        try:
            yield at, ROWS[word].exact(*at)
        except (InexactError, NoValueError, PowerTooLongError):
            yield at, None


def _lines(chance: random.Random, word: str) -> tuple[list[list[float]], list[float]]:
    """Return where each operand starts and ends, and nine values on the way."""
    ranges = _ranges(word)
    lines = [[low + chance.random() * (high - low) for _ in range(2)] for low, high in ranges]
    for place, is_count in enumerate(_counted(word)):
        if is_count and chance.random() < 1 / 2:
            lines[place] = [float(ceil(lines[place][0]))] * 2
    if word == "^":
        lines[1] = [float(round(lines[1][0]))] * 2
    elif chance.random() < 1 / 4:
        lines[-1][1] = lines[-1][0]
    ways = [k / 8 for k in range(9)]
    return lines, [_value(word, tuple(a + way * (b - a) for a, b in lines)) for way in ways]


def _few(word: str, most: int, *, least: int = 1) -> int:
    """Return how many of the dearer cases are drawn: fewer where there are many operands."""
    dear = 2 if word in OF_NETWORKS else 1
    return max(min(most // 3, most // len(_ranges(word)) // dear), least)


def cases() -> dict[str, Any]:
    """Return for each operation arguments, with values, exact values, slopes and bounds."""
    found: dict[str, Any] = {}
    for word, row in ROWS.items():
        chance = random.Random(word)
        inside = list(_drawn(chance, word))[: _few(word, examples(60), least=word not in _DEAREST)]
        found[word] = {
            "laws": {word: law_of(row)} if isinstance(row, Operation) and row.by_ends else {},
            "isSigned": row.lies[0] < 0,
            "values": [(at, _value(word, at)) for at in _drawn(chance, word)],
            "exact": [
                ([_parts(one) for one in at], None if result is None else _parts(result))
                for at, result in _exact(chance, word)
            ],
            "endless": [
                ([_parts(one) for one in at], None if result is None else _parts(result))
                for at, result in _exact(chance, word, endless=True)
            ],
            "bounds": [_lines(chance, word) for _ in range(_few(word, examples(120, part=20)))],
            "slopes": [(at, row.slopes(*at)) for at in inside],
        }
    return found


def _parts(value: Fraction | float) -> tuple[str, str]:
    if isinstance(value, float):
        return ("1" if value > 0 else "-1", "0")
    return str(value.numerator), str(value.denominator)


def _reported(value: Any) -> Any:
    """Return what JSON can hold: floats that are none of its numbers are texts."""
    if isinstance(value, dict):
        return {key: _reported(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_reported(one) for one in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value).replace("nan", "NaN").replace("inf", "Infinity")
    return value


def as_json() -> str:
    """Return the cases as JSON."""
    return json.dumps(_reported(cases()), allow_nan=False)


if __name__ == "__main__":
    sys.stdout.write(as_json())
