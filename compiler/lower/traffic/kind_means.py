"""What all kinds of users and items come to together: traffic counted kind by kind."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice

from msgspec.structs import replace

from qps.compiler.lower.expressions.item_kinds import kind_by_kind
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.traffic_parts import (
    ClassTraffic,
    KindTraffic,
    NetworkTraffic,
    StationTraffic,
)
from qps.compiler.lower.traffic.transport_recovery import averaged_losses
from qps.engine.expressions.formulas import Formula, apply, total

_MOST_KINDS = 12
"""Of more kinds no law of all together is made: each has a sum of stages."""


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
        self._holding_at = {(hold.of, hold.stage) for hold in holds}
        self._holding = {of for of, _ in self._holding_at}

    def of_class(self, one: ClassTraffic) -> ClassTraffic:
        """Return what a class comes to, over all items."""
        over_arriving = partial(self._by, weight=one.arriving)
        over_sent = partial(self._by, weight=one.sent)
        found = replace(
            one,
            kinds=self._kinds_of(one),
            latency=[part.of_kinds(self._most, over_arriving) for part in one.latency],
            losses=averaged_losses(one.losses, over_sent),
            queues=[replace(part, value=over_arriving(part.value)) for part in one.queues],
            passes={name: over_sent(share) for name, share in one.passes.items()},
            visits={at: self._visit(one, at, visit) for at, visit in one.visits.items()},
        )
        return found.changed(self._mean)

    def _kinds_of(self, one: ClassTraffic) -> tuple[KindTraffic, ...]:
        """Return what each kind of a class comes to; nothing where none differ, or too many."""
        sized = {at: one.visits[at] for at in one.visits if (one.name, at) not in self._holding_at}
        sizes = [size for visit in sized.values() for size in (visit.service, visit.batch)]
        formulas = dict.fromkeys((one.arriving, *sizes))

        def noted(formula: Formula) -> Formula:
            formulas[formula] = None
            return formula

        for part in one.latency:
            part.changed(noted)
        if not any(self._most(each) for each in formulas if each is not one.arriving):
            return ()
        if any(visit.others is not None for visit in sized.values()):
            return ()  # what comes together is known over all kinds
        each = list(islice(kind_by_kind(formulas, self._mixtures), _MOST_KINDS + 1))
        if len(each) > _MOST_KINDS:
            return ()
        whole = total(share * arriving for share, (arriving, *_) in each)
        return tuple(
            _kind(
                one,
                sized,
                apply("mean", share * values[0], whole),
                dict(zip(formulas, values, strict=True)),
            )
            for share, values in each
        )

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


def _kind(
    one: ClassTraffic,
    sized: Mapping[int, QueueVisit],
    weight: Formula,
    values: Mapping[Formula, Formula],
) -> KindTraffic:
    """Return what a kind comes to, for which the formulas of its class have some values."""
    visits = {
        at: replace(visit, service=values[visit.service], batch=values[visit.batch])
        for at, visit in sized.items()
    }
    latency = [part.changed(values.__getitem__) for part in one.latency]
    return KindTraffic(weight=weight, latency=latency, visits=visits)
