"""How much longer the service of requests takes while machines are slower."""

from __future__ import annotations

from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.engine.distributions.gamma_numbers import lower_share
from qps.solver.incidents.flow_layout import FlowLayout
from qps.solver.incidents.incident_system import IncidentSystem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Amounts = NDArray[np.float64]
else:
    Amounts = Any

_ROUNDING = 1e-9
_DIGITS = 4


class SlowedService(Struct, frozen=True, kw_only=True):
    """The service of requests while machines are slower, by the keys of requests.

    `usual` is the mean time that it takes before, `means` and `variances` are those of the longer
    times. All of it together is taken for gamma distributed.
    """

    usual: tuple[float, ...]
    means: tuple[float, ...]
    variances: tuple[float, ...]

    def within(self, times: float, own: slice) -> Amounts:
        """Return which part of the requests of some keys is answered in a time.

        That time is what is left for what was not slower before.
        """
        import numpy as np  # noqa: PLC0415 - of incidents alone

        columns = range(own.start, own.stop)
        return np.array([self._part(times + self.usual[one], one) for one in columns])

    def longer(self, times: float, own: slice) -> float:
        """Return by how much the mean time of those that are answered is longer than before."""
        return max(self._mean(times + self.usual[one], one) for one in range(own.start, own.stop))

    def _mean(self, time: float, column: int) -> float:
        mean, variance = self.means[column], self.variances[column]
        if variance <= 0 or time == inf:
            return min(mean, time) - self.usual[column]
        # of a gamma law, times up to a limit have the mean of a law with a larger shape
        part = self._part(time, column)
        if part <= 0:
            return 0.0
        shape = mean**2 / variance
        return mean * lower_share(shape + 1, shape * time / mean) / part - self.usual[column]

    def _part(self, time: float, column: int) -> float:
        mean, variance = self.means[column], self.variances[column]
        if variance <= 0:
            return float(mean <= time + _ROUNDING)
        return _lower_share(mean, variance, round(time, _DIGITS))


@lru_cache(maxsize=65536)
def _lower_share(mean: float, variance: float, time: float) -> float:
    shape = mean**2 / variance
    return lower_share(shape, shape * time / mean)


def slowed_service(system: IncidentSystem, layout: FlowLayout, now: float) -> SlowedService | None:
    """Return how long service takes; None if no machine is slower than before.

    On machines at half the speed, service takes twice as long, and so do delays there.
    """
    slower: dict[str, float] = {}
    for one in system.capacity_changes:
        if one.is_slower and one.start <= now < one.end and one.factor > 0:
            slower[one.node] = slower.get(one.node, 1.0) / one.factor
    if not slower:
        return None
    usual, means, variances = [], [], []
    for key in layout.keys:
        route = system.streams[key.stream].routes[key.route]
        stations = [(system.stations[place], work) for place, work in route.visits]
        parts = [(one.node, work, one.variation) for one, work in stations]
        parts += [(node, time, 0.0) for node, time in route.delays]
        own = [(time, time * slower[node], cv) for node, time, cv in parts if node in slower]
        usual.append(sum(before for before, _, _ in own))
        means.append(sum(time for _, time, _ in own))
        variances.append(sum((cv * time) ** 2 for _, time, cv in own))
    return SlowedService(usual=tuple(usual), means=tuple(means), variances=tuple(variances))
