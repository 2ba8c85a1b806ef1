"""Which of the conditions on the way of a stream can hold together: each makes a way of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from qps.compiler import ir

MAX_PATHS = 256
"""Ways of one stream, beyond which it is refused."""
_MOST_TRIED = 1 << 14
_TURNED = {">=": "<", ">": "<=", "!=": "=="}

Atom: TypeAlias = "str | ir.Compare"
"""What a condition rests on: an option, or a comparison that holds or does not."""
Assumed: TypeAlias = "Mapping[Atom, str | bool]"


def together(
    conditions: Sequence[ir.Condition], choices: Mapping[str, Sequence[str]]
) -> dict[tuple[bool, ...], bool] | None:
    """Return which conditions may hold together, and whether they do as the spec stands.

    What is compared may hold or not, so that it is not known how the spec stands. None where
    there are too many.
    """
    atoms = list(dict.fromkeys(atom for one in conditions for atom in _atoms(one)))
    values: list[Sequence[str | bool]] = [
        choices[one] if isinstance(one, str) else (True, False) for one in atoms
    ]
    tried, is_plain = 1, all(isinstance(one, str) for one in atoms)
    for several in values:
        tried *= len(several)
    if tried > _MOST_TRIED:
        return None
    found: dict[tuple[bool, ...], bool] = {}
    for number, assumed in enumerate(product(*values)):
        known = dict(zip(atoms, assumed, strict=True))
        outcomes = tuple(_holds(one, known) for one in conditions)
        found[outcomes] = found.get(outcomes, False) or (is_plain and number == 0)
    return found if len(found) <= MAX_PATHS else None


def is_implied(condition: ir.Condition | None, known: Mapping[ir.Condition, bool]) -> bool | None:
    """Return whether a condition holds where others do or do not; None where that is not known."""
    if condition is None:
        return True
    if condition in known:
        return known[condition]
    match condition:
        case ir.Negated(inner):
            held = is_implied(inner, known)
            return None if held is None else not held
        case ir.AllOf(conditions) | ir.AnyOf(conditions):
            decides = isinstance(condition, ir.AnyOf)
            parts = [is_implied(one, known) for one in conditions]
            if decides in parts:
                return decides
            return None if None in parts else not decides
    return None


def _atoms(condition: ir.Condition) -> Iterator[Atom]:
    match condition:
        case ir.OptionIs(option):
            yield option
        case ir.Negated(inner):
            yield from _atoms(inner)
        case ir.AllOf(conditions) | ir.AnyOf(conditions):
            for one in conditions:
                yield from _atoms(one)
        case ir.Compare():
            yield _plain(condition)


def _holds(condition: ir.Condition, assumed: Assumed) -> bool:
    match condition:
        case ir.OptionIs(option, choice):
            return assumed[option] == choice
        case ir.Negated(inner):
            return not _holds(inner, assumed)
        case ir.AllOf(conditions):
            return _every(conditions, assumed)
        case ir.AnyOf(conditions):
            return any(_holds(one, assumed) for one in conditions)
        case ir.Compare():
            return bool(assumed[_plain(condition)]) == (condition.operator not in _TURNED)
    raise AssertionError("only a matrix has rows")


def _every(conditions: Iterable[ir.Condition], assumed: Assumed) -> bool:
    return all(_holds(one, assumed) for one in conditions)


def _plain(compare: ir.Compare) -> ir.Compare:
    """Return a comparison without its negation: `a >= b` is no `a < b`."""
    operator = _TURNED.get(compare.operator, compare.operator)
    return ir.Compare(operator, compare.left, compare.right, compare.dimension)
