"""What premises leave in doubt of the numbers of a network: for each theorem by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.quantities.certainty import (
    Certainty,
    CertaintyKind,
    Reason,
    approximation,
    together,
)
from qps.compiler.quantities.measured_errors import (
    OF_LAWS,
    SATURATION_METHODS,
    UNEQUAL_SERVICES,
    ErrorAxis,
    ErrorQuantity,
    OperatingPoint,
    as_stated,
    measured,
)
from qps.compiler.quantities.methods import METHODS

Points: TypeAlias = tuple[OperatingPoint, ...]

MOST_RARE = 2000
"""So many items to one beyond a time: errors were measured of shares down to one in 1,000."""

BY_TWO_MOMENTS = "nearer-percentile"
_OF_SATURATION = frozenset({"saturation-slows-all", "saturation-of-others"})
_SATURATED = METHODS["saturation-of-others"]
_SATURATED_ERRORS: Mapping[ErrorQuantity, float] = {
    ErrorQuantity.QUANTILE: _SATURATED.errors["p99"],
    ErrorQuantity.LOW_QUANTILE: _SATURATED.errors["p95"],
}
"""The least errors of users who are held up by what has no queue: of far percentiles most."""
_DELAYED = SATURATION_METHODS | {"no-queueing-delay"}
"""What says that users are held up, and is measured together."""
_RESTS_ON_HOW_MANY = UNEQUAL_SERVICES | {BY_TWO_MOMENTS}

_OF_DELAY = frozenset({ErrorAxis.WAITING, ErrorAxis.UNEQUAL_DELAY})
_MEANS = frozenset({ErrorQuantity.LATENCY, ErrorQuantity.WAIT, ErrorQuantity.RATE})


def _failing(reason: Reason, *, is_mean: bool) -> Certainty:
    """Return how a number is known for which a premise fails."""
    is_stated = is_mean and reason.method in _OF_SATURATION
    return approximation(reason, error=METHODS[reason.method].error if is_stated else None)


class Checks(Struct, frozen=True, kw_only=True):
    """The premises that were checked on a network: where each `fails`, and why."""

    fails: Mapping[str, Mapping[str, tuple[Reason, ...]]] = field(default_factory=dict)

    def failing(self, theorems: Iterable[Reason]) -> tuple[Reason, ...]:
        """Return why theorems do not hold where they are used, each reason once."""
        found = (
            reason
            for theorem in theorems
            for premise in METHODS[theorem.method].premises
            for place in theorem.at
            for reason in self.of(premise, place)
        )
        return tuple(dict.fromkeys(found))

    def of(self, premise: str, place: str) -> tuple[Reason, ...]:
        """Return why a premise fails at a place; empty where it holds."""
        return self.fails.get(premise, {}).get(place, ())

    def known(self, known: Certainty, *, is_mean: bool = False) -> Certainty:
        """Return how a number is known: exactly where the premises of its theorems hold.

        Of what `is_mean` the errors hold that are stated of where they fail.
        """
        because = self.failing(known.theorems) if known.is_exact else ()
        return together(known, *(_failing(one, is_mean=is_mean) for one in because))


NO_CHECKS = Checks()


class ClassDoubts(Struct, frozen=True, kw_only=True):
    """The doubts of the results of one class, each quantity by itself.

    What exact numbers need of it is in the `checks`; where others are `saturation_reasons` by what
    has no queue, or by copies that a pool decides, no error holds that is stated. Its numbers rest
    on some stations and pools, and where these are like those of random networks they are as far
    off as there: `is_like_drawn`. Quantiles have others where it `calls_rarely`. Where `many_wait`,
    more users than were drawn, what goes by a law of two moments differs less than that says, and
    waits by unlike times may be off by as many times as these differ. So they may where more users
    wait for answers than stations serve, unless it `is_below_knee`; the longest of services
    that share a station is so many times as long as the shortest, if `services_apart` is known.
    Its numbers lie at some `points`, none where these are not known.
    """

    checks: Checks = NO_CHECKS
    saturation_reasons: tuple[Reason, ...] = ()
    rests_on: frozenset[str] = frozenset()
    is_like_drawn: bool = False
    calls_rarely: bool = False
    many_wait: bool = False
    is_below_knee: bool = False
    services_apart: float | None = None
    points: Points = ()

    def known(self, known: Certainty, quantity: ErrorQuantity) -> Certainty:
        """Return how a number of the class is known: as the premises allow, with its error."""
        is_of_times = quantity not in (ErrorQuantity.LOSS, ErrorQuantity.RATE)
        is_mean = quantity in _MEANS
        lowering = self.lowered if is_of_times else self.checks.known
        lowered = lowering(known, is_mean=is_mean)
        if not lowered.methods.isdisjoint(SATURATION_METHODS) and quantity in OF_LAWS | _MEANS:
            return self._saturated(lowered, quantity)
        if not self.is_like_drawn or self.is_beyond(lowered):
            return as_stated(lowered)
        return measured(
            lowered,
            quantity,
            is_below_knee=self.is_below_knee,
            calls_rarely=self.calls_rarely and quantity in OF_LAWS,
            points=self.points,
        )

    def _saturated(self, known: Certainty, quantity: ErrorQuantity) -> Certainty:
        """Return how a number is known where users are held up by what has no queue.

        It is off by as much as in networks drawn for that, or as what else has a part in it.
        """
        stated = as_stated(known)
        if quantity in _MEANS and stated.error is not None:
            return stated
        least = self._saturation_error(quantity)
        if least is None or not self.is_like_drawn or self.is_beyond(known):
            return replace(known, error=None)
        others = tuple(one for one in known.because if one.method not in _DELAYED)
        if not others:
            return replace(known, error=least)
        found = measured(
            replace(known, because=others, error=None),
            quantity,
            is_below_knee=self.is_below_knee,
            calls_rarely=self.calls_rarely and quantity in OF_LAWS,
            points=self.points,
        )
        return replace(known, error=None if found.error is None else max(least, found.error))

    def _saturation_error(self, quantity: ErrorQuantity) -> float | None:
        """Return the least error of a number of users who are held up; None where none holds."""
        if quantity in _MEANS:
            return _SATURATED.error
        if quantity is ErrorQuantity.SHARE_BEYOND:
            rarities = [one.get(ErrorAxis.RARITY, inf) for one in self.points]
            return _SATURATED.error_of("shares", max(rarities, default=inf))
        return _SATURATED_ERRORS.get(quantity)

    def lowered(self, known: Certainty, *, is_mean: bool = False) -> Certainty:
        """Return how a time or a rate of the class is known, no better than the premises allow.

        Of what `is_mean` the errors hold that are stated of where they fail.
        """
        states = known.kind is CertaintyKind.APPROXIMATION and known.error is not None
        because = self.saturation_reasons if known.is_exact or states else ()
        held_up = (_failing(one, is_mean=is_mean) for one in because)
        return together(known, *held_up, self.checks.known(known, is_mean=is_mean))

    def known_in_part(
        self, known: Certainty, quantity: ErrorQuantity = ErrorQuantity.LATENCY
    ) -> Certainty:
        """Return how a part of the latency is known, in which more may be waited than in all."""
        points = tuple(
            {axis: at for axis, at in one.items() if axis not in _OF_DELAY} for one in self.points
        )
        return replace(self, points=points).known(known, quantity)

    def of_share(self, shares: Sequence[float]) -> ClassDoubts:
        """Return the doubts of a share beyond a time, which is known at each of the points."""
        if len(shares) != len(self.points):
            return self
        each = (1 / one if one > 0 else inf for one in shares)
        pairs = zip(self.points, each, strict=True)
        points = tuple({**point, ErrorAxis.RARITY: rarity} for point, rarity in pairs)
        return replace(self, points=points)

    def is_beyond(self, known: Certainty) -> bool:
        """Return whether more users wait than an error was measured with that goes by these.

        Or whether a share is smaller than any that one was measured of.
        """
        if any(one.get(ErrorAxis.RARITY, 0.0) > MOST_RARE for one in self.points):
            return True
        return self.many_wait and not _RESTS_ON_HOW_MANY.isdisjoint(known.methods)


NO_DOUBTS = ClassDoubts()


class Gate(Struct, frozen=True, kw_only=True):
    """The doubts of a network: the `checks` of its premises, its classes, and `kinds` of streams.

    Of the stations that are `unlike` those of random networks nothing measured there is reported.
    """

    checks: Checks = NO_CHECKS
    classes: Mapping[str, ClassDoubts] = field(default_factory=dict)
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unlike: frozenset[str] = frozenset()

    def of(self, name: str) -> ClassDoubts:
        """Return the doubts of a class, or of a stream whose kinds of users are classes."""
        found = _together(
            [self.classes.get(one, NO_DOUBTS) for one in self.kinds.get(name, [name])]
        )
        return replace(found, is_like_drawn=self.unlike.isdisjoint(found.rests_on))

    def with_unlike(self, unlike: frozenset[str]) -> Gate:
        """Return the same of a network with more stations that are unlike those drawn."""
        return replace(self, unlike=self.unlike | unlike)

    def load_known(
        self,
        name: str,
        known: Certainty,
        points_of: Callable[[frozenset[str]], Points],
        *,
        quantity: ErrorQuantity,
    ) -> Certainty:
        """Return how the load of a station or pool is known, with the error of such a quantity.

        It is that of random networks where all that it rests on is like what was drawn there.
        """
        classes = [one for one in self.classes.values() if name in one.rests_on]
        places = frozenset({name}.union(*(one.rests_on for one in classes)))
        if self.unlike.isdisjoint(places) and not any(one.is_beyond(known) for one in classes):
            below = all(one.is_below_knee for one in classes)
            return measured(known, quantity, is_below_knee=below, points=points_of(places))
        return as_stated(known)


def _together(each: Sequence[ClassDoubts]) -> ClassDoubts:
    """Return the doubts of the results of several classes together: those of all."""
    first, *others = each
    return replace(
        first,
        saturation_reasons=tuple(
            dict.fromkeys(why for one in each for why in one.saturation_reasons)
        ),
        rests_on=first.rests_on.union(*(one.rests_on for one in others)),
        calls_rarely=any(one.calls_rarely for one in each),
        many_wait=any(one.many_wait for one in each),
        is_below_knee=all(one.is_below_knee for one in each),
        services_apart=_furthest([one.services_apart for one in each]),
    )


def _furthest(apart: Sequence[float | None]) -> float | None:
    known = [one for one in apart if one is not None]
    return max(known) if len(known) == len(apart) else None


def at_station(checks: Checks, each: Sequence[ClassDoubts]) -> ClassDoubts:
    """Return the doubts of what is known of a station itself, on which some classes rest."""
    if not each:
        return ClassDoubts(checks=checks)
    found = _together(each)
    return ClassDoubts(
        checks=checks,
        rests_on=found.rests_on,
        is_like_drawn=all(one.is_like_drawn for one in each),
        many_wait=found.many_wait,
        is_below_knee=found.is_below_knee,
        points=_highest([one.points for one in each]),
    )


def _highest(each: Sequence[Points]) -> Points:
    """Return how full the fullest is at each end of the range; none where that is not known."""
    if not all(each) or len({len(points) for points in each}) > 1:
        return ()
    utilization = ErrorAxis.UTILIZATION
    return tuple(
        {utilization: max(one[utilization] for one in ends)} for ends in zip(*each, strict=True)
    )


NO_GATE = Gate()
