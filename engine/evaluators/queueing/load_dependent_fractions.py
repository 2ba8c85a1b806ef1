"""Closed networks with speeds and pools as fractions: by sums, where there are few of all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from qps.engine.evaluators.queueing.closed_fractions import MOST_BITS
from qps.engine.exact_algebra.exact_values import Exact, InexactError, NoValueError
from qps.engine.queueing_networks.load_dependent_operands import (
    GROUP,
    LoadDependentPool,
    Place,
    between,
    every,
    never_ends,
    places_of,
)

_MOST = 64
_MOST_DIGITS = 1 << 16
"""Binary digits of weights beyond which fractions take longer than their value is worth."""
_MOST_COPIES = 2


def nested_rate(customers: Exact, think: Exact, *operands: Exact) -> Exact:
    """Return how many cycles all customers together end in a time."""
    from qps.engine.evaluators.queueing import load_dependent_values as values  # noqa: PLC0415 - needs flint

    numbers = _finite(customers, think, *operands)
    found: Exact = between(partial(values.exactly, values.rate_of), *_read(numbers))
    return found


def nested_time(which: Exact, customers: Exact, think: Exact, *operands: Exact) -> Exact:
    """Return how long a cycle is at a station, or waits for a pool."""
    return _at_place(which, customers, think, *operands, is_wait=False)


def nested_wait(which: Exact, customers: Exact, think: Exact, *operands: Exact) -> Exact:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return _at_place(which, customers, think, *operands, is_wait=True)


def _at_place(*operands: Exact, is_wait: bool) -> Exact:
    from qps.engine.evaluators.queueing import load_dependent_values as values  # noqa: PLC0415 - needs flint

    which, *numbers = _finite(*operands)
    customers, think, places = _read(numbers)
    refuse_unknown(which, places, is_wait=is_wait)
    value = partial(values.wait_of if is_wait else values.time_of, int(which))
    found: Exact = between(partial(values.exactly, value), customers, think, places)
    return found


def _finite(*operands: Exact) -> list[Fraction]:
    finite = [value for value in operands if isinstance(value, Fraction)]
    if len(finite) < len(operands):
        raise NoValueError
    return finite


def _read(numbers: Sequence[Fraction]) -> tuple[Fraction, Fraction, tuple[Place, ...]]:
    customers, think, *stations = numbers
    if min(customers, think) < 0 or any(n < 0 for k, n in enumerate(stations) if k % GROUP):
        raise NoValueError
    places = places_of(stations)
    if places is None:
        raise NoValueError
    bits = sum(n.numerator.bit_length() + n.denominator.bit_length() for n in numbers)
    is_much = size_of(customers, places) > _MOST or customers * bits > MOST_BITS
    is_much = is_much or _digits_of(customers, places) > _MOST_DIGITS
    if is_much and not any(map(never_ends, places)):
        raise InexactError
    if any(p.copies > _MOST_COPIES for p in every(places) if isinstance(p, LoadDependentPool)):
        raise InexactError
    return customers, think, places


def _digits_of(customers: Any, places: Sequence[Place]) -> Any:
    """Return about how many digits weights of so many customers have.

    Those of a pool are products of rates within it, each a ratio of such weights; with copies each
    lies on a line between means over all of these.
    """
    found = 0
    for place in places:
        if isinstance(place, LoadDependentPool):
            whole = place.places * place.copies
            inner = _bits_of(place.delay) + _digits_of(whole, place.within)
            found += inner * (whole if place.copies > 1 else 1)
        else:
            found += sum(map(_bits_of, (place.demand, place.load, *place.speeds)))
    return customers * found


def _bits_of(number: Any) -> int:
    return max(int(number.numerator.bit_length()), int(number.denominator.bit_length()))


def size_of(customers: Any, places: Sequence[Place]) -> Any:
    """Return the largest of what is counted."""
    found = [customers]
    for place in every(places):
        if isinstance(place, LoadDependentPool):
            found.append(place.places * place.copies)
        else:
            found += [place.servers, *[place.copies] * (place.servers > 1)]
    return max(found)


def refuse_unknown(which: Any, places: Sequence[Place], *, is_wait: bool) -> None:
    """Refuse what is no place, or none where an open visit may be."""
    own = [place for place in every(places) if place.at == which]
    if not own or (is_wait and (isinstance(own[0], LoadDependentPool) or own[0].speeds)):
        raise NoValueError
