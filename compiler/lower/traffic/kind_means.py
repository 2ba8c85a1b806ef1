"""What all kinds of users and items come to together: traffic counted kind by kind."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from qps.compiler.lower.expressions.item_kinds import kind_by_kind
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, NetworkTraffic, StationTraffic
from qps.compiler.lower.traffic.transport_recovery import averaged_losses
from qps.engine.expressions.formulas import Formula


def over_all_kinds(traffic: NetworkTraffic, expressions: ExpressionLowering) -> NetworkTraffic:
    """Return traffic counted kind by kind, where parameters have values for each kind.

    What an item meets is a mean over items, so that who sends more counts more: of those that
    arrive, or of all that are sent where it says what is lost. A rate is that of a user, on
    average over users.
    """
    if not expressions.mixtures:
        return traffic
    means = _Means(traffic, expressions)
    stations = {name: means.of_station(station) for name, station in traffic.stations.items()}
    counted = {
        of: {item: expressions.averaged(rate) for item, rate in rates.items()}
        for of, rates in traffic.counted.items()
    }
    return replace(traffic.of_each(means.of_class), stations=stations, counted=counted)


class _Means:
    """The means over all kinds of what some traffic comes to."""

    def __init__(self, traffic: NetworkTraffic, expressions: ExpressionLowering) -> None:
        self._mean, self._by = expressions.averaged, expressions.averaged_by
        self._most, self._mixtures = expressions.largest, expressions.mixtures
        self._of_items = {one for one, of in self._mixtures.items() if not of.of_users}
        holds = (hold for station in traffic.stations.values() for hold in station.holds)
        self._holding = {hold.of for hold in holds}

    def of_class(self, one: ClassTraffic) -> ClassTraffic:
        """Return what a class comes to, over all items."""
        over_arriving = partial(self._by, weight=one.arriving)
        over_sent = partial(self._by, weight=one.sent)
        found = replace(
            one,
            latency=[part.of_kinds(self._most, over_arriving) for part in one.latency],
            losses=averaged_losses(one.losses, over_sent),
            queues=[replace(part, value=over_arriving(part.value)) for part in one.queues],
            passes={name: over_sent(share) for name, share in one.passes.items()},
            visits={at: self._visit(one, at, visit) for at, visit in one.visits.items()},
        )
        return found.changed(self._mean)

    def _visit(self, one: ClassTraffic, at: int, visit: QueueVisit) -> QueueVisit:
        passing = one.arriving * one.latency[at].times
        service, batch = self._by(visit.service, passing), self._by(visit.batch, passing)
        longest, widest = self._most(visit.service), self._most(visit.batch)
        most = (longest or service, widest or batch) if longest or widest else None
        others = visit.others and visit.others.changed(lambda one: self._by(one, passing))
        own = replace(visit, service=service, batch=batch, others=others, most=most)
        if one.name not in self._holding:
            return own
        # How long places are held is that of all kinds together.
        return replace(own, rate=self._mean(visit.rate), flows=self._mean(visit.flows))

    def of_station(self, traffic: StationTraffic) -> StationTraffic:
        """Return what is demanded of a station on average, by the visits of each kind."""
        mean = self._mean
        return replace(
            traffic,
            parts={by: [mean(load) for load in loads] for by, loads in traffic.parts.items()},
            servers=mean(traffic.servers),
            count=mean(traffic.count),
            background=[mean(load) for load in traffic.background],
            throughputs=[mean(rate) for rate in traffic.throughputs],
            holds=[
                replace(
                    hold,
                    visit=replace(
                        hold.visit, rate=mean(hold.visit.rate), flows=mean(hold.visit.flows)
                    ),
                    amount=self._by(hold.amount, hold.visit.rate),
                )
                for hold in traffic.holds
            ],
            visits=[one for visit in traffic.visits for one in self._of_each_kind(visit)],
        )

    def _of_each_kind(self, visit: QueueVisit) -> list[QueueVisit]:
        formulas = () if visit.others is None else visit.others.formulas
        of_visit = visit.rate, visit.flows, visit.service, visit.batch, *formulas
        sizes: frozenset[Formula] = visit.service.symbols | visit.batch.symbols
        is_varied = not self._of_items.isdisjoint(sizes)
        return [
            replace(
                visit,
                rate=share * rate,
                flows=share * flows,
                service=service,
                batch=batch,
                others=visit.others and visit.others.with_formulas(others),
                is_varied=is_varied,
            )
            for share, (rate, flows, service, batch, *others) in kind_by_kind(
                of_visit, self._mixtures
            )
        ]
