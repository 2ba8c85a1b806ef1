"""The premises of a network, checked: where each fails, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from qps.compiler.lower.label_doubts import Checks, ClassDoubts, Gate
from qps.compiler.lower.labels.drawn_range import (
    calls_rarely,
    is_past_knee,
    many_wait,
    places_met,
    unlike_stations,
)
from qps.compiler.lower.labels.premises import (
    HELD_UP,
    OF_CLASSES,
    OF_STATIONS,
    Fails,
    From,
    Numbers,
    Premise,
    Walked,
)
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.network.classes import Class
from qps.compiler.network.network import Network
from qps.compiler.quantities.certainty import Reason


def gate_of(
    network: Network, expressions: ExpressionLowering, unfilled: Collection[str] = ()
) -> Gate:
    """Return what the premises on a network leave in doubt, of which some pools are never full."""
    walked = Walked(network, frozenset(unfilled))
    checking = _Checking(walked, Numbers(expressions))
    checks = checking.checks()
    return Gate(
        checks=checks,
        classes={name: checking.doubts_of(one, checks) for name, one in network.classes.items()},
        kinds={one.stream: _kinds(one, network) for one in network.classes.values() if one.values},
        unlike=unlike_stations(walked, checking.numbers),
    )


def _kinds(of: Class, network: Network) -> tuple[str, ...]:
    return tuple(name for name, one in network.classes.items() if one.stream == of.stream)


class _Checking(Struct, frozen=True):
    """Checks the premises of one network."""

    walked: Walked
    numbers: Numbers

    def checks(self) -> Checks:
        """Return where each premise of the table fails: at stations, and for classes."""
        network = self.walked.network
        stations = [one for one in network.stations.values() if one.waits]
        fails: dict[str, dict[str, tuple[Reason, ...]]] = {}
        for premise, of_station in OF_STATIONS.items():
            found = {s.name: self._why(of_station(self.walked, s, self.numbers)) for s in stations}
            fails[premise] = {name: why for name, why in found.items() if why}
        for premise, of_class in OF_CLASSES.items():
            found = dict[str, tuple[Reason, ...]]()
            for name, one in network.classes.items():
                found[name] = why = self._why(of_class(self.walked, one, self.numbers))
                found[one.stream] = tuple(dict.fromkeys((*found.get(one.stream, ()), *why)))
            fails[premise] = {name: why for name, why in found.items() if why}
        return Checks(fails={premise: found for premise, found in fails.items() if found})

    def _why(self, premises: Iterable[Premise]) -> tuple[Reason, ...]:
        """Return why premises fail, each reason once."""
        found: dict[Reason, None] = {}
        for one in premises:
            if isinstance(one, Fails):
                found[one.why] = None
            elif isinstance(one, From) and self.numbers.is_above_zero(one.beyond):
                found[one.fails.why] = None
        return tuple(found)

    def doubts_of(self, of: Class, checks: Checks) -> ClassDoubts:
        """Return the doubts of what is told of a class."""
        component = self.walked.component(of)
        held_up = (why for premise in HELD_UP for why in checks.of(premise, of.name))
        return ClassDoubts(
            checks=checks,
            held_up=tuple(dict.fromkeys(held_up)),
            rests_on=places_met(self.walked, of, component),
            calls_rarely=calls_rarely(self.walked, of, self.numbers),
            many_wait=many_wait(component, self.numbers),
            is_below_knee=not is_past_knee(self.walked, component, self.numbers),
        )
