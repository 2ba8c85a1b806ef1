"""How full resources are, and how much of a latency is waited, where populations end.

Errors of approximations grow with both. In between both lie between: loads and waits grow with the
population.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.lower.label_doubts import Points
from qps.compiler.lower.labels.labeled_network import NumberFacts
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_stages import TimeSpent, every
from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.measured_errors import ErrorAxis
from qps.compiler.quantities.methods import METHODS
from qps.engine.expressions.formulas import Formula, total

_TAIL = Fraction(95, 100)
_FAR_APART = METHODS["unequal-services"].up_to["times"][-1][0]
_FULL = 1 + 1e-9
"""As full as can be, but for rounding."""


class OperatingPoints(Struct, frozen=True):
    """Where the numbers of a network lie, by how full its resources are.

    Without `numbers` nothing is known of that, and a label holds whatever they are.
    """

    resources: Mapping[str, ResourceLoad]
    numbers: NumberFacts | None
    _known: dict[frozenset[str], Points] = field(default_factory=dict)

    def of(self, places: frozenset[str]) -> Points:
        """Return the points of what rests on some places; none above saturation."""
        if places not in self._known:
            loads = [one.load for name, one in self.resources.items() if name in places]
            highest = [max(end, default=0.0) for end in self._at_ends(loads)]
            is_below = all(one <= _FULL for one in highest)
            points = tuple({ErrorAxis.UTILIZATION: one} for one in highest)
            self._known[places] = points if is_below else ()
        return self._known[places]

    def at_ends(self, formula: Formula) -> list[float]:
        """Return what a formula comes to at each of the points; nothing where that is unknown."""
        return [one for (one,) in self._at_ends([formula])]

    def _at_ends(self, formulas: Sequence[Formula]) -> list[list[float]]:
        return [] if self.numbers is None else self.numbers.at_ends(formulas)

    def put_on(self, stream: StreamMeasures) -> StreamMeasures:
        """Return a stream with the points at which its numbers lie, where any is no bound."""
        if self.numbers is None or not stream.doubts.is_like_drawn or not _is_approximate(stream):
            return stream
        each = _classes_of(stream)
        waits = [
            total(part.value for part in every(one.latency) if part.spent is TimeSpent.WAIT)
            for one in each
        ]
        ends = self._at_ends([*waits, *(one.mean_latency for one in each)])
        shares = [_largest_share(end[: len(each)], end[len(each) :]) for end in ends]
        known = self.of(stream.doubts.rests_on)
        if len(known) != len(shares) or not all(map(isfinite, shares)):
            return stream
        points = tuple(
            {**one, **_delay(share, stream.doubts.services_apart)}
            for one, share in zip(known, shares, strict=True)
        )
        kinds = tuple(_at(one, points) for one in stream.kinds)
        return replace(_at(stream, points), kinds=kinds)


def _classes_of(stream: StreamMeasures) -> tuple[StreamMeasures, ...]:
    """Return the classes of a stream: its kinds of users where these wait by themselves."""
    return tuple(kind for kind in stream.kinds if kind.name != stream.name) or (stream,)


def _at(stream: StreamMeasures, points: Points) -> StreamMeasures:
    return replace(stream, doubts=replace(stream.doubts, points=points))


def _is_approximate(stream: StreamMeasures) -> bool:
    known = (stream.latency_certainty, stream.arriving_known, stream.lost_known)
    if any(one.kind is CertaintyKind.APPROXIMATION for one in known):
        return True
    return stream.quantile_certainty(_TAIL).kind is CertaintyKind.APPROXIMATION


def _delay(share: float, apart: float | None) -> dict[ErrorAxis, float]:
    """Return where a share of the latency that is waited lies, and what rests on unlike services.

    The latter only where these are so many times apart that errors go by it.
    """
    found = {ErrorAxis.WAITING: share}
    if apart is not None and apart > _FAR_APART:
        found[ErrorAxis.UNEQUAL_DELAY] = share * (apart - 1)
    return found


def _largest_share(waits: Sequence[float], latencies: Sequence[float]) -> float:
    """Return the largest share that one of several waits has of its latency."""
    pairs = zip(waits, latencies, strict=True)
    return max(wait / latency if latency else 0.0 for wait, latency in pairs)
