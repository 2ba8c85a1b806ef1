"""Closed networks with speeds and pools as fractions and as balls: by sums where there are few.

Balls of more are as floats have them, with what they can be off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import inf, isnan
from typing import Any

from flint import arb, ctx, fmpq

from qps.engine import nested_numbers
from qps.engine.columns.closed_classes import by_floats
from qps.engine.columns.closed_fractions import MOST_BITS
from qps.engine.exactness import Exact, InexactError, NoValueError
from qps.engine.nested_networks import (
    GROUP,
    SPEED,
    STATION,
    Place,
    Pool,
    Station,
    between,
    every,
    holds,
    never_ends,
    places_of,
)
from qps.engine.nested_sums import Sums

_MOST = 64
_MOST_COPIES = 2
_MOST_IN_BALLS = 4000
_MORE_BITS = 64
_ZERO = Fraction(0)

# -- fractions -----------------------------------------------------------------------------


def rate_in_fractions(customers: Exact, think: Exact, *told: Exact) -> Exact:
    """Return how many cycles all customers together end in a time."""
    numbers = _finite(customers, think, *told)
    found: Exact = between(_rate, *_read(numbers))
    return found


def time_in_fractions(which: Exact, customers: Exact, think: Exact, *told: Exact) -> Exact:
    """Return how long a cycle is at a station, or waits for a pool."""
    return _at_place(_time, which, customers, think, *told)


def wait_in_fractions(which: Exact, customers: Exact, think: Exact, *told: Exact) -> Exact:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return _at_place(_wait, which, customers, think, *told)


def _at_place(value: Callable[..., Any], *told: Exact) -> Exact:
    which, *numbers = _finite(*told)
    customers, think, places = _read(numbers)
    _refuse_unknown(which, places, is_wait=value is _wait)
    found: Exact = between(partial(value, int(which)), customers, think, places)
    return found


def _finite(*told: Exact) -> list[Fraction]:
    finite = [value for value in told if isinstance(value, Fraction)]
    if len(finite) < len(told):
        raise NoValueError
    return finite


def _read(numbers: Sequence[Fraction]) -> tuple[Fraction, Fraction, tuple[Place, ...]]:
    customers, think, *told = numbers
    if min(customers, think) < 0 or any(n < 0 for k, n in enumerate(told) if k % GROUP):
        raise NoValueError
    places = places_of(told)
    if places is None:
        raise NoValueError
    bits = sum(n.numerator.bit_length() + n.denominator.bit_length() for n in numbers)
    is_much = _size(customers, places) > _MOST or customers * bits > MOST_BITS
    if is_much and not any(map(never_ends, places)):
        raise InexactError
    if any(p.copies > _MOST_COPIES for p in every(places) if isinstance(p, Pool)):
        raise InexactError
    return customers, think, places


def _size(customers: Any, places: Sequence[Place]) -> Any:
    """Return the largest of what is counted."""
    found = [customers]
    for place in every(places):
        if isinstance(place, Pool):
            found.append(place.places * place.copies)
        else:
            found += [place.servers, *[place.copies] * (place.servers > 1)]
    return max(found)


def _refuse_unknown(which: Any, places: Sequence[Place], *, is_wait: bool) -> None:
    """Refuse what is no place, or none where an open visit may be."""
    own = [place for place in every(places) if place.at == which]
    if not own or (is_wait and (isinstance(own[0], Pool) or own[0].speeds)):
        raise NoValueError


# -- values --------------------------------------------------------------------------------


def _rate(customers: int, think: Any, places: tuple[Place, ...]) -> Any:
    if customers == 0 or any(map(never_ends, places)):
        return think * 0
    if not think and not any(map(_takes_time, places)):
        return inf
    return Sums(customers, think, places).rate


def _time(which: int, customers: int, think: Any, places: tuple[Place, ...]) -> Any:
    own = next(place for place in places if holds(place, which))
    if never_ends(own):
        return inf
    if not _takes_time(own):
        return think * 0
    if any(map(never_ends, places)):
        customers, places = 1, (own,)
    return Sums(max(customers, 1), think, places).time(which)


def _wait(which: int, customers: int, think: Any, places: tuple[Place, ...]) -> Any:
    own = next(place for place in places if holds(place, which))
    if any(map(never_ends, places)):
        station = next(place for place in every([own]) if place.at == which)
        assert isinstance(station, Station)
        if station.load >= station.servers:
            return inf
        customers, places = 0, (own,)
    return Sums(customers, think, places).wait(which)


def _takes_time(place: Place) -> bool:
    if isinstance(place, Pool):
        return place.delay > 0 or any(map(_takes_time, place.within))
    return bool(place.asked > 0)


# -- balls ---------------------------------------------------------------------------------


def rate_in_balls(customers: arb, think: arb, *told: arb) -> arb:
    """Return how many cycles all customers together end in a time."""
    found = _summed(_rate, None, customers, think, told)
    if found is not None:
        return found
    return by_floats(nested_numbers.nested_rate, (customers, think, *told))


def time_in_balls(which: arb, customers: arb, think: arb, *told: arb) -> arb:
    """Return how long a cycle is at a station, or waits for a pool."""
    found = _summed(_time, which, customers, think, told)
    if found is not None:
        return found
    return by_floats(nested_numbers.nested_time, (which, customers, think, *told))


def wait_in_balls(which: arb, customers: arb, think: arb, *told: arb) -> arb:
    """Return the mean wait of an open visit at a station, in mean service times."""
    found = _summed(_wait, which, customers, think, told)
    if found is not None:
        return found
    return by_floats(nested_numbers.nested_wait, (which, customers, think, *told))


def _summed(
    value: Callable[..., Any],
    which: arb | None,
    customers: arb,
    think: arb,
    told: Sequence[arb],
) -> arb | None:
    """Return a value by sums; None where that is too much, or where it is not known what counts."""
    number, of = _exactly(customers), Fraction(0) if which is None else _exactly(which)
    counted = _counted(told)
    if number is None or of is None or counted is None or number < 0 or not think >= 0:
        return None
    if not think.is_finite() or not all(one >= 0 for k, one in enumerate(counted) if k % GROUP):
        return None
    places = places_of(counted)
    if places is None or any(map(never_ends, places)):
        return None
    if any(p.copies > 1 for p in every(places) if isinstance(p, Pool)):
        return None
    size = int(_size(number, places)) + 1
    if size * size * len(told) > _MOST_IN_BALLS * GROUP or not think + sum(told[1::GROUP]) > 0:
        return None
    if which is not None:
        _refuse_unknown(of, places, is_wait=value is _wait)
        value = partial(value, int(of))
    with ctx.extraprec(_MORE_BITS):
        found: Any = between(value, number, think, places, _on_line)
    return _ball(found)


def _counted(told: Sequence[arb]) -> list[Any] | None:
    """Return operands, whole numbers where they count; None where they count what is not whole."""
    found: list[Any] = list(told)
    kinds = [_exactly(one) for one in told[::GROUP]]
    for number, kind in enumerate(kinds):
        at = number * GROUP
        found[at] = kind
        is_speed = SPEED in (kind, *kinds[number + 1 : number + 2])
        servers = 1 if is_speed else _exactly(told[at + 2])
        if not is_speed:
            found[at + 2] = servers
        if is_speed or kind != STATION or servers != 1:
            found[at + 4] = _exactly(told[at + 4])
        counts = [one for one in found[at : at + GROUP] if not isinstance(one, arb)]
        if any(one is None or one.denominator != 1 for one in counts):
            return None
        found[at : at + 5] = [
            one if isinstance(one, arb) else int(one) for one in found[at : at + 5]
        ]
    return found


def _exactly(value: arb) -> Fraction | None:
    if not value.is_finite() or not value.is_exact():
        return None
    mantissa, exponent = (int(part) for part in value.mid().man_exp())
    return mantissa * Fraction(2) ** exponent


def _on_line(low: Any, high: Any, part: Any) -> Any:
    return low + _ball(part) * (high - low)


def _ball(value: Any) -> arb:
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb("inf") if isinstance(value, float) and not isnan(value) else value
