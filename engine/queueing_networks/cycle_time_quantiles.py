"""How long a cycle of a closed network of one class takes at its stations: quantiles.

Who comes to a station finds the network with one customer less (Sevcik and Mitrani 1981; Lavenberg
and Reiser 1980). Given how many are found everywhere, the stays are independent sums of exponential
services: so it is for all of them together where nobody is overtaken (Schassberger and Daduna 1983;
Boxma, Kelly and Konheim 1984). So their sum has a law, which `cycle_time_transform` computes. Where
too many customers are found, where it is not inverted, and at stations that serve all who are there
at once, three moments determine a gamma law (`cycle_time_moments`).
"""

from __future__ import annotations

from functools import lru_cache
from math import inf, nan, prod

from qps.engine.queueing_networks.closed_operands import between, never_ends, stations_of
from qps.engine.queueing_networks.cycle_time_moments import moments, of_moments
from qps.engine.queueing_networks.cycle_time_transform import law_of
from qps.engine.queueing_networks.product_form import Stations
from qps.engine.queueing_networks.visited_copies import ReplicatedStation, place_of, visited_whole

OPERANDS = 6
"""Of a station: those of `closed_operands`, how often a cycle visits it, and 1 where it shares."""


def closed_quantile(level: float, customers: float, think: float, *operands: float) -> float:
    """Return what a share `level` of all cycles does not exceed at all stations together.

    Between whole numbers of customers, of servers, and of copies of several servers, on a line; so
    it is between whole numbers of copies that a cycle visits.
    """
    if (
        not (0 <= level < 1 and 0 <= customers < inf and 0 <= think < inf)
        or len(operands) % OPERANDS
    ):
        return nan
    if not all(0 <= number < inf for number in operands):
        return nan
    groups = [operands[at : at + OPERANDS] for at in range(0, len(operands), OPERANDS)]
    if any(one[1] < 1 or one[3] == 0 for one in groups):
        return nan
    visited = [one for one in groups if one[0] > 0 and one[4] > 0]
    visits = [(one[4], one[5] > 0) for one in visited]
    read = stations_of([number for one in visited for number in one[:4]])

    def quantile(whole: int, pause: float, stations: Stations) -> float:
        if not stations or level == 0:
            return 0.0
        if any(map(never_ends, stations)):
            return inf
        pairs = list(zip(stations, visits, strict=True))
        found = max(whole - 1, 0)
        return sum(
            part * _quantile(level, found, pause, tuple(place_of(*one) for one in chosen))
            for part, chosen in visited_whole(pairs)
        )

    return float(between(quantile, customers, think, read))


@lru_cache(maxsize=1 << 12)
def _quantile(
    level: float, found: int, think: float, places: tuple[ReplicatedStation, ...]
) -> float:
    """Return the quantile where so many others are under way."""
    if level <= prod(max(1 - place.visits, 0.0) for place in places):  # nothing is visited
        return 0.0
    law = law_of(found, think, places)
    time = None if law is None else law.quantile(level)
    return of_moments(level, *moments(found, think, places)) if time is None else time
