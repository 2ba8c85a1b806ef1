"""Kinds of users who wait for their answer: each kind is a class of its own.

Who thinks less asks more often, so that no mean over users tells what all ask for. So a closed
stream whose numbers differ by kinds is taken apart, with a rate, a think time and demands of each
kind, and its measures are put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed import ClosedStream
from qps.compiler.lower.latency_parts import LatencyPart
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.mixtures import Mixed
from qps.compiler.lower.queueing import Visit
from qps.compiler.lower.stream_measures import StreamMeasures
from qps.compiler.lower.traffic_parts import ClassTraffic, ClosedSource, StationTraffic, Traffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.formulas import ONE, Formula, symbol, total
from qps.engine.substitution import Substitution

Change = Callable[[Formula], Formula]


class _Kind(Struct, frozen=True, kw_only=True):
    """A kind of users of a stream: its name, its share of all, its rate, and its numbers."""

    name: str
    share: Formula
    rate: Formula
    change: Substitution

    def of_all(self, formula: Formula) -> Formula:
        """Return what the kind adds to what all kinds come to."""
        return self.share * self.change(formula)

    def visit(self, visit: Visit) -> Visit:
        """Return a visit of the stream as that of this kind."""
        return replace(
            visit.changed(self.change),
            of=(self.name, visit.of[1]),
            rate=self.of_all(visit.rate),
            flows=self.of_all(visit.flows),
        )


def with_kinds_apart(traffic: Traffic, expressions: ExpressionLowering) -> Traffic:
    """Return traffic in which each kind of users of a closed class is a class where these differ.

    What stations are asked for is that of kinds then.
    """
    stations, apart = traffic.stations, {}
    for name, one in traffic.classes.items():
        if one.closed is None:
            continue
        source = one.closed
        kinds = list(_kinds_of(one, source, stations, expressions))
        if kinds:
            apart[name] = tuple(_of_kind(one, source, kind) for kind in kinds)
            stations = {
                at: _of_kinds(asked, name, source.symbol, kinds) for at, asked in stations.items()
            }
    return replace(traffic, stations=stations, kinds=apart)


def _kinds_of(
    result: ClassTraffic,
    closed: ClosedSource,
    stations: Mapping[str, StationTraffic],
    expressions: ExpressionLowering,
) -> Iterator[_Kind]:
    """Yield the kinds of users that a closed stream has; none where nothing differs by them."""
    formulas = [one.held for one in result.spent]
    formulas += [closed.think, closed.flows, closed.amount, result.rate]
    formulas += [part.value for part in result.latency]
    formulas += [visit.service for visit in result.visits.values()]
    parts = [part for asked in stations.values() for part in asked.parts.values()]
    formulas += [load for load in chain(*parts) if closed.symbol in load.symbols]
    mixtures = expressions.mixtures
    seen = {one for formula in formulas for one in formula.symbols if one in mixtures}
    mixed = sorted((mixtures[one] for one in seen), key=lambda one: one.symbol.name)
    groups: dict[str, list[Mixed]] = {}
    for one in mixed:
        if one.of_users:
            groups.setdefault(one.of, []).append(one)
    if not groups:
        return
    for names, share, values in _chosen(list(groups.values())):
        told = f"{result.name} ({', '.join(names)})"
        rate = symbol(f"{told} each second")
        change = Substitution(values | {closed.symbol: rate})
        yield _Kind(name=told, share=share, rate=rate, change=change)


def _chosen(
    groups: Sequence[Sequence[Mixed]],
) -> Iterator[tuple[tuple[str, ...], Formula, dict[Formula, Formula]]]:
    """Yield each choice of a kind of every group: names, their share, and their values."""
    if not groups:
        yield (), ONE, {}
        return
    first, *others = groups
    for at, name in enumerate(first[0].kinds):
        share = first[0].each[at][0]
        own = {mixed.symbol: mixed.each[at][1] for mixed in first}
        for names, part, values in _chosen(others):
            yield (name, *names), share * part, own | values


def _of_kind(result: ClassTraffic, source: ClosedSource, kind: _Kind) -> ClassTraffic:
    change = kind.change
    return replace(
        result.changed(change),
        name=kind.name,
        visits={at: kind.visit(visit) for at, visit in result.visits.items()},
        uncounted=dict(result.uncounted),
        unsaid=dict(result.unsaid),
        unbounded=dict(result.unbounded),
        closed=ClosedSource(
            symbol=kind.rate,
            flows=kind.of_all(source.flows),
            amount=change(source.amount),
            think=change(source.think),
        ),
        spent=[replace(one, held=change(one.held)) for one in result.spent],
        held={name: change(flows) for name, flows in result.held.items()},
    )


def _of_kinds(
    asked: StationTraffic, stream: str, rate: Formula, kinds: Sequence[_Kind]
) -> StationTraffic:
    """Return what is asked of a station where each kind of a stream asks for it."""

    def of_all(formula: Formula) -> Formula:
        if rate not in formula.symbols:
            return formula
        return total(kind.of_all(formula) for kind in kinds)

    def of_each(visit: Visit) -> list[Visit]:
        return [kind.visit(visit) for kind in kinds] if visit.of[0] == stream else [visit]

    return replace(
        asked,
        parts={by: [of_all(load) for load in loads] for by, loads in asked.parts.items()},
        carried=[of_all(one) for one in asked.carried],
        visits=[one for visit in asked.visits for one in of_each(visit)],
    )


# -- what all kinds come to ----------------------------------------------------------------


def put_together(
    name: str, kinds: Sequence[tuple[ClosedStream, StreamMeasures]], rate_known: Certainty
) -> StreamMeasures:
    """Return what the users of a stream see, whose kinds see this.

    A mean over requests weighs kinds by how often they ask, one of each flow by how many they are.
    """
    first = kinds[0][1]
    if len(kinds) == 1:
        return replace(first, rate_known=rate_known)
    asked = [closed.throughput for closed, _ in kinds]
    flows = [closed.flows for closed, _ in kinds]
    all_asked, all_flows = total(asked), total(flows)

    def mean(values: Sequence[Formula]) -> Formula:
        if len(set(values)) == 1:
            return values[0]
        weighed = [rate * value for rate, value in zip(asked, values, strict=True)]
        return total(weighed) / all_asked

    def of_a_flow(values: Sequence[Formula]) -> Formula:
        weighed = [count * value for count, value in zip(flows, values, strict=True)]
        return total(weighed) / all_flows

    each = [measured for _, measured in kinds]
    return replace(
        first,
        name=name,
        latency=_stages([one.latency for one in each], mean),
        jitter=tuple(
            replace(parts[0], value=mean([part.value for part in parts]))
            for parts in zip(*(one.jitter for one in each), strict=True)
        ),
        buffer=mean([one.buffer for one in each]),
        losses=tuple(
            replace(parts[0], value=mean([part.value for part in parts]))
            for parts in zip(*(one.losses for one in each), strict=True)
        ),
        rate=of_a_flow([one.rate for one in each]),
        throughput=of_a_flow([one.throughput for one in each]),
        buffer_certainty=together(*(one.buffer_certainty for one in each)),
        rate_known=rate_known,
        late_certainty=together(*(one.late_certainty for one in each)),
        cycle_certainty=together(*(one.cycle_certainty for one in each)),
        kinds=tuple(each),
    )


def _stages(
    each: Sequence[Sequence[LatencyPart]], mean: Callable[[Sequence[Formula]], Formula]
) -> tuple[LatencyPart, ...]:
    """Return the stages of all kinds together, which are alike but for their numbers."""
    return tuple(_stage(parts, mean) for parts in zip(*each, strict=True))


def _stage(
    parts: Sequence[LatencyPart], mean: Callable[[Sequence[Formula]], Formula]
) -> LatencyPart:
    first = parts[0]
    value = mean([part.value for part in parts])
    if len({part.calls for part in parts}) == 1:
        calls = first.calls
    else:
        calls = tuple(
            replace(
                made[0],
                times=mean([call.times for call in made]),
                reached=mean([call.reached for call in made]),
            )
            for made in zip(*(part.calls for part in parts), strict=True)
        )
    single = first.single
    if single is not None:
        single = value / calls[-1].reached
    branches = tuple(
        _stages([part.branches[at] for part in parts], mean) for at in range(len(first.branches))
    )
    return replace(first, value=value, calls=calls, single=single, branches=branches)
