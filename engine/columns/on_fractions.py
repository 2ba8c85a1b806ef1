"""Exact values of operations: of fractions and infinities, as fractions or infinities.

InexactError where a value is no fraction (a root, a logarithm), NoValueError where there is none.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil as rounded_up
from math import floor as rounded_down
from math import inf

from qps.engine.columns.class_fractions import (
    class_open_wait,
    class_quantile,
    class_rate,
    class_wait,
    shared_rate,
    shared_time,
    shared_wait,
)
from qps.engine.columns.closed_fractions import (
    closed_quantile,
    closed_rate,
    closed_wait,
    mixed_room,
    mixed_wait,
)
from qps.engine.columns.forked_fractions import forked_rate, forked_time, forked_wait
from qps.engine.columns.nested_fractions import nested_rate, nested_time, nested_wait
from qps.engine.columns.on_floats import ONE_OVER_E
from qps.engine.exactness import Exact, InexactError, NoValueError, exact_of_float
from qps.engine.powers import exact_power
from qps.engine.queues.queue_numbers import exact_inverse_erlang_b
from qps.engine.queues.stage_numbers import stages_quantile as _stages_in_floats

# Functions of this column that stand elsewhere.
__all__ = [
    "class_open_wait",
    "class_quantile",
    "class_rate",
    "class_wait",
    "closed_quantile",
    "closed_rate",
    "closed_wait",
    "forked_rate",
    "forked_time",
    "forked_wait",
    "mixed_room",
    "mixed_wait",
    "nested_rate",
    "nested_time",
    "nested_wait",
    "shared_rate",
    "shared_time",
    "shared_wait",
]

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)
_MOST_SERVERS = 64
_MOST_TRAFFIC_BITS = 1024
_MOST_COUNTED = 1000
_LEVELS = "has no value: the share must be at least 0 and below 100 %"


def _finite(value: Exact) -> Fraction:
    if isinstance(value, float):
        raise InexactError
    return value


def _known(value: float) -> float:
    """Return an infinity; NoValueError for not-a-number."""
    if value != value:  # noqa: PLR0124 - not-a-number is the only one that is not itself
        raise NoValueError
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _sign(value: Exact) -> float:
    return float((value > 0) - (value < 0))


def _refuse(is_outside: bool, *why: str) -> None:  # noqa: FBT001 - says what it is asked
    if is_outside:
        raise NoValueError(*why)


# -- arithmetic --------------------------------------------------------------------------


def total(*parts: Exact) -> Exact:
    """Return a sum."""
    by_divisor: dict[int, int] = {}
    for part in parts:
        if isinstance(part, float):
            return _known(sum(one for one in parts if isinstance(one, float)))
        below = part.denominator
        by_divisor[below] = by_divisor.get(below, 0) + part.numerator
    if len(by_divisor) == len(parts):
        return sum(parts, _ZERO)
    # What has one divisor is summed up first: it is brought to its lowest terms once.
    return sum((Fraction(above, below) for below, above in by_divisor.items()), _ZERO)


def product(*parts: Exact) -> Exact:
    """Return a product; nothing times infinity has no value."""
    above = below = 1
    for part in parts:
        if isinstance(part, float):
            return _without_end(parts)
        above *= part.numerator
        below *= part.denominator
    return Fraction(above, below)  # brought to its lowest terms once, not at each factor


def _without_end(parts: tuple[Exact, ...]) -> float:
    """Return a product in which there are infinities."""
    sign = 1.0
    for part in parts:
        sign *= part if isinstance(part, float) else _sign(part)
    return _known(sign)


def raised(base: Exact, exponent: Exact) -> Exact:
    """Return a power; TooLongError where it has too many digits."""
    if isinstance(exponent, float):
        return _raised_without_end(base, exponent)
    if isinstance(base, float):
        _refuse(base < 0 and exponent.denominator != 1)
        if exponent <= 0:
            return _ONE if exponent == 0 else _ZERO
        return base if exponent.numerator % 2 else inf
    _refuse(base == 0 and exponent < 0, "divides by zero")
    _refuse(base < 0 and exponent.denominator != 1, "is a root of a negative number")
    found = exact_power(base, exponent)
    if found is None:
        raise InexactError
    assert isinstance(found, Fraction)
    return found


def _raised_without_end(base: Exact, exponent: float) -> Exact:
    """Return a power whose exponent is infinite."""
    if base == 1:
        return _ONE
    _refuse(base < 0 or (base == 0 and exponent < 0))
    return inf if (base > 1) == (exponent > 0) else _ZERO


def ratio(above: Exact, below: Exact) -> Exact:
    """Return a quotient that is infinite where its divisor vanishes."""
    if below == 0:
        return inf
    if isinstance(below, float):
        _refuse(isinstance(above, float))
        return _ZERO
    return above / below if isinstance(above, Fraction) else above * _sign(below)


def mean(above: Exact, below: Exact) -> Exact:
    """Return a quotient that is 0 where its divisor vanishes."""
    return ratio(above, below) if below != 0 else _ZERO


def waiting(work: Exact, load: Exact) -> Exact:
    """Return work/(1 - load), infinite from load 1 on."""
    return inf if load >= 1 else ratio(work, total(_ONE, product(Fraction(-1), load)))


def maximum(*parts: Exact) -> Exact:
    """Return the largest."""
    return max(parts)


def minimum(*parts: Exact) -> Exact:
    """Return the smallest."""
    return min(parts)


def absolute(value: Exact) -> Exact:
    """Return a size without its sign."""
    return max(value, -value)


def floor(value: Exact) -> Exact:
    """Return a value rounded down."""
    return value if isinstance(value, float) else Fraction(rounded_down(value))


def ceiling(value: Exact) -> Exact:
    """Return a value rounded up."""
    return value if isinstance(value, float) else Fraction(rounded_up(value))


# -- functions: fractions at few points --------------------------------------------------


def root(value: Exact) -> Exact:
    """Return a square root."""
    return raised(value, _HALF)


def exponential(value: Exact) -> Exact:
    """Return e^x, a fraction at 0 alone."""
    if isinstance(value, float):
        return inf if value > 0 else _ZERO
    return _only(value, _ZERO, _ONE)


def logarithm(value: Exact) -> Exact:
    """Return ln x, a fraction at 1 alone."""
    _refuse(value <= 0, "is the logarithm of a number that is not above zero")
    return value if isinstance(value, float) else _only(value, _ONE, _ZERO)


def cosine(value: Exact) -> Exact:
    """Return a cosine, a fraction at 0 alone."""
    _refuse(isinstance(value, float))
    return _only(value, _ZERO, _ONE)


def arc_cosine(value: Exact) -> Exact:
    """Return an angle of which the cosine is known, a fraction at 1 alone."""
    _refuse(not -1 <= value <= 1, "is the arc cosine of a number that is not between -1 and 1")
    return _only(value, _ONE, _ZERO)


def lambert(value: Exact) -> Exact:
    """Return the upper branch of Lambert's W, a fraction at 0 alone."""
    _refuse(value < -ONE_OVER_E[0], "is Lambert's W of a number below -1/e")
    return value if isinstance(value, float) else _only(value, _ZERO, _ZERO)


def lower_lambert(value: Exact) -> Exact:
    """Return the lower branch of Lambert's W, nowhere a fraction."""
    _refuse(not -ONE_OVER_E[0] <= value < 0, "is the lower branch of Lambert's W outside -1/e to 0")
    raise InexactError


def effective(cores: Exact, efficiency: Exact) -> Exact:
    """Return what cores do together, c e^(log2 c): a fraction for powers of two."""
    _refuse(cores <= 0 or efficiency < 0)
    cores, efficiency = _finite(cores), _finite(efficiency)
    doublings = _log2(cores)
    if doublings is not None:
        return product(cores, raised(efficiency, doublings))
    halvings = _log2(efficiency) if efficiency > 0 else None  # c e^(log2 c) = c c^(log2 e)
    if halvings is None:
        raise InexactError
    return cores * _finite(raised(cores, halvings))


def _log2(value: Fraction) -> Fraction | None:
    """Return log2 of a power of two, None of another."""
    above, below = value.numerator, value.denominator
    if above & (above - 1) or below & (below - 1):
        return None
    return Fraction(above.bit_length() - below.bit_length())


def harmonic(count: Exact) -> Exact:
    """Return 1 + 1/2 + ... + 1/n: of a whole number, up to a thousand."""
    _refuse(count <= -1)
    if isinstance(count, float):
        return count
    if count.denominator != 1 or count > _MOST_COUNTED:
        raise InexactError
    return _harmonic(int(count))


@lru_cache(maxsize=1 << 10)
def _harmonic(count: int) -> Fraction:
    # By halves: long fractions are added once.
    def between(first: int, last: int) -> Fraction:
        if first == last:
            return Fraction(1, first)
        middle = (first + last) // 2
        return between(first, middle) + between(middle + 1, last)

    return between(1, count) if count else _ZERO


def _only(value: Exact, at: Fraction, found: Fraction) -> Fraction:
    if value != at:
        raise InexactError
    return found


# -- queues ------------------------------------------------------------------------------


def erlang_b(servers: Exact, traffic: Exact) -> Exact:
    """Return the share of calls that are lost, of up to 64 servers."""
    _refuse(servers < 0 or traffic < 0)
    if traffic == 0:
        return _ZERO if servers > 0 else _ONE
    return 1 / _inverse_b(servers, traffic)


def erlang_c(servers: Exact, traffic: Exact) -> Exact:
    """Return the share of calls that wait, of up to 64 servers."""
    _refuse(servers <= 0, "has no value: there are no servers")
    _refuse(traffic < 0)
    if traffic >= servers:
        return _ONE
    if traffic == 0:
        return _ZERO
    inverse, share = _inverse_b(servers, traffic), _finite(ratio(traffic, servers))
    return 1 / (inverse - share * (inverse - 1))


def room_loss(servers: Exact, room: Exact, traffic: Exact) -> Exact:
    """Return the share that finds no room, where that is not too long."""
    c = _of_room(servers, room, traffic)
    if traffic == inf:
        _refuse(room == inf and servers == inf)
        return _ONE
    if room == inf:
        return _ZERO if traffic <= c else 1 - _finite(c) / _finite(traffic)
    if room == 0 or traffic == 0:
        return _ZERO if room else _ONE
    q, m = _finite(c) / _finite(traffic), _places(c, room, traffic)
    return 1 / (sum((q**j for j in range(m)), _ZERO) + q**m * _inverse_b(c, traffic))


def room_wait(servers: Exact, room: Exact, traffic: Exact) -> Exact:
    """Return the mean wait of those who get in, of as many."""
    c = _of_room(servers, room, traffic)
    if servers >= room or traffic == 0:
        return _ZERO
    if traffic == inf:
        return inf if room == inf else (_finite(room) - _finite(c)) / _finite(c)
    if room == inf:
        found = inf if traffic >= c else _finite(c) - _finite(traffic)
        return inf if found == inf else erlang_c(c, traffic) / found
    q, m = _finite(c) / _finite(traffic), _places(c, room, traffic)
    waiting = sum(((m - j) * q**j for j in range(m)), _ZERO) / _finite(traffic)
    others = sum((q**j for j in range(1, m)), _ZERO)
    return waiting / (others + q**m * _inverse_b(c, traffic))


def slowest(*operands: Exact) -> Exact:
    """Return the mean of the largest of times: a fraction where they are always the same."""
    variations, means = operands[2::3], operands[1::3]
    _refuse(any(one < 0 for one in operands) or inf in variations)
    if inf in operands:
        return inf
    if any(mean and variation for mean, variation in zip(means, variations, strict=True)):
        raise InexactError
    return max(total(fixed, mean) for fixed, mean in zip(operands[::3], means, strict=True))


def room_quantile(servers: Exact, room: Exact, traffic: Exact, level: Exact) -> Exact:
    """Return a quantile of the time of those who get in: none is a fraction but none at all."""
    _of_room(servers, room, traffic)
    _refuse(not 0 <= level < 1, _LEVELS)
    if inf in (servers, room, traffic):
        raise InexactError
    return _only(level, _ZERO, _ZERO)


def _of_room(servers: Exact, room: Exact, traffic: Exact) -> Exact:
    """Return how many can be served at once."""
    _refuse(servers <= 0, "has no value: there are no servers")
    _refuse(room < 0 or traffic < 0)
    return min(servers, room)


def _places(servers: Exact, room: Exact, traffic: Exact) -> int:
    """Return how many places there are to wait, where such powers are not too long."""
    places = _finite(room) - _finite(servers)
    if places.denominator != 1 or _bits(_finite(traffic)) * (places + 1) > _MOST_TRAFFIC_BITS:
        raise InexactError
    return int(places)


def periodic_wait(flows: Exact, load: Exact) -> Exact:
    """Return the mean wait of N D/D/1 in service times, of up to 65 flows."""
    _refuse(load < 0)
    if load >= 1:
        return inf
    if flows <= 1 or load == 0:
        return _ZERO
    flows = _finite(flows)
    return (_inverse_b(flows - 1, flows / _finite(load)) - 1) / 2


def _inverse_b(servers: Exact, traffic: Exact) -> Fraction:
    servers, traffic = _finite(servers), _finite(traffic)
    if servers.denominator != 1 or servers > _MOST_SERVERS or _bits(traffic) > _MOST_TRAFFIC_BITS:
        raise InexactError
    return exact_inverse_erlang_b(int(servers), traffic)


def md1_tail(load: Exact, time: Exact) -> Exact:
    """Return P(W > t) of M/D/1, a fraction where nobody, everybody or any wait counts."""
    _refuse(load < 0)
    if load >= 1 or time < 0:
        return _ONE
    return load if time == 0 else _only(load, _ZERO, _ZERO)


def md1_quantile(load: Exact, level: Exact) -> Exact:
    """Return a quantile of the wait of M/D/1, a fraction where so many do not wait."""
    _refuse(load < 0)
    _refuse(not 0 <= level < 1, _LEVELS)
    if load >= 1:
        return inf
    if level <= 1 - load:
        return _ZERO
    raise InexactError


def batch_quantile(load: Exact, level: Exact) -> Exact:
    """Return a quantile of the wait in a batch, a fraction where no batch waits."""
    _refuse(load < 0)
    _refuse(not 0 <= level < 1, _LEVELS)
    if load >= 1:
        return inf
    return level if load == 0 else _only(level, _ZERO, _ZERO)


def periodic_tail(flows: Exact, load: Exact, time: Exact) -> Exact:
    """Return P(W > t) of N D/D/1: a fraction where everybody waits so long, or nobody."""
    _refuse(load < 0 or not 0 <= flows < inf)
    if load >= 1 or time < 0:
        return _ONE
    if load == 0 or time >= max(ceiling(flows) - 1, 0):
        return _ZERO
    raise InexactError


def periodic_quantile(flows: Exact, load: Exact, level: Exact) -> Exact:
    """Return a quantile of the wait of N D/D/1: a fraction where so many do not wait."""
    _refuse(load < 0 or not 0 <= flows < inf)
    _refuse(not 0 <= level < 1, _LEVELS)
    if load >= 1:
        return inf
    whole = max(ceiling(flows), _ONE)
    if load * (whole - 1) <= (1 - level) * whole:
        return _ZERO
    raise InexactError


def burst_wait(sources: Exact, active: Exact, peak: Exact) -> Exact:
    """Return the mean wait of flows that are on and off: a fraction where nobody waits."""
    _refuse(sources < 0 or peak < 0 or not 0 <= active <= 1)
    on = product(sources, active, peak)
    if on >= 1:
        return inf
    if on == 0 or product(sources, peak) <= 1:
        return _ZERO
    raise InexactError


def burst_quantile(sources: Exact, active: Exact, peak: Exact, level: Exact) -> Exact:
    """Return a quantile of the same."""
    _refuse(not 0 <= level < 1, _LEVELS)
    return burst_wait(sources, active, peak)


def uneven(arrivals: Exact, service: Exact, load: Exact) -> Exact:
    """Return how long what has to wait does so: a fraction for random arrivals."""
    _refuse(arrivals < 0 or service < 0 or load < 0)
    half = product(total(arrivals, service), _HALF)
    if arrivals >= 1 or load >= 1 or half == inf:
        return half
    if half == 0 or load == 0:
        return _ZERO
    raise InexactError


def sojourn_quantile(share: Exact, rate: Exact, level: Exact) -> Exact:
    """Return a quantile of wait and exponential service, a fraction for a level of 0."""
    _refuse(not 0 <= level < 1)
    if rate <= 0:
        return inf
    _refuse(not 0 <= share <= 1)
    return _only(level, _ZERO, _ZERO)


def stages_quantile(level: Exact, *stages: Exact) -> Exact:
    """Return the quantile of the time of stages: infinite where one is full, else no fraction."""
    found = _stages_in_floats(float(level), *map(float, stages))
    return exact_of_float(found)


def gamma_quantile(load: Exact, variation: Exact, level: Exact) -> Exact:
    """Return a bound of a quantile of wait and gamma service; no fraction below load 1."""
    _refuse(not 0 <= level < 1 or load < 0 or variation < 0 or variation == inf)
    if load >= 1:
        return inf
    return 1 + md1_quantile(load, level) if variation == 0 else _only(level, _ZERO, _ZERO)


def normal_tail(distance: Exact) -> Exact:
    """Return the share of a normal law above so many deviations, a fraction at 0."""
    if isinstance(distance, float):
        return _ZERO if distance > 0 else _ONE
    return _only(distance, _ZERO, _HALF)


def normal_quantile(level: Exact) -> Exact:
    """Return how many deviations above its mean a normal law has a share below; 0 of a half."""
    _refuse(not 0 < level < 1, "is the quantile of a share that is not between 0 and 100 %")
    return _only(level, _HALF, _ZERO)
