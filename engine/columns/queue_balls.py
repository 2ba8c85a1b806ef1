"""Numbers of queues as balls: proven, to as many binary digits as flint works with.

Each by the name that it has in `queue_numbers`, which tells what it is. Times are counted in
service times. What no sum of a few thousand terms gives is as `queue_numbers` has it, with the
error that it can have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from math import inf, isfinite, isnan

from flint import arb, ctx

from qps.engine.columns.burst_balls import Mixture, mixtures
from qps.engine.columns.on_intervals import monotone
from qps.engine.columns.stage_balls import root_of
from qps.engine.exactness import NoValueError
from qps.engine.intervals import Interval, above, below
from qps.engine.queues import queue_numbers
from qps.engine.queues.decay_numbers import log_growth
from qps.engine.queues.gamma_numbers import inverse_erlang_ball, lower_ball
from qps.engine.queues.room_quantiles import room_quantile as _room_quantile
from qps.engine.queues.slowest_numbers import slowest as _slowest

INFINITE = arb.pos_inf()
UNKNOWN = arb.nan()
"""Of what the digits tell nothing."""

_MOST_TIME = 400
"""Service times up to which the wait of M/D/1 is summed up."""
_MOST_FLOWS = 1000
"""Flows up to which the wait of N D/D/1 is summed up."""
_MOST_STEPS = 40
_LEAST_VARIATION = arb(10) ** -6


def is_infinite(value: arb) -> bool:
    """Return whether a ball is an infinity, which has no size."""
    return value in (INFINITE, -INFINITE)


def refuse(is_outside: bool) -> None:  # noqa: FBT001 - says what it is asked
    """Raise NoValueError where something is surely outside of what has a value."""
    if is_outside:
        raise NoValueError


def joined(*parts: arb) -> arb:
    """Return a ball that covers others."""
    return reduce(arb.union, parts)


def is_unknown(*operands: arb) -> bool:
    """Return whether one of some balls tells nothing."""
    return any(operand.is_nan() for operand in operands)


# -- as the numbers in floats have it -------------------------------------------------------


def by_floats(
    number: Callable[..., float], grows: tuple[int, ...], *operands: arb, error: float = 0.0
) -> arb:
    """Return the bounds of what rises or falls with its operands, from its numbers in floats."""
    found = monotone(number, grows, (0.0, inf), error)(*map(_interval, operands)).sound()
    if not (isfinite(found.low) and isfinite(found.high)):
        return UNKNOWN
    return joined(arb(found.low), arb(found.high))


def _interval(value: arb) -> Interval:
    near = float(value.mid())
    if value.is_exact() and arb(near) == value:
        return Interval(near, near)
    return Interval(below(float(value.lower())), above(float(value.upper())))


# -- Erlang ------------------------------------------------------------------------------


def erlang_b(servers: arb, traffic: arb) -> arb:
    """Return the share of calls that find all servers busy and are lost."""
    refuse(bool(servers < 0) or bool(traffic < 0))
    if traffic.is_zero() and (servers > 0 or servers.is_zero()):
        return arb(0) if servers > 0 else arb(1)
    if is_infinite(servers) or is_infinite(traffic):
        refuse(is_infinite(servers) and is_infinite(traffic))
        return UNKNOWN if is_unknown(servers, traffic) else arb(int(is_infinite(traffic)))
    return 1 / _inverse(servers, traffic)


def _inverse(servers: arb, traffic: arb) -> arb:
    """Return 1/B(c, a); unknown where there may be no traffic.

    Of servers that are not known to the last digit flint takes minutes: it grows with them, and
    falls with the traffic, so that it lies between the ends.
    """
    if not (traffic > 0 and servers >= 0):
        return UNKNOWN
    with ctx.extraprec(64):
        if servers.is_exact():
            return inverse_erlang_ball(servers, traffic)
        ends = (servers.lower(), traffic.upper()), (servers.upper(), traffic.lower())
        return joined(*(inverse_erlang_ball(*end) for end in ends))


def erlang_c(servers: arb, traffic: arb) -> arb:
    """Return the share of calls that wait; all of them from as much traffic as servers on."""
    refuse(bool(servers <= 0) or bool(traffic < 0))
    if is_unknown(servers, traffic) or not servers > 0:
        return UNKNOWN
    if is_infinite(traffic) or traffic >= servers:
        return arb(1)
    if traffic.is_zero() or is_infinite(servers):
        return arb(0)
    load = traffic / servers
    found = 1 / (_inverse(servers, traffic) * (1 - load) + load)
    return found if traffic < servers else joined(found, arb(1))


def periodic_wait(flows: arb, load: arb) -> arb:
    """Return the mean wait of N D/D/1 in service times: what an arrival finds of N - 1 flows."""
    refuse(bool(load < 0))
    if is_unknown(flows, load) or not (load >= 0 and (load < 1 or load >= 1)):
        return UNKNOWN
    if load >= 1:
        return INFINITE
    if flows <= 1 or load.is_zero():
        return arb(0)
    refuse(flows == INFINITE)
    wait = (_inverse(flows - 1, flows / load) - 1) / 2
    return wait if flows > 1 else joined(wait, arb(0))


# -- roots -------------------------------------------------------------------------------

_Falling = Callable[[arb], tuple[arb, arb]]
"""A function that falls, with its slope."""


def _root(function: _Falling, start: float) -> arb:
    """Return a ball in which a falling function vanishes, near a start; unknown where not proved.

    Newton's steps find the place, and the signs on both sides of it prove it.
    """
    with ctx.extraprec(32):
        point = arb(start)
        nothing = arb(2) ** -(ctx.prec - 8)
        for _ in range(_MOST_STEPS):
            value, slope = function(point)
            step = (value / slope).mid()
            if not step.is_finite():
                return UNKNOWN
            point = (point - step).mid()
            if abs(step) <= abs(point) * nothing or value.contains(0):
                break
        value, slope = function(point)
        if not (value.is_finite() and slope.is_finite()):
            return UNKNOWN
        reach = 4 * abs(value / slope).upper() + point * nothing
        for _ in range(4):
            if function(point - reach)[0] > 0 and function(point + reach)[0] < 0:
                return joined(point - reach, point + reach)
            reach *= 1 << 10
    return UNKNOWN


# -- M/D/1 -------------------------------------------------------------------------------


def md1_tail(load: arb, time: arb) -> arb:
    """Return P(W > t) of M/D/1."""
    refuse(bool(load < 0))
    if is_unknown(load, time) or not load >= 0:
        return UNKNOWN
    if load >= 1 or time < 0:
        return arb(1)
    if not (load < 1 and time >= 0):
        return UNKNOWN
    if load.is_zero() or is_infinite(time):
        return arb(0)
    if not time < _MOST_TIME:
        return by_floats(queue_numbers.md1_tail, (1, -1), load, time, error=1e-30)
    return 1 - _waits_no_longer(load, time)


def _waits_no_longer(load: arb, time: arb) -> arb:
    """Return P(W <= t) of M/D/1."""
    if not time >= 0:
        return arb(0) if time < 0 else UNKNOWN
    if load.is_exact() and time.is_exact():
        return _alternating(load, time)
    # It falls with the load and rises with the time. A sum of balls would be far wider.
    return joined(
        _alternating(load.upper(), time.lower()), _alternating(load.lower(), time.upper())
    )


def _alternating(load: arb, time: arb) -> arb:
    """Return P(W <= t) by Erlang's alternating sum (1909), with the digits that it loses."""
    most = _floors(time)[1]
    with ctx.extraprec(64 + 6 * most):
        found = arb(0)
        for k in range(most + 1):
            ahead = load * (k - time)
            found += ahead**k / arb(k).fac() * (-ahead).exp()
        return found * (1 - load)


def _floors(value: arb) -> tuple[int, int]:
    """Return what a value rounded down is between."""
    ends = [end.floor().unique_fmpz() for end in (value.lower(), value.upper())]
    assert ends[0] is not None
    assert ends[1] is not None
    return int(ends[0]), int(ends[1])


def _md1_excess(load: arb, late: arb) -> _Falling:
    def excess(time: arb) -> tuple[arb, arb]:
        within = _waits_no_longer(load, time)
        density = load * (within - _waits_no_longer(load, time - 1))
        share = 1 - within
        return (share / late).log(), -density / share

    return excess


def md1_quantile(load: arb, level: arb) -> arb:
    """Return the t with P(W <= t) = level for M/D/1; 0 where so many do not wait at all."""
    known = _of_quantile(load, level)
    if known is not None:
        return known
    if level <= 1 - load:
        return arb(0)
    if not level > 1 - load:
        return UNKNOWN
    start = queue_numbers.md1_quantile(float(load.mid()), float(level.mid()))
    if start >= _MOST_TIME:
        return by_floats(queue_numbers.md1_quantile, (1, 1), load, level)
    return _root(_md1_excess(load, 1 - level), start)


def _of_quantile(load: arb, level: arb) -> arb | None:
    """Return what a quantile is where that does not rest on its law, None where it does."""
    refuse(bool(load < 0) or bool(level < 0) or bool(level >= 1))
    if not (load >= 0 and (load < 1 or load >= 1) and level >= 0 and level < 1):
        return UNKNOWN
    return INFINITE if load >= 1 else None


def batch_quantile(load: arb, level: arb) -> arb:
    """Return a bound of the wait, in batches, that a share of M[X]/D/1 does not exceed."""
    known = _of_quantile(load, level)
    if known is not None:
        return known
    if load.is_zero():
        return level
    if not load > 0:
        return UNKNOWN
    near = (load * level / (1 - load)).log1p() / load
    if near <= 1:
        return near
    if not near > 1:
        return UNKNOWN
    start = queue_numbers.batch_quantile(float(load.mid()), float(level.mid()))
    if start >= _MOST_TIME:
        return by_floats(queue_numbers.batch_quantile, (1, 1), load, level)
    return _root(_md1_excess(load, load * (1 - level)), start)


# -- N D/D/1 -----------------------------------------------------------------------------


def periodic_tail(flows: arb, load: arb, time: arb) -> arb:
    """Return P(W > t) of N D/D/1, flows counted whole as of the next number; 1 from load 1 on."""
    refuse(bool(load < 0) or bool(flows < 0) or flows == INFINITE)
    if is_unknown(flows, load, time) or not (load >= 0 and flows >= 0):
        return UNKNOWN
    if load >= 1 or time < 0:
        return arb(1)
    whole = flows.ceil().unique_fmpz()
    if whole is None or not (load < 1 and time >= 0):
        return UNKNOWN
    if whole <= 1 or load.is_zero() or time >= whole - 1:
        return arb(0)
    if whole > _MOST_FLOWS or not time < whole - 1:
        return by_floats(queue_numbers.periodic_tail, (1, 1, -1), flows, load, time)
    return _unfinished(int(whole) - 1, whole / load, time)[0]


def _unfinished(flows: int, period: arb, work: arb) -> tuple[arb, arb]:
    """Return P(V > x), and its slope, as `queue_numbers` has it; all terms are positive."""
    least, most = _floors(work)
    head = period - flows + work
    total, slope = arb(0), arb(0)
    totals = []
    ways = arb(1)  # of choosing m flows, from all of them down
    for m in range(flows, least, -1):
        share, left = (m - work) / period, head + flows - m
        term = ways * share**m * (1 - share) ** (flows - m) * head / left
        total += term
        slope += term * (1 / head - (head + 1) / left - work / (m - work))
        ways = ways * m / (flows - m + 1)
        # At a whole time the term that leaves is nothing: either sum holds there.
        if m - 1 <= most:
            totals.append(total)
    return joined(*totals), slope


def periodic_quantile(flows: arb, load: arb, level: arb) -> arb:
    """Return the wait of N D/D/1 that a share of the visits does not exceed."""
    refuse(bool(flows < 0) or flows == INFINITE)
    known = _of_quantile(load, level)
    if known is not None or not flows >= 0:
        return UNKNOWN if known is None else known
    whole, late = flows.ceil().unique_fmpz(), 1 - level
    if whole is None:
        return UNKNOWN
    if whole <= 1 or load * (whole - 1) <= late * whole:
        return arb(0)
    if not load * (whole - 1) > late * whole:
        return UNKNOWN
    if whole > _MOST_FLOWS:
        return by_floats(queue_numbers.periodic_quantile, (1, 1, 1), flows, load, level)

    def excess(time: arb) -> tuple[arb, arb]:
        if not (time >= 0 and time < whole - 1):
            return UNKNOWN, UNKNOWN
        share, slope = _unfinished(int(whole) - 1, whole / load, time)
        return (share / late).log(), slope / share

    start = queue_numbers.periodic_quantile(int(whole), float(load.mid()), float(level.mid()))
    return _root(excess, start)


# -- what is done together ---------------------------------------------------------------


def slowest(*operands: arb) -> arb:
    """Return the mean of the largest of independent times."""
    variations = operands[2::3]
    refuse(any(bool(one < 0) for one in operands) or any(map(is_infinite, variations)))
    if is_unknown(*operands) or not all(bool(one >= 0) for one in operands):
        return UNKNOWN
    if any(map(is_infinite, operands)):
        return INFINITE
    return by_floats(_slowest, (1,) * len(operands), *operands)


# -- finite rooms ------------------------------------------------------------------------


def room_quantile(servers: arb, room: arb, traffic: arb, level: arb) -> arb:
    """Return the time that a share of those who get in takes at most."""
    operands = (servers, room, traffic, level)
    refuse(bool(servers <= 0) or any(bool(one < 0) for one in operands) or bool(level >= 1))
    if is_unknown(*operands) or any(map(is_infinite, operands)):
        return UNKNOWN
    if not (servers > 0 and room >= 0 and traffic >= 0 and level >= 0 and level < 1):
        return UNKNOWN
    return by_floats(_room_quantile, (-1, 1, 1, 1), *operands)


# -- bursts and uneven arrivals ----------------------------------------------------------


def burst_wait(sources: arb, active: arb, peak: arb) -> arb:
    """Return the mean wait of flows that are on and off."""
    known = _of_bursts(sources, active, peak)
    if known is not None:
        return known

    def mean(*at: arb) -> arb:
        found = mixtures(*at)
        return UNKNOWN if found is None else reduce(arb.max, (one.mean for one in found))

    proven = _at_ends(mean, sources, active, peak)
    if proven.is_finite():
        return proven
    return by_floats(queue_numbers.burst_wait, (1, 1, 1), sources, active, peak)


def burst_quantile(sources: arb, active: arb, peak: arb, level: arb) -> arb:
    """Return the quantile of the wait of flows that are on and off."""
    refuse(bool(level < 0) or bool(level >= 1))
    known = _of_bursts(sources, active, peak)
    if known is not None or not (level >= 0 and level < 1):
        return UNKNOWN if known is None else known
    numbers = queue_numbers.burst_quantile

    def quantile(*at: arb) -> arb:
        found = mixtures(*at[:3])
        if found is None:
            return UNKNOWN
        late = 1 - at[3]
        start = numbers(*(float(one.mid()) for one in at))
        return reduce(arb.max, (_later_than(one, late, start) for one in found))

    proven = _at_ends(quantile, sources, active, peak, level)
    if proven.is_finite():
        return proven
    return by_floats(numbers, (1, 1, 1, 1), sources, active, peak, level)


def _at_ends(function: Callable[..., arb], *operands: arb) -> arb:
    """Return the values of what rises with each of its operands."""
    low, high = ([getattr(one, end)() for one in operands] for end in ("lower", "upper"))
    return function(*low) if low == high else joined(function(*low), function(*high))


def _later_than(found: Mixture, late: arb, start: float) -> arb:
    """Return the time beyond which so few wait."""
    if found.later(arb(0))[0] <= late:
        return arb(0)

    def excess(time: arb) -> tuple[arb, arb]:
        share, slope = found.later(time)
        return (share / late).log(), slope / share

    return _root(excess, start)


def _of_bursts(sources: arb, active: arb, peak: arb) -> arb | None:
    """Return the wait where that does not rest on the law of bursts, None where it does."""
    refuse(any(bool(one < 0) for one in (sources, active, peak)) or bool(active > 1))
    if is_unknown(sources, active, peak):
        return UNKNOWN
    if sources.is_zero() or active.is_zero() or peak.is_zero():
        refuse(is_infinite(sources) or is_infinite(peak))
        return arb(0)
    if sources * active * peak >= 1:
        return INFINITE
    is_below = sources * active * peak < 1
    if is_below and sources * peak <= 1:
        return arb(0)
    return None if is_below and sources > 0 and active > 0 and peak > 0 and active <= 1 else UNKNOWN


def uneven(arrivals: arb, service: arb, load: arb) -> arb:
    """Return how long what has to wait does so, where that is 1/(1 - load) of this."""
    operands = (arrivals, service, load)
    refuse(any(bool(one < 0) for one in operands))
    if is_unknown(*operands) or not all(one >= 0 for one in operands):
        return UNKNOWN
    if all(one.is_exact() or is_infinite(one) for one in operands):
        return _uneven(*operands)
    return _at_ends(_uneven, *operands)


def _uneven(arrivals: arb, service: arb, load: arb) -> arb:
    half = (arrivals + service) / 2
    if arrivals >= 1 or load >= 1 or is_infinite(half):
        return half
    if half.is_zero() or load.is_zero():
        return arb(0)
    return half * ((load - 1) * (1 - arrivals) ** 2 / (3 * load * half)).exp()


# -- exponential and gamma service -------------------------------------------------------


def sojourn_quantile(waiting: arb, rate: arb, level: arb) -> arb:
    """Return the quantile of wait plus service: service is exponential with mean 1."""
    refuse(bool(level < 0) or bool(level >= 1))
    if is_unknown(waiting, rate, level) or not (rate > 0 or rate <= 0):
        return UNKNOWN
    if rate <= 0:
        return INFINITE
    refuse(bool(waiting < 0) or bool(waiting > 1))
    if level.is_zero():
        return arb(0)
    if not (level > 0 and level < 1):
        return UNKNOWN
    if is_infinite(rate):
        return -(-level).log1p()

    def excess(time: arb) -> tuple[arb, arb]:
        served, late = (-time).exp(), waiting * _waited(time, rate)
        density = (1 - waiting) * served + rate * late
        return ((served + late) / (1 - level)).log(), -density / (served + late)

    numbers = (float(one.mid()) for one in (waiting, rate, level))
    return _root(excess, queue_numbers.sojourn_quantile(*numbers))


def stages_quantile(level: arb, *stages: arb) -> arb:
    """Return the quantile of the time that independent stages take, as floats have it."""
    refuse(bool(level < 0) or bool(level >= 1))
    if is_unknown(level, *stages) or not all(one.is_finite() for one in (level, *stages)):
        return UNKNOWN
    fixed, excess, near = root_of(level, stages)
    if near == inf:
        return INFINITE
    refuse(isnan(near))
    return fixed if excess is None else fixed + _root(excess, near)


def _waited(time: arb, rate: arb) -> arb:
    """Return exp(-t) (1 - exp(-(r - 1) t))/(r - 1)."""
    apart = (rate - 1) * time
    if not apart.contains(0):
        return (-time).exp() * (-(-apart).expm1()) / (rate - 1)
    # (1 - e^-x)/x falls, and is 1 at 0.
    ends = (-(-end).expm1() / end for end in (apart.lower(), apart.upper()) if not end.is_zero())
    return (-time).exp() * time * joined(arb(1), *ends)


def gamma_quantile(load: arb, variation: arb, level: arb) -> arb:
    """Return an upper bound of the quantile of wait plus service in M/G/1, service times gamma."""
    refuse(bool(variation < 0) or variation == INFINITE)
    known = _of_quantile(load, level)
    if known is not None or not variation >= 0:
        return UNKNOWN if known is None else known
    if variation.is_zero():
        return 1 + md1_quantile(load, level)
    if level.is_zero():
        return arb(0)
    if not (variation > 0 and level > 0 and (load > 0 or load.is_zero())):
        return UNKNOWN
    numbers = [float(one.mid()) for one in (load, variation, level)]
    start = queue_numbers.gamma_quantile(*numbers)
    if load.is_zero():
        return _root(_gamma_law_excess(variation, level), start)
    variation = variation.max(_LEAST_VARIATION)
    growth = _log_growth(load, variation)
    decay, tilt = -(-variation * growth).expm1() / variation, (-variation * growth).exp()
    shape = 1 / variation

    def excess(time: arb) -> tuple[arb, arb]:
        late = (growth - decay * time).exp() * lower_ball(shape, shape * time * tilt)
        share = (shape * time).gamma_upper(shape, 1) + late
        return (share / (1 - level)).log(), -decay * late / share

    return _root(excess, start)


def _gamma_law_excess(variation: arb, level: arb) -> _Falling:
    shape = 1 / variation

    def excess(time: arb) -> tuple[arb, arb]:
        share = (shape * time).gamma_upper(shape, 1)
        density = (shape * (shape * time).log() - shape * time - shape.lgamma()).exp() / time
        return (share / (1 - level)).log(), -density / share

    return excess


def _log_growth(load: arb, variation: arb) -> arb:
    """Return y = log M(z) at the root z > 0 of load (M(z) - 1) = z (`decay_numbers`)."""

    def over(y: arb) -> arb:
        return (y.expm1() / y).log()

    def slope(y: arb) -> arb:
        return -1 / (-y).expm1() - 1 / y

    def excess(y: arb) -> tuple[arb, arb]:
        scaled = variation * y
        value = -load.log() - over(y) - scaled + over(scaled)
        return value, -slope(y) - variation * (1 - slope(scaled))

    return _root(excess, log_growth(float(load.mid()), float(variation.mid())))


# -- the normal law ----------------------------------------------------------------------


def normal_tail(distance: arb) -> arb:
    """Return the share of a normal law that lies more than so many deviations above its mean."""
    if is_infinite(distance):
        return arb(0) if distance > 0 else arb(1)
    return (distance / arb(2).sqrt()).erfc() / 2


def normal_quantile(level: arb) -> arb:
    """Return how many deviations above its mean a normal law has a share below it."""
    refuse(bool(level <= 0) or bool(level >= 1))
    return arb(2).sqrt() * (2 * (1 - level)).erfcinv()
