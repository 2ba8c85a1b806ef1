"""The gate of labels: what is told of a number is lowered where a premise of its method fails.

It never raises a label, and it leaves bounds. What is exact needs all premises; a stated error was
measured, and needs only that nothing holds up whole networks unseen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct

from qps.compiler.lower.label_doubts import NO_DOUBT, ClassDoubts, Doubt, Gate
from qps.compiler.lower.labels.drawn_range import (
    calls_rarely,
    is_past_knee,
    many_wait,
    places_met,
    unlike_stations,
)
from qps.compiler.lower.labels.premises import (
    Fails,
    From,
    Numbers,
    Premise,
    Walked,
    at_most_one_chance,
    fits,
    free_choice,
    one_path,
    poisson,
    uniform,
    unlimited,
    whole,
)
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Lose
from qps.compiler.network.network import Network
from qps.compiler.network.stations_and_pools import Station
from qps.compiler.quantities.certainty import Reason


def gate_of(
    network: Network, expressions: ExpressionLowering, unfilled: Collection[str] = ()
) -> Gate:
    """Return what the premises on a network leave in doubt, of which some pools are never full."""
    walked = Walked(network)
    judging = _Judging(walked, Numbers(expressions), frozenset(unfilled))
    losing = {
        name: Doubt(exact=judging.failing(judging.of_loss(station)))
        for name, station in network.stations.items()
        if station.queueing is not None and station.queueing.traits.loses
    }
    classes = {name: judging.doubts_of(one, losing) for name, one in network.classes.items()}
    return Gate(
        classes=classes,
        losing={name: one for name, one in losing.items() if one != NO_DOUBT},
        unlike=unlike_stations(walked, judging.numbers),
    )


class _Judging(Struct, frozen=True):
    """Judges the premises of one network."""

    walked: Walked
    numbers: Numbers
    unfilled: frozenset[str]

    def failing(self, premises: Iterable[Premise]) -> tuple[Reason, ...]:
        """Return why premises fail, each reason once."""
        found: dict[Reason, None] = {}
        for one in premises:
            if isinstance(one, Fails):
                found[one.why] = None
            elif isinstance(one, From) and self.numbers.is_above_zero(one.beyond):
                found[one.fails.why] = None
        return tuple(found)

    def doubts_of(self, of: Class, losing: Mapping[str, Doubt]) -> ClassDoubts:
        """Return the doubts of what is told of a class."""
        component = self.walked.component(of)
        held_up = self.failing(self._of_component(component, of))
        rates = self._of_rates(component)
        lost = tuple(reason for name in self._losing_on_way(of) for reason in losing[name].exact)
        mean = _each_once(self._of_waits(of), rates)
        return ClassDoubts(
            mean=Doubt(mean, held_up),
            quantile=Doubt(_each_once(mean, self.failing(self._of_quantiles(of))), held_up),
            loss=Doubt(lost),
            rate=Doubt(_each_once(rates, lost), held_up) if of.is_closed else Doubt(lost),
            rests_on=places_met(self.walked, of, component),
            calls_rarely=calls_rarely(self.walked, of, self.numbers),
            many_wait=many_wait(component, self.numbers),
            is_below_knee=not is_past_knee(self.walked, component, self.numbers),
        )

    def _of_waits(self, of: Class) -> tuple[Reason, ...]:
        """Return why the mean waits of a class are not exact."""
        stations = [one for one in self.walked.stations_of(of) if one.waits]
        return self.failing(premise for one in stations for premise in self._of_station(one))

    def _of_station(self, station: Station) -> Iterator[Premise]:
        queueing = station.queueing
        yield poisson(self.walked, station)
        yield uniform(self.walked, station, self.numbers)
        if queueing is not None and not queueing.traits.is_insensitive:
            yield whole(self.walked, station, self.numbers)

    def _of_rates(self, component: Iterable[Class]) -> tuple[Reason, ...]:
        """Return why the rates of closed classes are not exact."""
        stations = {one.name: one for of in component for one in self.walked.stations_of(of)}
        return self.failing(
            uniform(self.walked, one, self.numbers) for one in stations.values() if one.waits
        )

    def _of_component(self, component: list[Class], of: Class) -> Iterator[Premise]:
        if component != [of]:  # of what a class meets alone its label says so already
            yield from unlimited(self.walked, component)
        yield from free_choice(self.walked, component, self.unfilled)

    def _of_quantiles(self, of: Class) -> Iterator[Premise]:
        yield one_path(self.walked, of, self.numbers)
        yield at_most_one_chance(self.walked, of, self.numbers)

    def of_loss(self, station: Station) -> Iterator[Premise]:
        """Yield the premises of the share that finds no room at a station: none where all do."""
        if fits(self.walked, station, self.numbers):
            return
        yield poisson(self.walked, station)
        yield whole(self.walked, station, self.numbers)

    def _losing_on_way(self, of: Class) -> list[str]:
        nodes = (one.node for one in self.walked.passages[of.name])
        return [n.station for n in nodes if isinstance(n, Lose) and n.station is not None]


def _each_once(*reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(reason for each in reasons for reason in each))
