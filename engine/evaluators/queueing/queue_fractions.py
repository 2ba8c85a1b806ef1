"""Exact values of what single queues come to: fractions for few servers, and at few points."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isnan

from qps.engine.distributions.order_numbers import order_mean as _mean_in_floats
from qps.engine.distributions.sum_numbers import stages_quantile as _stages_in_floats
from qps.engine.distributions.sum_tails import stages_tail as _tail_in_floats
from qps.engine.evaluators.arithmetic_fractions import (
    HALF,
    ONE,
    ZERO,
    ceiling,
    finite,
    only_at,
    product,
    ratio,
    refuse,
    total,
)
from qps.engine.exact_algebra.exact_values import Exact, InexactError, as_float, exact_of_float
from qps.engine.forks import fork_numbers
from qps.engine.queueing.queue_numbers import exact_inverse_erlang_b

_MOST_SERVERS = 64
_MOST_TRAFFIC_BITS = 1024
_LEVELS = "has no value: the share must be at least 0 and below 100 %"


def erlang_b(servers: Exact, traffic: Exact) -> Exact:
    """Return the share of calls that are lost, of up to 64 servers."""
    refuse(servers < 0 or traffic < 0)
    if traffic == 0:
        return ZERO if servers > 0 else ONE
    return 1 / _inverse_b(servers, traffic)


def erlang_c(servers: Exact, traffic: Exact) -> Exact:
    """Return the share of calls that wait, of up to 64 servers."""
    refuse(servers <= 0, "has no value: there are no servers")
    refuse(traffic < 0)
    if traffic >= servers:
        return ONE
    if traffic == 0:
        return ZERO
    inverse, share = _inverse_b(servers, traffic), finite(ratio(traffic, servers))
    return 1 / (inverse - share * (inverse - 1))


def room_loss(servers: Exact, room: Exact, traffic: Exact) -> Exact:
    """Return the share that finds no room, where that is not too long."""
    c = _of_room(servers, room, traffic)
    if traffic == inf:
        refuse(room == inf and servers == inf)
        return ONE
    if room == inf:
        return ZERO if traffic <= c else 1 - finite(c) / finite(traffic)
    if room == 0 or traffic == 0:
        return ZERO if room else ONE
    q, m = finite(c) / finite(traffic), _places(c, room, traffic)
    return 1 / (sum((q**j for j in range(m)), ZERO) + q**m * _inverse_b(c, traffic))


def room_wait(servers: Exact, room: Exact, traffic: Exact) -> Exact:
    """Return the mean wait of those who get in, of as many."""
    c = _of_room(servers, room, traffic)
    if servers >= room or traffic == 0:
        return ZERO
    if traffic == inf:
        return inf if room == inf else (finite(room) - finite(c)) / finite(c)
    if room == inf:
        found = inf if traffic >= c else finite(c) - finite(traffic)
        return inf if found == inf else erlang_c(c, traffic) / found
    q, m = finite(c) / finite(traffic), _places(c, room, traffic)
    waiting = sum(((m - j) * q**j for j in range(m)), ZERO) / finite(traffic)
    others = sum((q**j for j in range(1, m)), ZERO)
    return waiting / (others + q**m * _inverse_b(c, traffic))


def room_traffic(servers: Exact, room: Exact, wait: Exact) -> Exact:
    """Return the traffic at which those who get in wait so long: where it is none, or endless."""
    c = _of_room(servers, room, wait)
    if inf in (servers, room):
        raise InexactError
    if wait == 0 or room <= c:
        return ZERO
    if wait == inf or finite(wait) * finite(c) >= finite(room) - finite(c):
        return inf
    raise InexactError


def slowest(*operands: Exact) -> Exact:
    """Return the mean of the largest of times: a fraction where they are always the same."""
    variations, means = operands[2::3], operands[1::3]
    refuse(any(one < 0 for one in operands) or inf in variations)
    if inf in operands:
        return inf
    if any(mean and variation for mean, variation in zip(means, variations, strict=True)):
        raise InexactError
    return max(total(fixed, mean) for fixed, mean in zip(operands[::3], means, strict=True))


def room_quantile(servers: Exact, room: Exact, traffic: Exact, level: Exact) -> Exact:
    """Return a quantile of the time of those who get in: none is a fraction but none at all."""
    _of_room(servers, room, traffic)
    refuse(not 0 <= level < 1, _LEVELS)
    if inf in (servers, room, traffic):
        raise InexactError
    return only_at(level, ZERO, ZERO)


def _of_room(servers: Exact, room: Exact, traffic: Exact) -> Exact:
    """Return how many can be served at once."""
    refuse(servers <= 0, "has no value: there are no servers")
    refuse(room < 0 or traffic < 0)
    return min(servers, room)


def _places(servers: Exact, room: Exact, traffic: Exact) -> int:
    """Return how many places there are to wait, where such powers are not too long."""
    places = finite(room) - finite(servers)
    if places.denominator != 1 or _bits(finite(traffic)) * (places + 1) > _MOST_TRAFFIC_BITS:
        raise InexactError
    return int(places)


def periodic_wait(flows: Exact, load: Exact) -> Exact:
    """Return the mean wait of N D/D/1 in service times, of up to 65 flows."""
    refuse(load < 0)
    if load >= 1:
        return inf
    if flows <= 1 or load == 0:
        return ZERO
    flows = finite(flows)
    return (_inverse_b(flows - 1, flows / finite(load)) - 1) / 2


def _inverse_b(servers: Exact, traffic: Exact) -> Fraction:
    servers, traffic = finite(servers), finite(traffic)
    if servers.denominator != 1 or servers > _MOST_SERVERS or _bits(traffic) > _MOST_TRAFFIC_BITS:
        raise InexactError
    return exact_inverse_erlang_b(int(servers), traffic)


def md1_tail(load: Exact, time: Exact) -> Exact:
    """Return P(W > t) of M/D/1, a fraction where nobody, everybody or any wait counts."""
    refuse(load < 0)
    if load >= 1 or time < 0:
        return ONE
    return load if time == 0 else only_at(load, ZERO, ZERO)


def md1_quantile(load: Exact, level: Exact) -> Exact:
    """Return a quantile of the wait of M/D/1, a fraction where so many do not wait."""
    refuse(load < 0)
    refuse(not 0 <= level < 1, _LEVELS)
    if load >= 1:
        return inf
    if level <= 1 - load:
        return ZERO
    raise InexactError


def batch_quantile(load: Exact, level: Exact) -> Exact:
    """Return a quantile of the wait in a batch, a fraction where no batch waits."""
    refuse(load < 0)
    refuse(not 0 <= level < 1, _LEVELS)
    if load >= 1:
        return inf
    return level if load == 0 else only_at(level, ZERO, ZERO)


def periodic_tail(flows: Exact, load: Exact, time: Exact) -> Exact:
    """Return P(W > t) of N D/D/1: a fraction where everybody waits so long, or nobody."""
    refuse(load < 0 or not 0 <= flows < inf)
    if load >= 1 or time < 0:
        return ONE
    if load == 0 or time >= max(ceiling(flows) - 1, 0):
        return ZERO
    raise InexactError


def periodic_quantile(flows: Exact, load: Exact, level: Exact) -> Exact:
    """Return a quantile of the wait of N D/D/1: a fraction where so many do not wait."""
    refuse(load < 0 or not 0 <= flows < inf)
    refuse(not 0 <= level < 1, _LEVELS)
    if load >= 1:
        return inf
    whole = max(ceiling(flows), ONE)
    if load * (whole - 1) <= (1 - level) * whole:
        return ZERO
    raise InexactError


def burst_wait(sources: Exact, active: Exact, peak: Exact) -> Exact:
    """Return the mean wait of flows that are on and off: a fraction where nobody waits."""
    refuse(sources < 0 or peak < 0 or not 0 <= active <= 1)
    on = product(sources, active, peak)
    if on >= 1:
        return inf
    if on == 0 or product(sources, peak) <= 1:
        return ZERO
    raise InexactError


def burst_quantile(sources: Exact, active: Exact, peak: Exact, level: Exact) -> Exact:
    """Return a quantile of the same."""
    refuse(not 0 <= level < 1, _LEVELS)
    return burst_wait(sources, active, peak)


def uneven(arrivals: Exact, service: Exact, load: Exact) -> Exact:
    """Return how long what has to wait does so: a fraction for random arrivals."""
    refuse(arrivals < 0 or service < 0 or load < 0)
    half = product(total(arrivals, service), HALF)
    if arrivals >= 1 or load >= 1 or half == inf:
        return half
    if half == 0 or load == 0:
        return ZERO
    raise InexactError


def sojourn_quantile(share: Exact, rate: Exact, level: Exact) -> Exact:
    """Return a quantile of wait and exponential service, a fraction for a level of 0."""
    refuse(not 0 <= level < 1)
    if rate <= 0:
        return inf
    refuse(not 0 <= share <= 1)
    return only_at(level, ZERO, ZERO)


def stages_quantile(level: Exact, *stages: Exact) -> Exact:
    """Return the quantile of the time of stages: infinite where one is full, else no fraction."""
    found = _stages_in_floats(as_float(level), *map(as_float, stages))
    return exact_of_float(found)


def stages_tail(time: Exact, *stages: Exact) -> Exact:
    """Return the tail of the time of stages: a fraction where all take longer, or none."""
    return _certain(_tail_in_floats(as_float(time), *map(as_float, stages)), time)


def _certain(found: float, time: Exact) -> Exact:
    refuse(isnan(found))
    if found in (0.0, 1.0) and (time < 0 or time == inf):
        return ONE if found else ZERO
    raise InexactError


def order_level(level: Exact, answers: Exact, spare: Exact) -> Exact:
    """Return the level of one call where so many answers are at a level: of one it is the same."""
    refuse(not 0 <= level < 1 or answers < 1 or spare < 0 or inf in (answers, spare))
    if level and (answers != 1 or spare):
        raise InexactError
    return level


def order_mean(answers: Exact, spare: Exact, *stages: Exact) -> Exact:
    """Return the mean time until so many answers are there: infinite, else no fraction."""
    return exact_of_float(_mean_in_floats(*map(as_float, (answers, spare, *stages))))


def order_quantile(level: Exact, answers: Exact, spare: Exact, *others: Exact) -> Exact:
    """Return a quantile of the time until so many answers are there: as of a sum of stages."""
    return exact_of_float(
        fork_numbers.order_quantile(*map(as_float, (level, answers, spare, *others)))
    )


def order_tail(time: Exact, answers: Exact, spare: Exact, *others: Exact) -> Exact:
    """Return the tail of the time until so many answers are there: as of a sum of stages."""
    refuse(answers < 1 or spare < 0 or inf in (answers, spare))
    found = fork_numbers.order_tail(*map(as_float, (time, answers, spare, *others)))
    return _certain(found, time)


def fork_mean(*stages: Exact) -> Exact:
    """Return the mean time of stages with forks: infinite, else no fraction."""
    return exact_of_float(fork_numbers.fork_mean(*map(as_float, stages)))


def fork_quantile(level: Exact, *stages: Exact) -> Exact:
    """Return a quantile of the time of stages with forks: as of a sum of stages."""
    return exact_of_float(fork_numbers.fork_quantile(*map(as_float, (level, *stages))))


def fork_tail(time: Exact, *stages: Exact) -> Exact:
    """Return the tail of the time of stages with forks: as of a sum of stages."""
    return _certain(fork_numbers.fork_tail(*map(as_float, (time, *stages))), time)


def gamma_quantile(load: Exact, variation: Exact, level: Exact) -> Exact:
    """Return a bound of a quantile of wait and gamma service; no fraction below load 1."""
    refuse(not 0 <= level < 1 or load < 0 or variation < 0 or variation == inf)
    if load >= 1:
        return inf
    return 1 + md1_quantile(load, level) if variation == 0 else only_at(level, ZERO, ZERO)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())
