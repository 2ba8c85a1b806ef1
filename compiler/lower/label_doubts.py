"""Why what is told of a network is no better known: for each quantity by itself."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from qps.compiler.quantities.certainty import Certainty, Kind, approximation


class Doubt(Struct, frozen=True):
    """Why a number is not exact, and why an error that is stated of it does not hold."""

    exact: tuple[str, ...] = ()
    error: tuple[str, ...] = ()

    def lowered(self, known: Certainty) -> Certainty:
        """Return how a number is known, no better than the premises allow."""
        if known.is_exact:
            reasons = (*self.error, *self.exact)
            return approximation(*reasons) if reasons else known
        if known.kind is Kind.APPROXIMATION and known.error is not None and self.error:
            return approximation(*known.reasons, *self.error)
        return known


NO_DOUBT = Doubt()


class ClassDoubts(Struct, frozen=True, kw_only=True):
    """The doubts of what is told of one class, each quantity by itself."""

    mean: Doubt = NO_DOUBT
    quantile: Doubt = NO_DOUBT
    loss: Doubt = NO_DOUBT
    rate: Doubt = NO_DOUBT


NO_DOUBTS = ClassDoubts()


class Gate(Struct, frozen=True, kw_only=True):
    """The doubts of a network: of its classes, and of what finds no room at stations."""

    classes: Mapping[str, ClassDoubts] = field(default_factory=dict)
    losing: Mapping[str, Doubt] = field(default_factory=dict)

    def of(self, stream: str) -> ClassDoubts:
        """Return the doubts of a class."""
        return self.classes.get(stream, NO_DOUBTS)

    def of_loss(self, station: str | None) -> Doubt:
        """Return the doubts of the share that finds no room at a station."""
        return NO_DOUBT if station is None else self.losing.get(station, NO_DOUBT)


NO_GATE = Gate()
