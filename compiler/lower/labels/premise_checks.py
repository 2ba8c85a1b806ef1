"""The premises of a network, checked: where each fails, and why."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler.lower.closed_networks.closed_stream_solution import Closed
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.label_doubts import Checks, ClassDoubts, Gate
from qps.compiler.lower.labels.labeled_network import Fails, NetworkPassages, NumberFacts
from qps.compiler.lower.labels.pool_premises import OF_POOLS
from qps.compiler.lower.labels.premises import (
    OF_CLASSES,
    OF_PERIODS,
    OF_STATIONS,
    SATURATION_PREMISES,
)
from qps.compiler.lower.labels.sampled_range import (
    calls_rarely,
    is_past_knee,
    many_wait,
    services_apart,
    unlike_stations,
    visited_places,
)
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.traffic.station_queues import shaped_by
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic
from qps.compiler.network.classes import Class
from qps.compiler.network.network import Network
from qps.compiler.quantities.certainty import CertaintyKind, Reason
from qps.compiler.quantities.methods import METHODS

_THEOREMS = [one for one in METHODS.values() if one.kind is CertaintyKind.EXACT]
_NEEDED = tuple(dict.fromkeys(premise for one in _THEOREMS for premise in one.premises))
"""The premises of all theorems; others are looked at where they are requested."""


def gate_of(
    network: Network,
    traffic: NetworkTraffic,
    stations: Mapping[str, Queue],
    closed: Closed,
    expressions: ExpressionLowering,
) -> Gate:
    """Return what the premises on a network leave in doubt."""
    walked = NetworkPassages(
        network=network,
        unfilled=closed.unfilled,
        queues=stations,
        shaped=shaped_by(stations, traffic.stations),
        traffic=traffic.classes,
        closed=closed.streams,
    )
    checking = Checking(walked, NumberFacts(expressions))
    checks = checking.checks()
    return Gate(
        checks=checks,
        classes={name: checking.doubts_of(one, checks) for name, one in network.classes.items()},
        kinds={one.stream: _kinds(one, network) for one in network.classes.values() if one.values},
        unlike=unlike_stations(walked, checking.numbers),
    )


def _kinds(of: Class, network: Network) -> tuple[str, ...]:
    return tuple(name for name, one in network.classes.items() if one.stream == of.stream)


class Checking(Struct, frozen=True):
    """Checks the premises of one network."""

    passages: NetworkPassages
    numbers: NumberFacts

    def checks(self) -> Checks:
        """Return where premises fail that a theorem needs: at stations, and for classes."""
        fails: dict[str, dict[str, tuple[Reason, ...]]] = {}
        for premise in _NEEDED:
            found = dict[str, tuple[Reason, ...]]()
            for at in self._places_of(premise):
                why = self.why(premise, at)
                for name in self._names(at):
                    found[name] = tuple(dict.fromkeys((*found.get(name, ()), *why)))
            fails[premise] = {at: why for at, why in found.items() if why}
        return Checks(fails={premise: found for premise, found in fails.items() if found})

    def _names(self, at: str) -> list[str]:
        """Return by which names what a theorem is used for is known: a class by its stream, too."""
        of = self.passages.network.classes.get(at)
        return [at] if of is None else list(dict.fromkeys((at, of.stream)))

    def _places_of(self, premise: str) -> list[str]:
        """Return where a premise is requested: at stations of a discipline that rests on it."""
        if premise in OF_CLASSES:
            return list(self.passages.network.classes)
        if premise in OF_POOLS:
            return self._pools()
        visited = [(name, one.law) for name, one in self.passages.queues.items() if one.visits]
        if premise in OF_PERIODS:
            return [name for name, law in visited if law.rests_on_periods]
        return [name for name, _ in visited]

    def _pools(self) -> list[str]:
        """Return the pools that are waited for."""
        pools = self.passages.network.pools
        return [name for name, pool in pools.items() if not pool.is_unmodeled]

    def why(self, premise: str, at: str) -> tuple[Reason, ...]:
        """Return why a premise fails at a station or for a class, each reason once."""
        network, numbers = self.passages.network, self.numbers
        found: dict[Reason, None] = {}
        if premise in OF_CLASSES:
            failing = OF_CLASSES[premise](self.passages, network.classes[at], numbers)
        elif premise in OF_POOLS:
            failing = OF_POOLS[premise](self.passages, network.pools[at], numbers)
        else:
            failing = OF_STATIONS[premise](self.passages, network.stations[at], numbers)
        for one in failing:
            if isinstance(one, Fails):
                found[one.why] = None
            elif numbers.is_above_zero(one.beyond):
                found[one.fails.why] = None
        return tuple(found)

    def doubts_of(self, of: Class, checks: Checks) -> ClassDoubts:
        """Return the doubts of the results of a class."""
        component = self.passages.component(of)
        held_up = (why for premise in SATURATION_PREMISES for why in checks.of(premise, of.name))
        return ClassDoubts(
            checks=checks,
            saturation_reasons=tuple(dict.fromkeys(held_up)),
            rests_on=visited_places(self.passages, of, component),
            calls_rarely=calls_rarely(self.passages, of, self.numbers),
            many_wait=many_wait(component, self.numbers),
            is_below_knee=not is_past_knee(self.passages, component, self.numbers),
            services_apart=services_apart(self.passages, of, component),
        )
