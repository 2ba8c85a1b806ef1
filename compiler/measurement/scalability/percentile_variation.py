"""How much service times vary, from percentiles of response times with hardly any waiting."""

from __future__ import annotations

from math import sqrt

import numpy as np

from qps.compiler.measurement.scalability.closed_loop import log_throughput
from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.scalability_law import ScalabilityLaw
from qps.engine.distributions.gamma_numbers import gamma_law_quantile

_LOWEST_SHARE = 0.9
"""Percentiles below are near the mean, whatever the variation."""
_MOST_WAITING = 1.1
"""Response time, as a multiple of that of a single request, up to which hardly any of it waits."""
_VARIATIONS = np.geomspace(0.001, 16.0, 40)
"""Squared coefficients of variation between which that of a table is looked for."""


def service_variation(table: ClosedTable, law: ScalabilityLaw) -> float | None:
    """Return the coefficient of variation of service times; None where the table shows none.

    Service times have a gamma distribution, after a constant delay. Of several percentiles, each
    counts alike.
    """
    fewest = min(table.clients)
    alone = law.demand + law.delay
    cycle = fewest / float(np.exp(log_throughput(law, np.array([fewest]))[0]))
    if cycle - table.think > _MOST_WAITING * (alone - table.think):
        return None
    rows = [row for row, clients in enumerate(table.clients) if clients == fewest]
    found = []
    for share, times in table.percentiles:
        if share < _LOWEST_SHARE:
            continue
        times_there = [times[row] for row in rows]
        of_delay = law.delay - table.think
        ratio = (sum(times_there) / len(times_there) - of_delay) / law.demand
        variation = _squared_variation(share, ratio)
        if variation is not None:
            found.append(sqrt(variation))
    return sum(found) / len(found) if found else None


def _squared_variation(share: float, ratio: float) -> float | None:
    """Return the least squared variation at which a percentile is so many times the mean."""
    ratios = [gamma_law_quantile(float(one), share) for one in _VARIATIONS]
    if ratio < ratios[0]:
        return None
    for at in range(1, len(ratios)):
        if ratio <= ratios[at]:
            low, high = np.log(_VARIATIONS[at - 1]), np.log(_VARIATIONS[at])
            part = (ratio - ratios[at - 1]) / (ratios[at] - ratios[at - 1])
            return float(np.exp(low + part * (high - low)))
    return None
