"""The stations of an incident, and the ways of requests through them, by hit rates of caches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite

from msgspec import Struct

from qps.compiler.network.classes import Class
from qps.compiler.network.stations_and_pools import StationKind
from qps.solver.incidents.incident_numbers import IncidentNumbers, no_answer
from qps.solver.incidents.incident_system import FluidStation, RequestRoute
from qps.solver.incidents.network_routes import (
    DELAY,
    PARALLEL,
    WorkRoute,
    routes_of,
    with_mean_work,
)

_QUARTERS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
_ROUNDING = 1e-6
_IDLE = 0.02
"""Loads below this are not followed, unless they are the highest of a node."""


class ClassRoutes(Struct, frozen=True, kw_only=True):
    """The routes of a class; their shares change with the hit rate of a `cache`, by `per_hit`."""

    of: Class
    routes: tuple[WorkRoute, ...]
    per_hit: tuple[float, ...]
    cache: str | None = None

    def shares(self, hits: float) -> list[float]:
        """Return the shares of the routes at a hit rate."""
        pairs = zip(self.routes, self.per_hit, strict=True)
        return [route.share + slope * hits for route, slope in pairs]

    def at(self, places: Mapping[str, int]) -> tuple[RequestRoute, ...]:
        """Return the routes with the numbers of stations, of those that are followed."""
        return tuple(
            RequestRoute(
                share=route.share,
                per_hit=slope,
                visits=tuple(
                    (places[name], work) for name, work in route.visits.items() if name in places
                ),
                has_parallel_calls=PARALLEL in route.visits,
                delays=tuple(
                    (name.removeprefix(DELAY), time)
                    for name, time in route.visits.items()
                    if name.startswith(DELAY)
                ),
            )
            for route, slope in zip(self.routes, self.per_hit, strict=True)
        )


def class_routes(
    numbers: IncidentNumbers, of: Class, caches: Iterable[str], warm: Iterable[str] = ()
) -> ClassRoutes:
    """Return the routes of a class, which may depend on one of some caches.

    Raises QpsError where their shares are not linear in its hit rate. If there are `warm` caches, a
    retry of a miss may find its item in one of them; that is left out where shares are not linear.
    """
    changing = {}
    for cache in caches:
        at = [_shares(numbers, of, cache, hits) for hits in _QUARTERS]
        if at[0] != at[2]:
            changing[cache] = at
    if len(changing) > 1:
        raise no_answer(
            of.span,
            f"`{of.stream}` depends on several caches that are emptied: {', '.join(changing)}",
            "empty one of them in each incident",
        )
    for cache, at in changing.items():
        return _of_cache(of, cache, at)
    for cache in warm:
        at = [_shares(numbers, of, cache, hits) for hits in _QUARTERS]
        if at[0] != at[2] and _is_linear(at):
            return _of_cache(of, cache, at)
    routes = with_mean_work(routes_of(numbers.graph, of, numbers.population))
    return ClassRoutes(of=of, routes=routes, per_hit=(0.0,) * len(routes))


_Shares = dict[tuple[tuple[str, float], ...], WorkRoute]


def _shares(numbers: IncidentNumbers, of: Class, cache: str, hits: Fraction) -> _Shares:
    graph = numbers.with_hit_rate(cache, hits)
    routes = routes_of(graph, graph.network.classes[of.name], numbers.population)
    return {one.key: one for one in routes}


def _is_linear(at: Sequence[_Shares]) -> bool:
    keys = {key for one in at for key in one}
    shares = [[one[key].share if key in one else 0.0 for one in at] for key in keys]
    return all(abs(middle - (low + high) / 2) <= _ROUNDING for low, middle, high in shares)


def _of_cache(of: Class, cache: str, at: Sequence[_Shares]) -> ClassRoutes:
    found, slopes = [], []
    for key in dict.fromkeys(key for one in at for key in one):
        low, middle, high = (one[key].share if key in one else 0.0 for one in at)
        if abs(middle - (low + high) / 2) > _ROUNDING:
            raise no_answer(
                of.span,
                f"the requests of `{of.stream}` are not proportional to the hit rate of `{cache}`",
                f"use it as the probability of an event: `event hit = {cache}`",
            )
        slope = 2 * (high - low)
        visits = next(one[key].visits for one in at if key in one)
        found.append(WorkRoute(low - slope / 4, visits))
        slopes.append(slope)
    return ClassRoutes(of=of, routes=tuple(found), per_hit=tuple(slopes), cache=cache)


def stations_of(
    numbers: IncidentNumbers, routes: Sequence[ClassRoutes]
) -> tuple[FluidStation, ...]:
    """Return the stations that are followed: those in use, at least one of each node.

    Raises QpsError where a load is not that of the requests that come by.
    """
    found: list[tuple[float, FluidStation]] = []
    for name, station in numbers.graph.network.stations.items():
        resource = numbers.graph.resources.get(name)
        servers = numbers.number(station.servers * station.place.copies * station.fastest)
        if resource is None or not isfinite(servers) or servers <= 0:
            continue
        work = sum(_work_at(numbers, one, name) for one in routes)
        load = numbers.number(resource.load)
        background = sum(numbers.number(part) for _, part in station.background)
        if work <= 0:
            continue
        if abs(work / servers + background - load) > _ROUNDING + 1e-3 * load:
            raise no_answer(
                station.span,
                f"incidents are not supported: the load of `{name}` is not that of its requests",
                "in a copy of the spec, remove what changes the number of requests on their way",
            )
        is_processor = station.kind is StationKind.PROCESSOR
        followed = FluidStation(
            name=name,
            node=station.place.name,
            servers=servers,
            background=min(background, 1.0),
            variation=numbers.number(station.variation),
            is_processor=is_processor,
        )
        found.append((load, followed))
    highest: dict[str, float] = {}
    for load, one in found:
        highest[one.node] = max(load, highest.get(one.node, 0.0))
    return tuple(one for load, one in found if load >= min(_IDLE, highest[one.node]))


def _work_at(numbers: IncidentNumbers, of: ClassRoutes, name: str) -> float:
    """Return the work of a class at a station in a second."""
    hits = 0.0 if of.cache is None else numbers.hit_rate(of.cache)
    pairs = zip(of.routes, of.shares(hits), strict=True)
    return numbers.rate(of.of) * sum(share * route.visits.get(name, 0.0) for route, share in pairs)
