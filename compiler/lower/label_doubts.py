"""Why what is told of a network is no better known: for each quantity by itself."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.quantities.certainty import Certainty, Kind, Reason, approximation
from qps.compiler.quantities.measured_errors import UNEQUAL_SERVICES, Quantity, as_stated, measured


class Doubt(Struct, frozen=True):
    """Why a number is not exact, and why an error that is stated of it does not hold."""

    exact: tuple[Reason, ...] = ()
    error: tuple[Reason, ...] = ()

    def lowered(self, known: Certainty) -> Certainty:
        """Return how a number is known, no better than the premises allow."""
        if known.is_exact:
            because = (*self.error, *self.exact)
            return approximation(*because) if because else known
        if known.kind is Kind.APPROXIMATION and known.error is not None and self.error:
            return approximation(*known.because, *self.error)
        return known


NO_DOUBT = Doubt()
BY_TWO_MOMENTS = "nearer-percentile"
_RESTS_ON_HOW_MANY = UNEQUAL_SERVICES | {BY_TWO_MOMENTS}


class ClassDoubts(Struct, frozen=True, kw_only=True):
    """The doubts of what is told of one class, each quantity by itself.

    Its numbers rest on some stations and pools, and where these are like those of random networks
    they are as far off as there: `is_like_drawn`. Quantiles are not where it `calls_rarely`. Where
    `many_wait`, more users than were drawn, what goes by a law of two moments differs less than
    that says, and waits by unlike times may be off by as many times as these differ. So they may
    where more users wait for answers than stations serve, unless it `is_below_knee`.
    """

    mean: Doubt = NO_DOUBT
    quantile: Doubt = NO_DOUBT
    loss: Doubt = NO_DOUBT
    rate: Doubt = NO_DOUBT
    rests_on: frozenset[str] = frozenset()
    is_like_drawn: bool = False
    calls_rarely: bool = False
    many_wait: bool = False
    is_below_knee: bool = False

    def known(self, known: Certainty, quantity: Quantity) -> Certainty:
        """Return how a number of the class is known: as the premises allow, with its error."""
        lowered = self._doubt(quantity).lowered(known)
        is_quantile = quantity in (Quantity.QUANTILE, Quantity.LOW_QUANTILE)
        is_beyond = (self.calls_rarely and is_quantile) or self.is_beyond(lowered)
        if self.is_like_drawn and not is_beyond:
            return measured(lowered, quantity, is_below_knee=self.is_below_knee)
        return as_stated(lowered)

    def is_beyond(self, known: Certainty) -> bool:
        """Return whether more users wait than an error was measured with that goes by these."""
        return self.many_wait and not _RESTS_ON_HOW_MANY.isdisjoint(known.methods)

    def _doubt(self, quantity: Quantity) -> Doubt:
        match quantity:
            case Quantity.LATENCY:
                return self.mean
            case Quantity.QUANTILE | Quantity.LOW_QUANTILE:
                return self.quantile
            case Quantity.LOSS:
                return self.loss
            case _:
                return NO_DOUBT


NO_DOUBTS = ClassDoubts()


class Gate(Struct, frozen=True, kw_only=True):
    """The doubts of a network: of its classes, and of what finds no room at stations.

    Of the stations that are `unlike` those of random networks nothing measured there is told.
    """

    classes: Mapping[str, ClassDoubts] = field(default_factory=dict)
    losing: Mapping[str, Doubt] = field(default_factory=dict)
    unlike: frozenset[str] = frozenset()

    def of(self, stream: str) -> ClassDoubts:
        """Return the doubts of a class."""
        found = self.classes.get(stream, NO_DOUBTS)
        return replace(found, is_like_drawn=self.unlike.isdisjoint(found.rests_on))

    def beside(self, unlike: frozenset[str]) -> Gate:
        """Return the same of a network with more stations that are unlike those drawn."""
        return replace(self, unlike=self.unlike | unlike)

    def of_loss(self, station: str | None) -> Doubt:
        """Return the doubts of the share that finds no room at a station."""
        return NO_DOUBT if station is None else self.losing.get(station, NO_DOUBT)

    def load_known(self, name: str, known: Certainty) -> Certainty:
        """Return how the load of a station or pool is known, with its error.

        It is that of random networks where all that it rests on is like what was drawn there.
        """
        classes = [one for one in self.classes.values() if name in one.rests_on]
        is_like = self.unlike.isdisjoint({name}.union(*(one.rests_on for one in classes)))
        if is_like and not any(one.is_beyond(known) for one in classes):
            is_below_knee = all(one.is_below_knee for one in classes)
            return measured(known, Quantity.LOAD, is_below_knee=is_below_knee)
        return as_stated(known)


NO_GATE = Gate()
