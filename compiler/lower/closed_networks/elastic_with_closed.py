"""What elastic parameters find left beside users who wait for their answer.

Where no queueing is stated, users demand as much as they would if nobody else were there, and an
elastic parameter takes what that leaves: it gives way, down to its least. Where users wait, what
it takes makes them slower, and they request less the more it takes: together they request more the
more it takes, so that there is one rate at which the resource is loaded to its limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream, ElasticStation
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticParameter
from qps.engine.expressions.formulas import Formula, minimum, total


def refuse_within(
    name: str,
    by: Mapping[Formula, Formula],
    sources: Mapping[Formula, ir.Stream],
    parameters: Iterable[ElasticParameter],
) -> None:
    """Refuse an elastic parameter on which the demand of users at a resource rests."""
    for parameter in parameters:
        for symbol, before in by.items():
            if parameter.symbol in before.symbols:
                why = f"the demand of `{sources[symbol].name}` on {name} depends on it"
                raise _refused(parameter, sources[symbol].name, sources[symbol].span, why)


def elastic_stations(
    streams: Mapping[Formula, ClosedStream],
    raw_loads: Mapping[str, Formula],
    open_loads: Mapping[str, Formula],
    parameters: Iterable[ElasticParameter],
) -> dict[str, ElasticStation]:
    """Return the stations of users whose rates rest on elastic parameters, by resource.

    `streams` are named by the symbols of their rates, which stand in `raw_loads` as those of the
    parameters do. QpsError where it is not known what is left.
    """
    found: dict[str, ElasticStation] = {}
    for parameter in parameters:
        for closed in streams.values():
            if parameter.symbol in closed.free.symbols:
                one = _elastic_station(parameter, closed, open_loads)
                found[one.station.resource] = one
        for name, load in raw_loads.items():
            if name in found or parameter.symbol not in load.symbols:
                continue
            for symbol in load.symbols:
                if symbol in streams and parameter.symbol in streams[symbol].free.symbols:
                    closed = streams[symbol]
                    slowed = next(
                        one.resource
                        for one in closed.network.stations
                        if parameter.symbol in one.open_load.symbols
                    )
                    why = f"it uses {name} and {slowed}, where they queue behind it"
                    raise _refused(parameter, closed.stream, closed.span, why)
    return found


def demand_at(
    by: Mapping[Formula, Formula],
    open_load: Formula,
    streams: Mapping[Formula, ClosedStream],
    parameters: Iterable[ElasticParameter],
) -> Formula:
    """Return the demand of open traffic and of users at a resource, which is so much.

    They are as fast as resources let them that no elastic parameter loads: those give way.
    """
    moving = {one.symbol for one in parameters}
    parts = [open_load]
    for symbol, before in by.items():
        closed = streams[symbol]
        fixed = [one.at_most for one in closed.limits if moving.isdisjoint(one.open_load.symbols)]
        parts.append(before * minimum(closed.free / closed.flows, *fixed))
    return total(parts)


def _elastic_station(
    parameter: ElasticParameter, closed: ClosedStream, open_loads: Mapping[str, Formula]
) -> ElasticStation:
    """Return the station at which a parameter makes users slower; QpsError for another way."""
    network, symbol = closed.network, parameter.symbol
    at = [one for one in network.stations if symbol in one.open_load.symbols]

    def refuse(why: str) -> NoReturn:
        raise _refused(parameter, closed.stream, closed.span, why)

    if not network.is_of_one:
        others = [name for name in network.names if name != closed.name]
        refuse(f"they share a resource with closed stream `{others[0]}`")
    if network.is_nested:
        refuse("they use a pool or load-dependent speeds")
    if network.forks:
        refuse("they make parallel calls")
    outside = (*network.jobs, *network.delays, *network.behind.values())
    own = next(iter(at), None)
    elsewhere = own is None or any(symbol in formula.symbols for formula in outside)
    if own is None or elsewhere or own.open_load is not open_loads[own.resource] * own.servers:
        refuse("it slows them at several machines or ports, or has priority over them")
    if len(at) > 1:
        refuse(f"it slows them at {at[0].resource} and at {at[1].resource}")
    return ElasticStation(station=own, network=network, open_load=open_loads[own.resource])


def _refused(parameter: ElasticParameter, stream: str, span: Span, why: str) -> QpsError:
    return QpsError.single(
        codes.NO_ANSWER,
        parameter.span,
        f"the share of `{parameter.name}` beside closed stream `{stream}` is unknown: {why}",
        secondary=[Label(span, "closed stream")],
        hint=f"fix `{parameter.name} = …`, or use a rate for `{stream}`",
    )
