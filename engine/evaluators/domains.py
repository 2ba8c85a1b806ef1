"""Where operations have values: what of their operands must not be negative, as formulas.

Where one of these formulas is below zero, or zero where that is out, there is no value. They are
formulas so that they have bounds, slopes and roots as any other. What is not here needs what its
row says: servers, traffic, loads and flows that are not negative, shares from 0 to below 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from msgspec import Struct

from qps.engine.evaluators.on_floats import ONE_OVER_E
from qps.engine.queueing_networks.fork_join_operands import OWN
from qps.engine.queueing_networks.multiclass_load_dependent_operands import LIMIT

Formula = Any  # of those that are built of this table
_ONE_OVER_E = Fraction(ONE_OVER_E[0])
"""A little more than 1/e."""


class DomainCondition(Struct, frozen=True):
    """A formula that must not be negative; where `is_zero_out` not zero either, or that alone."""

    of: Formula
    is_zero_out: bool = False
    may_be_negative: bool = False


Domain = tuple[DomainCondition, ...]
"""All that is needed; None stands where that is not known."""


def share(level: Formula) -> Domain:
    """Return what a share must be of which there is a quantile: from 0 to below 1."""
    return DomainCondition(level), DomainCondition(1 - level, is_zero_out=True)


def raised(base: Formula, exponent: Formula) -> Domain | None:
    """Return where a power has a value."""
    value = exponent.exact
    if value is None:
        return None
    if value > 0 and value.denominator == 1:
        return ()
    return (DomainCondition(base, value < 0, value.denominator == 1),)


def root(value: Formula) -> Domain:
    """Return where a square root is real."""
    return (DomainCondition(value),)


def logarithm(value: Formula) -> Domain:
    """Return where a logarithm is real."""
    return (DomainCondition(value, is_zero_out=True),)


def arc_cosine(value: Formula) -> Domain:
    """Return of what there is an angle."""
    return DomainCondition(1 - value), DomainCondition(1 + value)


def lambert(value: Formula) -> Domain:
    """Return where the upper branch of Lambert's W is real."""
    return (DomainCondition(value + _ONE_OVER_E),)


def lower_lambert(value: Formula) -> Domain:
    """Return where the lower branch of Lambert's W is real."""
    return DomainCondition(value + _ONE_OVER_E), DomainCondition(-value, is_zero_out=True)


def effective(cores: Formula, efficiency: Formula) -> Domain:
    """Return of what cores there is work that they do together."""
    return DomainCondition(cores, is_zero_out=True), DomainCondition(efficiency)


def harmonic(count: Formula) -> Domain:
    """Return between which poles the harmonic numbers are continued."""
    return (DomainCondition(count + 1, is_zero_out=True),)


def waiting(_work: Formula, _load: Formula) -> Domain:
    """Return nothing: a wait has a value everywhere, though it may be infinite."""
    return ()


def periodic_wait(_flows: Formula, load: Formula) -> Domain:
    """Return for what there is a mean wait of flows: for one or less there is none."""
    return (DomainCondition(load),)


def erlang_c(servers: Formula, traffic: Formula) -> Domain:
    """Return for what there is a share of calls that wait."""
    return DomainCondition(servers, is_zero_out=True), DomainCondition(traffic)


def room_loss(servers: Formula, room: Formula, traffic: Formula) -> Domain:
    """Return for what there is a share that finds no room."""
    return (
        DomainCondition(servers, is_zero_out=True),
        DomainCondition(room),
        DomainCondition(traffic),
    )


room_wait = room_traffic = room_loss


def room_quantile(servers: Formula, room: Formula, traffic: Formula, level: Formula) -> Domain:
    """Return for what there is a quantile of the time in a room."""
    return *room_loss(servers, room, traffic), *share(level)


def slowest(*times: Formula) -> Domain:
    """Return for what times there is a mean of the largest."""
    return tuple(DomainCondition(one) for one in times)


def batch_quantile(load: Formula, level: Formula) -> Domain:
    """Return for what there is a quantile of the wait in a batch."""
    return DomainCondition(load), *share(level)


def burst_wait(sources: Formula, active: Formula, peak: Formula) -> Domain:
    """Return for what flows there is a wait."""
    return (
        DomainCondition(sources),
        DomainCondition(active),
        DomainCondition(1 - active),
        DomainCondition(peak),
    )


def burst_quantile(sources: Formula, active: Formula, peak: Formula, level: Formula) -> Domain:
    """Return for what flows there is a quantile of the wait."""
    return *burst_wait(sources, active, peak), *share(level)


def unlike_ratio(
    between: Formula, _third: Formula, varied: Formula, servers: Formula, load: Formula
) -> Domain:
    """Return of what services there is a wait, as a multiple."""
    none = DomainCondition(servers, is_zero_out=True)
    return DomainCondition(between), DomainCondition(varied), none, DomainCondition(load)


def unlike_share(between: Formula, _third: Formula, ratio: Formula, load: Formula) -> Domain:
    """Return of what services there is a share that waits long."""
    return DomainCondition(between), DomainCondition(ratio), DomainCondition(load)


def unlike_short(between: Formula, _third: Formula, load: Formula) -> Domain:
    """Return of what services there are two times."""
    return DomainCondition(between), DomainCondition(load)


unlike_long = unlike_short


def uneven(arrivals: Formula, service: Formula, load: Formula) -> Domain:
    """Return for what variations there is a wait."""
    return DomainCondition(arrivals), DomainCondition(service), DomainCondition(load)


def sojourn_quantile(_waiting: Formula, _rate: Formula, level: Formula) -> Domain:
    """Return for what there is a quantile of wait and exponential service."""
    return share(level)


def stages_quantile(level: Formula, *_stages: Formula) -> Domain:
    """Return for what there is a quantile of the time of stages."""
    return share(level)


def stages_tail(time: Formula, waits: Formula, *_others: Formula) -> Domain:  # noqa: ARG001 - any
    """Return for what there is a tail of the time of stages."""
    return (DomainCondition(waits),)


def fork_mean(waits: Formula, *_others: Formula) -> Domain:
    """Return for what there is a mean time of stages with forks."""
    return (DomainCondition(waits),)


def fork_quantile(level: Formula, *_stages: Formula) -> Domain:
    """Return for what there is a quantile of the time of stages with forks."""
    return share(level)


def fork_tail(time: Formula, waits: Formula, *_others: Formula) -> Domain:  # noqa: ARG001 - any
    """Return for what there is a tail of the time of stages with forks."""
    return (DomainCondition(waits),)


def order_level(level: Formula, answers: Formula, spare: Formula) -> Domain:
    """Return for how many answers there is a level of one."""
    return DomainCondition(answers - 1), DomainCondition(spare), *share(level)


def order_mean(answers: Formula, spare: Formula, *_stages: Formula) -> Domain:
    """Return for how many answers there is a mean time."""
    return DomainCondition(answers - 1), DomainCondition(spare)


def order_quantile(level: Formula, answers: Formula, spare: Formula, *_others: Formula) -> Domain:
    """Return for how many answers there is a quantile of their time."""
    return order_level(level, answers, spare)


def order_tail(time: Formula, answers: Formula, spare: Formula, *_others: Formula) -> Domain:  # noqa: ARG001 - any
    """Return for how many answers there is a tail of their time."""
    return DomainCondition(answers - 1), DomainCondition(spare)


def gamma_quantile(load: Formula, variation: Formula, level: Formula) -> Domain:
    """Return for what there is a quantile of wait and gamma service."""
    return DomainCondition(load), DomainCondition(variation), *share(level)


def normal_quantile(level: Formula) -> Domain:
    """Return which shares of a normal law have a quantile."""
    return DomainCondition(level, is_zero_out=True), DomainCondition(1 - level, is_zero_out=True)


def closed_rate(customers: Formula, think: Formula, *stations: Formula) -> Domain:
    """Return for what there is a rate of a closed network."""
    needed = [DomainCondition(customers), DomainCondition(think)]
    for place in range(0, len(stations), 4):
        demand, servers, load, copies = stations[place : place + 4]
        needed += [DomainCondition(demand), DomainCondition(servers - 1), DomainCondition(load)]
        needed.append(DomainCondition(copies, is_zero_out=True))
    return tuple(needed)


closed_cycle = closed_wait = mixed_wait = closed_rate


def mixed_room(limit: Formula, customers: Formula, think: Formula, *stations: Formula) -> Domain:
    """Return for what there is room beside a closed network."""
    return DomainCondition(limit), *closed_rate(customers, think, *stations)


def closed_quantile(
    level: Formula, customers: Formula, think: Formula, *stations: Formula
) -> Domain:
    """Return for what there is a quantile of a cycle."""
    needed = [*share(level), DomainCondition(customers), DomainCondition(think)]
    for place in range(0, len(stations), 6):
        demand, servers, load, copies, often, _ = stations[place : place + 6]
        needed += [
            DomainCondition(demand),
            DomainCondition(servers - 1),
            DomainCondition(load),
            DomainCondition(often),
        ]
        needed.append(DomainCondition(copies, is_zero_out=True))
    return tuple(needed)


def class_rate(classes: Formula, _of: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a rate of a closed network of several classes."""
    return class_open_wait(classes, *operands)


def class_open_wait(classes: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a wait beside several classes; nothing of an unknown number."""
    return _of_classes(classes, operands, extra=0)


def _of_classes(classes: Formula, operands: tuple[Formula, ...], *, extra: int) -> Domain | None:
    """Return for what there is a network whose stations have so many operands besides."""
    count = _count_of(classes, operands)
    if count is None:
        return None
    needed = [DomainCondition(number) for number in operands]
    for place in range(2 * count, len(operands) - 2, count + 3 + extra):
        needed.append(DomainCondition(operands[place] - 1))
        needed.append(DomainCondition(operands[place + 2], is_zero_out=True))
    return tuple(needed)


def _count_of(classes: Formula, operands: tuple[Formula, ...]) -> int | None:
    """Return the number of classes; None where that is not known, or is no number."""
    count = classes.exact
    if count is None or count < 1 or count.denominator != 1 or len(operands) < 2 * count:
        return None
    return int(count)


class_wait = class_rate


def class_quantile(
    classes: Formula, _of: Formula, level: Formula, *operands: Formula
) -> Domain | None:
    """Return for what there is a quantile of a cycle of a class."""
    needed = _of_classes(classes, operands, extra=2)
    return None if needed is None else (*share(level), *needed)


def nested_rate(customers: Formula, think: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a rate of a closed network with speeds and pools."""
    if any(kind.exact is None for kind in operands[::5]):
        return None
    needed = [DomainCondition(customers), DomainCondition(think)]
    for place in range(0, len(operands), 5):
        kind, demand, servers, load, copies = operands[place : place + 5]
        is_counted = kind.exact > 0
        needed += [
            DomainCondition(demand),
            DomainCondition(servers - 1 if is_counted else servers),
            DomainCondition(load),
        ]
        needed.append(DomainCondition(copies))
    return tuple(needed)


def nested_time(_which: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a time at a place of such a network."""
    return nested_rate(*operands)


nested_wait = nested_time


def forked_rate(customers: Formula, think: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a rate of a closed network with calls made together."""
    if any(kind.exact is None for kind in operands[::6]):
        return None
    needed = [DomainCondition(customers), DomainCondition(think)]
    for place in range(0, len(operands), 6):
        kind, demand, servers, load, copies, often = operands[place : place + 6]
        if kind.exact == 0:
            needed += [
                DomainCondition(servers - 1),
                DomainCondition(load),
                DomainCondition(copies, is_zero_out=True),
            ]
        if kind.exact in (0, OWN):
            needed.append(DomainCondition(often, is_zero_out=demand.exact != 0))
        else:
            needed.append(DomainCondition(often))
        if kind.exact <= 0:
            needed.append(DomainCondition(demand))
    return tuple(needed)


def forked_time(_which: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a time at a place of such a network."""
    return forked_rate(*operands)


forked_wait = forked_time


def shared_wait(classes: Formula, _which: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a wait beside classes that share pools."""
    count = _count_of(classes, operands)
    if count is None:
        return None
    size, first = 4 + 2 * count, 2 * count
    if any(kind.exact is None for kind in operands[first::size]):
        return None
    needed = [DomainCondition(one) for one in operands[:first]]
    for place in range(first, len(operands) - size + 1, size):
        kind, servers, *others = operands[place : place + size]
        least = servers - 1 if kind.exact > 0 else servers
        needed.append(DomainCondition(least, is_zero_out=kind.exact == LIMIT))
        needed += [DomainCondition(one) for one in others]
    return tuple(needed)


def shared_time(
    classes: Formula, _of: Formula, which: Formula, *operands: Formula
) -> Domain | None:
    """Return for what there is a time at a place of such a network."""
    return shared_wait(classes, which, *operands)


def shared_rate(classes: Formula, of: Formula, *operands: Formula) -> Domain | None:
    """Return for what there is a rate of such a network."""
    return shared_wait(classes, of, *operands)
