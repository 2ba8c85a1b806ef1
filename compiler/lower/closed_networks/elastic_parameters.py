"""Elastic parameters: each takes the capacity that is left, between its least and its most.

A load that grows in proportion with a parameter x is A + B x. What the resource leaves for x
is (1 - A)/B, or (limit - A)/B where the spec limits the load itself; x is the least of what
its resources leave, at least `least` and at most `most`. So the rate is a closed form of the
population, with a knee where x leaves its most and another one where it reaches its least.

Several elastic parameters take in the order that they are given in, by priority: each leaves the
later ones their least, and no more. So each demands of a resource only what it is loaded with while
all that are still open take their least; that has one formula, in which the one before stands once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.closed_networks.closed_stream_solution import ElasticStation
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import ONE, Formula, apply, maximum, minimum, product, total
from qps.engine.expressions.monomials import monomials
from qps.engine.expressions.quotients import quotient_of
from qps.engine.expressions.substitution import Substitution, remade

SignsOf = Callable[[Formula], Sequence[int | None]]


class ElasticParameter(Struct, frozen=True, kw_only=True):
    """A parameter that takes what is left: its symbol and its bounds, in base units."""

    name: str
    symbol: Formula
    least: Formula
    most: Formula
    dimension: Dimension
    span: Span
    priority: int | None = None


class ElasticFormula(Struct, frozen=True, kw_only=True):
    """What an elastic parameter comes to, as a function of the population.

    `left` is what each resource that limits it leaves for it; it takes the least of these.
    `at_most` and `at_least` are the loads, as parts of what is allowed, that the resources
    which limit it have while it takes the most and the least: they are 1 at its knees.
    """

    parameter: ElasticParameter
    value: Formula
    left: dict[str, Formula]
    at_most: dict[str, Formula]
    at_least: dict[str, Formula]
    known: Certainty = EXACT
    """How its value is known: as well as the loads are that leave it."""


class _Room(Struct, frozen=True, kw_only=True):
    """A resource while parameters take of it.

    `at_least` is its load while all that are open take their least. `grows` has for each parameter
    the products in which it stands, with what stands before; `bent` are those that stand elsewhere.
    """

    name: str
    limit: Formula
    at_least: Formula
    grows: Mapping[Formula, Sequence[tuple[tuple[Formula, ...], Formula]]]
    bent: frozenset[Formula]

    @classmethod
    def of(cls, name: str, load: Formula, limit: Formula, now: Mapping[Formula, Formula]) -> _Room:
        """Return a resource of which nothing is taken; `now` has the least of each parameter."""
        grows: dict[Formula, list[tuple[tuple[Formula, ...], Formula]]] = {}
        bent: set[Formula] = set()
        least = Substitution(now)
        for of, by in monomials(load, now).items():
            bent |= {symbol for symbol in by.symbols if symbol in now}
            bent |= {symbol for symbol in of if of.count(symbol) > 1}
            for symbol in dict.fromkeys(of):
                grows.setdefault(symbol, []).append((of, least(by)))
        return cls(name=name, limit=limit, at_least=least(load), grows=grows, bent=frozenset(bent))

    def slope(self, parameter: ElasticParameter, now: Mapping[Formula, Formula]) -> Formula:
        """Return what the load grows by with a parameter, the others being what they are `now`."""
        symbol = parameter.symbol
        if symbol in self.bent:
            _refuse(self.name, parameter, "does not grow in proportion with")
        return total(
            product((by, *(now[other] for other in of if other is not symbol)))
            for of, by in self.grows.get(symbol, ())
        )

    def left(self, parameter: ElasticParameter, slope: Formula) -> Formula:
        """Return what the resource leaves for a parameter."""
        return apply("ratio", self.limit - self.at_least + slope * parameter.least, slope)

    def at_most(
        self, parameter: ElasticParameter, slope: Formula, _now: Mapping[Formula, Formula]
    ) -> Formula:
        """Return its load while a parameter takes its most."""
        return self.at_least + slope * (parameter.most - parameter.least)

    def after(
        self, elastic: ElasticFormula, slope: Formula, _now: Mapping[Formula, Formula]
    ) -> _Room:
        """Return the resource when a parameter has taken of it.

        The load grows with the parameter, so the maxima and minima can go outside: a resource that
        limits the parameter is then loaded exactly to its limit, not to 1 + 1e-17.
        """
        parameter = elastic.parameter
        most = self.at_most(parameter, slope, _now)
        if not elastic.left:
            return replace(self, at_least=most)
        fixed = self.at_least - slope * parameter.least
        wished = [
            self.limit if other == self.name else fixed + _times(slope, left)
            for other, left in elastic.left.items()
        ]
        return replace(self, at_least=minimum(most, maximum(self.at_least, minimum(*wished))))


class _ElasticRoom(Struct, frozen=True, kw_only=True):
    """A station that users wait at, while parameters take of it.

    Its `load` has the users' part in it, who request less the more is taken; `source` is the rest
    of it, to which the parameters belong.
    """

    name: str
    limit: Formula
    at_least: Formula
    load: Formula
    station: ElasticStation
    source: _Room

    @classmethod
    def of(
        cls,
        name: str,
        load: Formula,
        limit: Formula,
        stations: ElasticStation,
        now: Mapping[Formula, Formula],
    ) -> _ElasticRoom:
        """Return a station of which nothing is taken; `now` has the least of each parameter."""
        return cls(
            name=name,
            limit=limit,
            at_least=Substitution(now)(load),
            load=load,
            station=stations,
            source=_Room.of(name, stations.open_load, limit, now),
        )

    def slope(self, parameter: ElasticParameter, now: Mapping[Formula, Formula]) -> Formula:
        """Return what the load besides that of the users grows by with a parameter."""
        return self.source.slope(parameter, now)

    def left(self, parameter: ElasticParameter, slope: Formula) -> Formula:
        """Return what the station leaves for a parameter."""
        headroom = self.station.room(self.limit, self.source.at_least)
        return parameter.least + apply("ratio", headroom, slope)

    def at_most(
        self, parameter: ElasticParameter, _slope: Formula, now: Mapping[Formula, Formula]
    ) -> Formula:
        """Return its load while a parameter takes its most."""
        return self._with(parameter, parameter.most, now)

    def after(
        self, elastic: ElasticFormula, _slope: Formula, now: Mapping[Formula, Formula]
    ) -> _ElasticRoom:
        """Return the station when a parameter has taken of it; what it limits loads it exactly."""
        parameter = elastic.parameter
        wished = [
            self.limit if name == self.name else self._with(parameter, left, now)
            for name, left in elastic.left.items()
        ]
        most = self._with(parameter, parameter.most, now)
        of = Substitution({**now, parameter.symbol: elastic.value})(self.station.open_load)
        return replace(
            self,
            at_least=minimum(most, maximum(self.at_least, minimum(*wished))) if wished else most,
            source=replace(self.source, at_least=of),
        )

    def _with(
        self, parameter: ElasticParameter, value: Formula, now: Mapping[Formula, Formula]
    ) -> Formula:
        return Substitution({**now, parameter.symbol: value})(self.load)


def solve_elastic(
    loads: Mapping[str, Formula],
    limits: Mapping[str, Formula],
    parameters: Sequence[ElasticParameter],
    signs: SignsOf,
    *,
    stated: Mapping[str, Formula] | None = None,
    stations: Mapping[str, ElasticStation] | None = None,
) -> tuple[dict[str, Formula], tuple[ElasticFormula, ...]]:
    """Return the loads without the elastic parameters, and what these come to.

    `limits` are the loads that a spec allows where that is not 1; `signs` gives those of a
    formula at some populations. In what is `stated` of the loads the parameters stand that take of
    a resource; in the loads there may also be some that make its users slower elsewhere. `stations`
    are the stations of users among them. QpsError where a load does not grow in proportion.
    """
    now = {parameter.symbol: parameter.least for parameter in parameters}
    rooms: dict[str, _Room | _ElasticRoom] = {}
    loaded: dict[Formula, list[str]] = {symbol: [] for symbol in now}
    for name, load in loads.items():
        symbols = (stated or loads)[name].symbols
        found = [symbol for symbol in now if symbol in symbols]
        for symbol in found:
            loaded[symbol].append(name)
        limit = limits.get(name, ONE)
        if stations and name in stations:
            rooms[name] = _ElasticRoom.of(name, load, limit, stations[name], now)
        elif found:
            rooms[name] = _Room.of(name, load, limit, now)
    solutions = []
    for parameter in parameters:
        taking = [rooms[name] for name in loaded[parameter.symbol]]
        slopes = {station.name: station.slope(parameter, now) for station in taking}
        one = _elastic_formula(parameter, _filled(taking, parameter, slopes, signs), slopes, now)
        solutions.append(one)
        rooms |= {station.name: station.after(one, slopes[station.name], now) for station in taking}
        now[parameter.symbol] = one.value
    put_in = Substitution(now)
    left = {n: rooms[n].at_least if n in rooms else put_in(load) for n, load in loads.items()}
    return left, tuple(solutions)


def _filled(
    rooms: Sequence[_Room | _ElasticRoom],
    parameter: ElasticParameter,
    slopes: Mapping[str, Formula],
    signs: SignsOf,
) -> list[_Room | _ElasticRoom]:
    """Return the resources whose load grows with a parameter somewhere; QpsError if it falls."""
    filled = []
    for station in rooms:
        slope_signs = signs(slopes[station.name])
        if -1 in slope_signs:
            _refuse(station.name, parameter, "falls while")
        if any(sign != 0 for sign in slope_signs):
            filled.append(station)
    return filled


def _elastic_formula(
    parameter: ElasticParameter,
    rooms: Collection[_Room | _ElasticRoom],
    slopes: Mapping[str, Formula],
    now: Mapping[Formula, Formula],
) -> ElasticFormula:
    """Return what a parameter comes to that some resources limit."""
    least, most = parameter.least, parameter.most
    left: dict[str, Formula] = {}
    at_most: dict[str, Formula] = {}
    at_least: dict[str, Formula] = {}
    for station in rooms:
        slope = slopes[station.name]
        left[station.name] = station.left(parameter, slope)
        at_most[station.name] = station.at_most(parameter, slope, now) / station.limit
        at_least[station.name] = station.at_least / station.limit
    value = minimum(most, maximum(least, minimum(*left.values()))) if left else most
    return ElasticFormula(
        parameter=parameter, value=value, left=left, at_most=at_most, at_least=at_least
    )


def _times(slope: Formula, left: Formula) -> Formula:
    """Return a product; where slope and divisor both vanish, nothing is taken or limited."""
    if quotient_of(left):
        above, below = left.operands
        return remade(left, (slope * above, below))
    return slope * left


def _refuse(name: str, parameter: ElasticParameter, how: str) -> NoReturn:
    raise QpsError.single(
        codes.NO_ANSWER,
        parameter.span,
        f"utilization of {name} {how} `{parameter.name}`"
        + (" grows" if how == "falls while" else ""),
        hint="use a rate, size or repetition to which utilization is proportional, or fix it "
        "with `=`",
    )
