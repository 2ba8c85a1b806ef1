"""Stations of closed networks that are not in product form, and how numbers are known there."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.measured_errors import FAR_UNEQUAL_SERVICES
from qps.compiler.quantities.methods import METHODS, known_by

_FAR_APART = METHODS["unequal-services"].up_to["times"][-1][0]
_MOST_VARIED = 4
"""Residual services were measured up to that coefficient of variation."""
_LITTLE_VARIED, _FAR_VARIED = 2, 3
"""Users behind others were measured up to these coefficients of variation."""


class Uneven(Struct, frozen=True, kw_only=True):
    """A station that is not in product form.

    The longest service is so many `times` as long as the shortest, 1 where all are alike; `varies`
    is the coefficient of variation of service. None where these may be anything. One class of users
    beside open traffic `finds_open_work`, as first comes first; where `counts_residual`, one class
    alone waits for what is left of the service that it finds.
    """

    resource: str
    is_exponential: bool
    times: float | None
    varies: float | None = 1
    finds_open_work: bool = False
    counts_residual: bool = False

    @property
    def known(self) -> Certainty:
        """How well times are known in a network that has such a station."""
        return self._known("times")

    @property
    def rates_known(self) -> Certainty:
        """Accuracy of the rates of its users: less rests on waits where users think, too."""
        return self._known("rates")

    @property
    def is_far_apart(self) -> bool:
        """True where services are further apart than was measured; not where nobody knows."""
        return self.times is not None and self.times > _FAR_APART

    def residual_known(self, of: str) -> Certainty:
        """Return how times, rates or percentiles of one class are known by residual services."""
        is_within = self.varies is not None and self.varies <= _MOST_VARIED
        apart = self.times if is_within else None
        return known_by("residual-service", self.resource, case=of, apart=apart)

    def _known(self, of: str) -> Certainty:
        """Return how it is known, of errors that were measured together, and do not multiply."""
        parts, name = [], self.resource
        if self.finds_open_work:
            return known_by("open-work-found", name, case=of)
        if self.counts_residual:
            return self.residual_known(of)
        if not self.is_exponential:
            method = "product-form-by-means"
            certainty = known_by(method, name, case=of, apart=self.varies)
            is_beyond = certainty.error is None
            parts.append(known_by(method, name, case="beyond") if is_beyond else certainty)
        if self.times is None or self.is_far_apart:
            # Where first comes first all wait alike; in product form each waits in proportion to
            # its own service. So no wait is further off than services differ.
            off = None if self.times is None else self.times - 1
            parts.append(known_by(FAR_UNEQUAL_SERVICES, name, error=off, most=_FAR_APART))
        elif self.times != 1:
            parts.append(known_by("unequal-services", name, case=of, apart=self.times))
        return together(*parts)


def shadow_server(uneven: Iterable[Uneven]) -> str:
    """Return the method of users behind others, by how much services of their network vary."""
    varying = [one.varies for one in uneven if not one.is_exponential]
    known = [one for one in varying if one is not None]
    if not varying:
        return "shadow-server"
    if len(known) < len(varying) or max(known) > _FAR_VARIED:
        return "unmeasured-shadow-server"
    return "varied-shadow-server" if max(known) <= _LITTLE_VARIED else "far-varied-shadow-server"
