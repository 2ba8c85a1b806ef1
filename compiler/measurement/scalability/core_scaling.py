"""The scaling efficiency of a processor, from the throughput that several numbers of cores had.

    cores,request/s
    1,9800
    2,18900
    8,66000

Of c cores with efficiency e, the capacity is c e^(log2 c): the logarithm of the throughput per core
is a line in the number of doublings.
"""

from __future__ import annotations

from math import exp, log, log2, sqrt

from msgspec import Struct

from qps.compiler.measurement.noise_prior import expected_noise
from qps.compiler.measurement.scalability.closed_tables import ClosedTable
from qps.compiler.measurement.scalability.station_fit import NOISE, SPREAD


class CoreScaling(Struct, frozen=True, kw_only=True):
    """An efficiency, how far it may be off, and how far off each row is.

    It has a t distribution with `freedom`, and `deviation` as its standard deviation. `noise` is
    that of one more run, as a share of its throughput. `errors` are the fitted throughputs over the
    measured ones, less 1.
    """

    efficiency: float
    deviation: float
    freedom: int
    noise: float
    errors: tuple[float, ...]


def core_scaling(table: ClosedTable) -> CoreScaling:
    """Return the efficiency that fits the throughputs of a table by its cores best.

    >>> table = ClosedTable(
    ...     file="", by="cores", item="request", lines=(2, 3, 4), clients=(1, 2, 8),
    ...     throughputs=(100.0, 180.0, 583.2),
    ... )
    >>> round(core_scaling(table).efficiency, 9)
    0.9
    """
    doublings = [log2(cores) for cores in table.clients]
    pairs = zip(table.clients, table.throughputs, strict=True)
    logs = [log(throughput / cores) for cores, throughput in pairs]
    count = len(logs)
    middle, level = sum(doublings) / count, sum(logs) / count
    squares = sum((one - middle) ** 2 for one in doublings)
    points = list(zip(doublings, logs, strict=True))
    slope = sum((at - middle) * (value - level) for at, value in points) / squares
    misses = [level + slope * (at - middle) - value for at, value in points]
    expected = expected_noise(sum(miss**2 for miss in misses), count - 2, NOISE, SPREAD)
    efficiency = exp(slope)
    return CoreScaling(
        efficiency=efficiency,
        deviation=efficiency * sqrt(expected.variance / squares),
        freedom=expected.freedom,
        noise=sqrt(expected.variance),
        errors=tuple(exp(miss) - 1 for miss in misses),
    )
