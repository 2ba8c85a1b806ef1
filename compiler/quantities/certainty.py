"""How a printed number is known: exactly, as a bound, by an approximation, by simulation.

The label belongs to the number and follows it into whatever is made of it. What is exact is
exact for the model that the spec states (docs/traffic.md): nothing is left out or simplified on
the way from the model to the number.
"""

from __future__ import annotations

from enum import StrEnum
from math import prod

from msgspec import Struct
from msgspec.structs import replace


class CertaintyKind(StrEnum):
    """Kind of certainty of a number."""

    EXACT = "exact"
    UPPER_BOUND = "upper bound"  # the truth is not above it
    LOWER_BOUND = "lower bound"  # the truth is not below it
    APPROXIMATION = "approximation"
    SIMULATED = "simulated"


class Reason(Struct, frozen=True, kw_only=True):
    """Why a number is not exact: the `method`, the places `at` which it is used, and a `text`.

    The method is a row in the table of methods (`quantities/methods/`).
    """

    method: str
    text: str
    at: tuple[str, ...] = ()


class Certainty(Struct, frozen=True, kw_only=True):
    """Certainty of a number: exact, a bound or an approximation, with reasons.

    Each reason names the bound or approximation, its place, and its known model error. An exact
    number has none.
    """

    kind: CertaintyKind = CertaintyKind.EXACT
    because: tuple[Reason, ...] = ()
    theorems: tuple[Reason, ...] = ()
    """Theorems that prove exactness, without text."""
    error: float | None = None
    """Largest model error of an approximation, relative to the true value; None if unknown."""

    @property
    def is_exact(self) -> bool:
        """True if there is no simplification."""
        return self.kind is CertaintyKind.EXACT

    @property
    def reasons(self) -> tuple[str, ...]:
        """Reasons why the number is not exact, as text."""
        return tuple(one.text for one in self.because)

    @property
    def printed(self) -> dict[str, object]:
        """The certainty as JSON, with its reasons as text."""
        return {"kind": self.kind, "reasons": list(self.reasons), "error": self.error}

    @property
    def methods(self) -> frozenset[str]:
        """IDs of the methods involved."""
        return frozenset(one.method for one in self.because)


EXACT = Certainty()
MOST_STATED = 1.0
"""The largest error that is stated, as a part of the truth."""


def upper_bound(*because: Reason) -> Certainty:
    """Return the certainty of a number that the truth does not exceed."""
    return Certainty(kind=CertaintyKind.UPPER_BOUND, because=because)


def lower_bound(*because: Reason) -> Certainty:
    """Return the certainty of a number that the truth does not fall below."""
    return Certainty(kind=CertaintyKind.LOWER_BOUND, because=because)


def approximation(*because: Reason, error: float | None = None) -> Certainty:
    """Return the certainty of a number whose truth may lie on either side, so far off at most."""
    return Certainty(kind=CertaintyKind.APPROXIMATION, because=because, error=error)


def together(*parts: Certainty) -> Certainty:
    """Return how a value is known that grows with each of its parts, such as their sum.

    Bounds of one side stay a bound; of both sides, or with an approximation, nothing is left but
    an approximation. Reasons are reported once, in order. Nothing is off by more than the worst of
    its parts, where that is known of all.
    """
    kinds = {part.kind for part in parts} - {CertaintyKind.EXACT}
    theorems = tuple(dict.fromkeys(each for part in parts for each in part.theorems))
    if not kinds:
        return Certainty(theorems=theorems) if theorems else EXACT
    kind = kinds.pop() if len(kinds) == 1 else CertaintyKind.APPROXIMATION
    because = dict.fromkeys(reason for part in parts for reason in part.because)
    errors = [part.error for part in parts if not part.is_exact]
    known_errors = [error for error in errors if error is not None]
    error = (
        max(known_errors)
        if kind is CertaintyKind.APPROXIMATION and len(known_errors) == len(errors)
        else None
    )
    return Certainty(kind=kind, because=tuple(because), theorems=theorems, error=error)


def compounded(*parts: Certainty) -> Certainty:
    """Return how a value is known of which each part says by how many times it may be off.

    So it is where one error is made upon another, as in the wait of one queue: they multiply.
    """
    found = together(*parts)
    if found.error is None:
        return found
    error = prod(1 + (part.error or 0.0) for part in parts) - 1
    return replace(found, error=round(error, 4))


_OTHER_SIDE = {
    CertaintyKind.UPPER_BOUND: CertaintyKind.LOWER_BOUND,
    CertaintyKind.LOWER_BOUND: CertaintyKind.UPPER_BOUND,
}


def opposite(part: Certainty) -> Certainty:
    """Return how a value is known that falls as its part grows, such as its negative."""
    kind = _OTHER_SIDE.get(part.kind, part.kind)
    return replace(part, kind=kind)


def of_another(part: Certainty) -> Certainty:
    """Return how a quantity is known that rests on another one: by no error of that one.

    A wait that is 30 % off says nothing of how far off a share is that is lost there.
    """
    return replace(part, error=None)
