"""Which stations are full together, by the mix of the closed streams that meet there.

With ever more under way, what classes get are the fair rates of `fair_rates`: two stations are full
together in a whole range of mixes (Balbo and Serazzi, Performance Evaluation 30, 1997).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import inf, isfinite

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, together
from qps.compiler.quantities.methods import reason_of
from qps.solver.answers.fair_rates import full_stations
from qps.solver.answers.solution import FullTogether, MixSolution

_MOST_CLASSES, _MOST_STATIONS = 6, 40
_POINTS, _SEARCH_TOLERANCES, _NARROW = 16, 1e-6, 1e-4
_FULL = 1e-9
_TWO = 2


class _Network(Struct, frozen=True):
    """What classes demand of stations, as parts of what each of these can do."""

    names: tuple[str, ...]
    stations: tuple[str, ...]
    demands: tuple[tuple[float, ...], ...]


def class_mixes(graph: LoadGraph, at: int) -> tuple[MixSolution, ...]:
    """Return what the mix decides, for each class of each network of several."""
    found: list[MixSolution] = []
    seen: set[tuple[str, ...]] = set()
    for closed in graph.closed.values():
        network = closed.network
        if len(network.names) < _TWO or network.names in seen:
            continue
        seen.add(network.names)
        jobs = [graph.at(at).number(one) for one in network.jobs]
        numbers = _numbers(graph, network, at)
        if numbers is None or not 0 < sum(jobs) < inf or min(jobs) <= 0:
            continue
        axes = range(1 if len(jobs) == _TWO else len(jobs))
        known = _known(graph, network)
        found += [_mix(numbers, jobs, axis, known) for axis in axes]
    return tuple(found)


def _known(graph: LoadGraph, network: ClosedNetwork) -> Certainty:
    """Return how a mix is known: as stations are, and to six digits where it is searched for.

    How far off rates are by them is no error of a share.
    """
    met = [one.stations_known for one in graph.closed.values() if one.network is network]
    because = list(together(*met).because)
    if len(network.names) > _TWO:
        because.append(reason_of("class-shares"))
    return approximation(*because) if because else EXACT


def _numbers(graph: LoadGraph, network: ClosedNetwork, at: int) -> _Network | None:
    if len(network.names) > _MOST_CLASSES or len(network.stations) > _MOST_STATIONS:
        return None
    if network.is_nested:
        return None  # a pool may be full before all of its stations
    if any(one.rank is not None for one in network.stations):
        return None  # who goes first gets all that it requests
    value = graph.at(at).number
    demands = []
    for one in network.stations:
        capacity = value(one.copies) * (value(one.servers) - value(one.open_load))
        if not capacity > 0:
            return None
        demands.append(tuple(value(demand) / capacity for demand in one.demands))
    whole = all(isfinite(part) for each in demands for part in each)
    visits = all(any(each[k] > 0 for each in demands) for k in range(len(network.names)))
    if not (whole and visits):
        return None
    return _Network(network.names, tuple(one.resource for one in network.stations), tuple(demands))


def _mix(network: _Network, jobs: Sequence[float], axis: int, known: Certainty) -> MixSolution:
    """Return what the share of one class decides, the others being as many to each other."""
    others = sum(jobs) - jobs[axis]
    rest = [0.0 if k == axis else count / others for k, count in enumerate(jobs)]
    is_of_two = len(jobs) == _TWO
    ranges = _of_two(network, axis) if is_of_two else _searched(network, rest, axis)
    return MixSolution(
        of=network.names[axis],
        others=tuple(name for k, name in enumerate(network.names) if k != axis),
        share=jobs[axis] / sum(jobs),
        ranges=tuple(ranges),
        known=known,
    )


# -- two classes: what all stations allow is a polygon ---------------------------------------


def _of_two(network: _Network, axis: int) -> list[FullTogether]:
    """Return the ranges of the share of one of two classes, from none of it to nothing else.

    Along an edge of what is allowed one station is full, at a corner those that meet there.
    """
    lines = [(each[axis], each[1 - axis]) for each in network.demands]
    rate, here = 0.0, _lowest(lines)
    ranges: list[FullTogether] = []
    share = 0.0
    while True:
        following = _next_corner(lines, here, rate)
        own, _ = lines[here]
        if following is None:
            ranges.append(_range(network, share, 1.0, _alike(lines, here)))
            return [one for one in ranges if one.to > one.at]
        rate, other = following
        until = own * rate
        if until > share:
            ranges.append(_range(network, share, until, _alike(lines, here)))
        beyond = min(lines[other][0] * rate, 1.0)
        meeting = {i for i, (a, b) in enumerate(lines) if _meets(a, b, rate, lines[other])}
        ranges.append(_range(network, until, beyond, meeting | {here, other}))
        share, here = beyond, other
        if share >= 1:
            return ranges


def _alike(lines: Sequence[tuple[float, float]], here: int) -> set[int]:
    """Return the stations with the same demands as one: they are full together at any mix."""
    own, other = lines[here]
    return {
        i
        for i, (a, b) in enumerate(lines)
        if abs(a - own) <= _FULL * own and abs(b - other) <= _FULL * other
    }


def _lowest(lines: Sequence[tuple[float, float]]) -> int:
    """Return the station that allows the other class least where one has no rate."""
    return min(range(len(lines)), key=lambda i: (_allowed(lines[i], 0.0), -lines[i][0]))


def _allowed(line: tuple[float, float], rate: float) -> float:
    own, other = line
    return (1 - own * rate) / other if other else inf


def _next_corner(
    lines: Sequence[tuple[float, float]], here: int, rate: float
) -> tuple[float, int] | None:
    """Return where another station allows less from on, and which; None where none does."""
    own, other = lines[here]
    found = []
    for i, (a, b) in enumerate(lines):
        steeper = a * other - own * b
        if i == here or steeper <= 0:
            continue
        found.append((max((other - b) / steeper, rate), -steeper, i))
    if not found:
        return None
    at, _, i = min(found)
    return at, i


def _meets(own: float, other: float, rate: float, line: tuple[float, float]) -> bool:
    allowed = _allowed(line, rate)
    return isfinite(allowed) and abs(own * rate + other * allowed - 1) <= _FULL


def _range(network: _Network, low: float, high: float, full: set[int]) -> FullTogether:
    return FullTogether(at=low, to=high, full=tuple(network.stations[i] for i in sorted(full)))


# -- more classes: searched along the share --------------------------------------------------


def _searched(network: _Network, rest: Sequence[float], axis: int) -> list[FullTogether]:
    """Return the same for more classes, with ends as near as halving comes."""

    def full_at(share: float) -> frozenset[int]:
        mix = [(1 - share) * part + share * (k == axis) for k, part in enumerate(rest)]
        return full_stations(network.demands, mix)

    points = [(k + 0.5) / _POINTS for k in range(_POINTS)]
    found = [(point, full_at(point)) for point in points]
    starts = [(0.0, found[0][1])]
    open_ones = list(pairwise(found))[::-1]
    while open_ones:
        (low, before), (high, behind) = open_ones.pop()
        if before == behind:
            continue
        if high - low < _SEARCH_TOLERANCES:
            starts.append((high, behind))
            continue
        middle = (low + high) / 2
        between = (middle, full_at(middle))
        open_ones += [(between, (high, behind)), ((low, before), between)]
    ends = [at for at, _ in starts[1:]] + [1.0]
    ranges = [
        _range(network, at, to, set(full)) for (at, full), to in zip(starts, ends, strict=True)
    ]
    return [one for one in ranges if one.to - one.at > _NARROW]
