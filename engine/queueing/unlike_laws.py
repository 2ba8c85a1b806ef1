"""Waits for several servers where services are short or long by chance, in any kind of numbers.

The law and its sources stand in `compiler/lower/queues/unlike_services.py`. Times are multiples of
the mean service: the two lengths have a variance `between` them and a `third` central moment, and
around each length services vary `varied` times as much as exponential ones. It is written for
floats, arrays, balls and intervals alike: `by` has their functions, and they add and multiply
themselves.

How it moves with the load r, of the same services and of c servers, one or more (a = c r busy ones,
and d = c - a to spare):

- The share of those who wait that wait for long services rises. One over Erlang's share C(c, a) is
  E (1 + t(X/a))^d, of an exponential X of mean 1, where t(y) is the inverse of t - ln(1 + t) (the
  integral of Jagers and van Doorn 1991 in other variables). Of long services on what the short ones
  leave d is the same, and q a stands in place of a. By d the logarithm of that mean grows by the
  mean of ln(1 + t) weighed by (1 + t)^d, which is larger of less traffic, as likelihood ratios are
  ordered; in ln a it is convex, as x weighed by (1 + t(x/a))^d exp(-x) has a mean that falls with
  a. So the quotient of the two shares rises with a, where d falls by as much.
- So the wait rises as a multiple of that for exponential services, unless the waits for services of
  one length fall: see `ratio_rises`.
- z^2 - (s + l - r (q s + (1 - q) l)) z + (1 - r) s l is not above zero at z = s l over
  q s + (1 - q) l. So both roots fall with r. Over 1 - r they rise: one over them are the places
  where r times the transform of what is left of a service is 1, and that rises between its poles.
  A ratio that rises lies further from the lesser root, as a part of what lies between both, where
  both fall: so the share of the larger one rises, too.
"""

from __future__ import annotations

from typing import Any, Protocol

from msgspec import Struct

Operand = Any
"""A number, or many: of a kind that adds, subtracts, multiplies and divides."""

_LEAST, _NOTHING = 1e-12, 1e-9
_NEARLY = 1 - 1e-9
_LIGHT, _LESS_IF_FULL = 0.9, 0.6
"""Fitted to the chains that the errors of the law were measured on."""
_WIDTH = 1.44


class NumberFunctions(Protocol):
    """What a kind of numbers has besides arithmetic."""

    def maximum(self, one: Operand, other: Operand, /) -> Operand:
        """Return the larger."""

    def minimum(self, one: Operand, other: Operand, /) -> Operand:
        """Return the smaller."""

    def square(self, one: Operand, /) -> Operand:
        """Return x^2."""

    def root(self, one: Operand, /) -> Operand:
        """Return a square root."""

    def exponential(self, one: Operand, /) -> Operand:
        """Return e^x."""

    def logarithm(self, one: Operand, /) -> Operand:
        """Return ln x."""

    def erlang_c(self, servers: Operand, traffic: Operand, /) -> Operand:
        """Return the share that waits."""


class TwoLengths(Struct, frozen=True):
    """Two lengths of services; `share` is that of the load which is of long ones."""

    short: Operand
    long: Operand
    share: Operand
    between: Operand


def two_lengths(by: NumberFunctions, between: Operand, third: Operand) -> TwoLengths:
    """Return two lengths with a mean of 1, a variance and a third central moment."""
    between = by.maximum(between, _LEAST)
    half = third / between / 2
    reach = by.root(between + by.square(half))
    # Of the two lengths less the mean, reach + half and reach - half, no digits cancel.
    lesser = between / (reach + by.maximum(half, -half))
    above, below = lesser + by.maximum(half, 0.0) * 2, lesser + by.maximum(-half, 0.0) * 2
    long, short = above + 1, by.maximum(1 - below, _LEAST)
    share = by.minimum(below / (reach * 2) * long, 1.0)
    return TwoLengths(short, long, share, between)


def unlike_ratio(by: NumberFunctions, *operands: Operand) -> Operand:
    """Return how many times as long as for exponential services one waits.

    Of the moments of the lengths, of what varies around them, of servers, and of a load.
    """
    between, third, varied, servers, load = operands
    of, load = two_lengths(by, between, third), by.minimum(load, _NEARLY)
    busy = servers * load
    long, short = busy * of.share, busy * (1 - of.share)
    waits = by.maximum(by.erlang_c(servers, busy), _LEAST)
    alone = by.minimum(by.erlang_c(servers - short, long) / waits, 1.0)
    # Long ones of all who come, over their share of the load, are one over their length.
    power = (_LIGHT - waits * _LESS_IF_FULL) * (1 - 1 / servers)
    seldom = by.exponential(power * -by.logarithm(of.long))
    for_long = of.share * (alone + (1 - alone) * seldom)
    later = for_long * of.long * _of_one_length(by, varied, servers - short, long)
    sooner = (1 - for_long) * of.short * _of_one_length(by, varied, servers - long, short)
    near = by.square(of.short / of.long)
    alike = wait_ratio(by, of.between + varied * (of.between + 1), servers, load)
    return near * alike + (1 - near) * (later + sooner)


def _of_one_length(
    by: NumberFunctions, varied: Operand, servers: Operand, busy: Operand
) -> Operand:
    there = by.maximum(servers, 1.0)
    return wait_ratio(by, varied, there, busy / there)


def wait_ratio(by: NumberFunctions, spread: Operand, servers: Operand, load: Operand) -> Operand:
    """Return the same of services of one kind: see `compiler/lower/queues/service_variation.py`."""
    less, more = by.minimum(spread, 1.0), by.maximum(spread, 1.0)
    load = by.minimum(load, 1.0)
    most = (servers - 1) / (servers + 1)
    longer = (1 - load) * (servers - 1) * (by.root(servers * 5 + 4) - 2)
    longer = by.minimum(longer / (servers * 16 * by.maximum(load, _NOTHING)), most)
    even = (less + 1) / (less * 2 + (1 - less) * 2 / (longer + 1))
    power = by.exponential(-by.logarithm(servers) / by.root(more * 4 + _WIDTH))
    return even * by.exponential((load + (1 - load) * power) * by.logarithm((more + 1) / 2))


def unlike_short(by: NumberFunctions, *operands: Operand) -> Operand:
    """Return the short one of the two times that those wait who do.

    Of the moments of the lengths and a load: for one server, as multiples of the mean service,
    where services vary around their lengths as exponential ones.
    """
    of, (reach, _) = _reach(by, *operands)
    return of.short * of.long * 2 / reach


def unlike_long(by: NumberFunctions, *operands: Operand) -> Operand:
    """Return the long one, at a load below 1."""
    _, (reach, spare) = _reach(by, *operands)
    return reach / 2 / spare


def _reach(
    by: NumberFunctions, between: Operand, third: Operand, load: Operand
) -> tuple[TwoLengths, tuple[Operand, Operand]]:
    """Return twice the larger root of what the times are made of, and what is to spare."""
    of, load = two_lengths(by, between, third), by.minimum(load, _NEARLY)
    spare = 1 - load
    long = load * of.share
    both = of.short * (1 - long) + of.long * (spare + long)
    within = by.maximum(by.square(both) - spare * 4 * of.short * of.long, 0.0)
    return of, (both + by.root(within), spare)


def unlike_share(by: NumberFunctions, *operands: Operand) -> Operand:
    """Return which share of those who wait does so for the long time.

    Of the moments of the lengths, how many times as long as for exponential services one waits
    (which vary as much as those of either length), and a load.
    """
    between, third, ratio, load = operands
    of, (reach, spare) = _reach(by, between, third, load)
    near = by.minimum(ratio, spare * of.short * of.long * 2 / reach)
    far = by.maximum(ratio, reach / 2)
    return by.minimum((ratio - near) / by.maximum(ratio * _LEAST, far - near), 1.0)


def are_there(*operands: Operand) -> Operand:
    """Return whether operands have a value: finite ones, and but for the third moment not below 0.

    The last one, a load, may be infinite.
    """
    between, third, *others = operands
    *finite, load = others
    found = (between >= 0) & (load >= 0)
    for one in finite:
        found = found & (one >= 0)
    size = sum(finite, between) + abs(third)
    return found & (size - size == 0)
