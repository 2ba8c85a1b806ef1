"""What differs between two answers, and how it is told: see `goldens.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isclose

from helpers.golden_answers import Json
from helpers.golden_formulas import same_formula

SAME = 1e-9
_LAST_DIGITS = 1e-12
_NO_SHARE = 1e-10
"""Elasticities so far apart are the same: what is left of a difference, by each system's `exp`."""
_NUMBER = re.compile(r"\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+")
_AROUND = 60  # letters of a long text, on each side of where it differs


@dataclass(frozen=True)
class Difference:
    """What is answered otherwise: `place` names it, `kind` is what places of one kind share."""

    kind: str
    place: str
    old: Json
    new: Json

    @property
    def share(self) -> float | None:
        """How far two numbers are apart, as a share of the larger one."""
        if not (_is_number(self.old) and _is_number(self.new)):
            return None
        old, new = float(str(self.old)), float(str(self.new))
        return abs(old - new) / max(abs(old), abs(new))


@dataclass
class Comparison:
    """Finds what differs; what is as good as the same is only counted.

    `last_digits` are numbers that differ by rounding alone, `close` those nearer than `SAME`,
    `rewritten` formulas and texts that say the same in another way: terms in another order,
    numbers in a text nearer than `SAME`.
    """

    last_digits: int = 0
    close: int = 0
    rewritten: int = 0
    found: list[Difference] = field(default_factory=list)

    def compare(self, old: Json, new: Json, kind: str = "", place: str = "") -> None:
        """Compare two values of JSON."""
        if isinstance(old, dict) and isinstance(new, dict):
            for key in old | new:
                self._member(key, old, new, f"{kind}.{key}", f"{place}.{key}")
        elif isinstance(old, list) and isinstance(new, list):
            before, after = _by_identity(old, new)
            for key in before | after:
                self._member(key, before, after, f"{kind}[]", f"{place}[{key}]")
            common = [key for key in before if key in after]
            if common != [key for key in after if key in before]:
                self._differ(f"{kind} (order)", place, "; ".join(before), "; ".join(after))
        elif _is_number(old) and _is_number(new):
            self._numbers(old, new, kind, place)
        elif isinstance(old, str) and isinstance(new, str) and old != new:
            if _same_but_numbers(old, new) or same_formula(old, new):
                self.rewritten += 1
            else:
                self._differ(kind, place, old, new)
        elif old != new or type(old) is not type(new):
            self._differ(kind, place, old, new)

    def _numbers(self, old: Json, new: Json, kind: str, place: str) -> None:
        one, other = float(str(old)), float(str(new))
        least = _NO_SHARE if kind.endswith(".elasticity") else 0.0
        if not isclose(one, other, rel_tol=SAME, abs_tol=least):
            self._differ(kind, place, old, new)
        elif not isclose(one, other, rel_tol=_LAST_DIGITS):
            self.close += 1
        elif str(old) != str(new):
            self.last_digits += 1

    def _member(
        self, key: str, old: dict[str, Json], new: dict[str, Json], kind: str, place: str
    ) -> None:
        if key in old and key in new:
            self.compare(old[key], new[key], kind, place)
        else:
            how = "gone" if key in old else "new"
            self._differ(f"{kind} ({how})", place, old.get(key), new.get(key))

    def _differ(self, kind: str, place: str, old: Json, new: Json) -> None:
        self.found.append(Difference(kind.lstrip("."), place.lstrip("."), old, new))


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_but_numbers(old: str, new: str) -> bool:
    """Tell whether two texts differ in nothing but the last digits of numbers in them."""
    before, after = _NUMBER.split(old), _NUMBER.split(new)
    if before != after:
        return False
    pairs = zip(_NUMBER.findall(old), _NUMBER.findall(new), strict=True)
    return all(isclose(float(one), float(other), rel_tol=SAME) for one, other in pairs)


def _by_identity(old: list[Json], new: list[Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Return elements by what tells them apart in both lists: their fewest first members.

    So one that comes or goes does not make all behind it differ. Others go by their place.
    """
    longest = max((len(each) for each in (*old, *new) if isinstance(each, dict)), default=0)
    for count in range(1, longest + 1):
        before, after = ({_identity(each, count): each for each in side} for side in (old, new))
        if len(before) == len(old) and len(after) == len(new):
            return before, after
    before, after = ({str(i): each for i, each in enumerate(side)} for side in (old, new))
    return before, after


def _identity(element: Json, count: int) -> str:
    if not isinstance(element, dict):
        return ""
    return ", ".join(
        f"{value:.9g}" if isinstance(value, float) else _shown(value)
        for value in list(element.values())[:count]
    )


def group_text(name: str, members: Sequence[tuple[str, Difference]], examples: int) -> str:
    """Return what commands answer otherwise in one kind of place: how much, and some of it."""
    commands = len({command for command, _ in members})
    shares = [one.share for _, one in members if one.share is not None]
    largest = f", numbers by up to {max(shares):.3g} of them" if shares else ""
    lines = [f"{name}: {len(members):,} in {commands:,} commands{largest}"]
    for command, one in sorted(members, key=lambda each: -(each[1].share or 0))[:examples]:
        share = "" if one.share is None else f" ({one.share:.3g})"
        lines.append(f"    qps {command}\n      {one.place}: {_change(one.old, one.new)}{share}")
    return "\n".join(lines) + "\n"


def _change(old: Json, new: Json) -> str:
    """Return two values; of long ones what is around the place where they part."""
    before, after = _shown(old), _shown(new)
    pairs = enumerate(zip(before, after, strict=False))
    apart = next((i for i, (one, other) in pairs if one != other), min(len(before), len(after)))
    start, end = max(0, apart - _AROUND), apart + _AROUND
    return " → ".join(
        f"{'…' if start else ''}{text[start:end]}{'…' if len(text) > end else ''}"
        for text in (before, after)
    )


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
