"""Pools of a lowered model: how much is held, by Little's law, and how long it is waited for.

What is held is held through all that stands in between, waits included: the waits for queues, and
for other pools, which are settled first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.disciplines.pool import Pool
from qps.compiler.lower.elastic import ElasticParameter
from qps.compiler.lower.flows import Demand, StreamResult
from qps.compiler.lower.held import Hold
from qps.compiler.lower.latency import LatencyPart, every, in_line
from qps.compiler.lower.load_graph import ResourceLoad
from qps.compiler.lower.lower_queues import PlacedQueue
from qps.compiler.lower.queueing import Queue, Visit
from qps.compiler.quantities.certainty import Certainty, together, upper_bound
from qps.engine.formulas import ONE, ZERO, Formula, apply, maximum, square_root, total
from qps.engine.substitution import Substitution

_TRAITS = ir.Traits(has_equal_servers=True)
_LAW = Pool()


class SettledPools(Struct, frozen=True):
    """Loads and queues, those of pools with them."""

    resources: dict[str, ResourceLoad]
    queues: dict[str, PlacedQueue]


class _Held(Struct, frozen=True):
    """A hold with how often it begins, how long it lasts, its variance, and how that is known."""

    hold: Hold
    rate: Formula
    mean: Formula
    variance: Formula
    known: Certainty

    @property
    def amount(self) -> Formula:
        """How much is held on average."""
        return self.rate * self.mean * self.hold.amount


def settled_pools(
    demands: Mapping[str, Demand],
    results: Sequence[StreamResult],
    resources: Mapping[str, ResourceLoad],
    queues: Mapping[str, PlacedQueue],
    put_in: Substitution,
) -> SettledPools:
    """Return loads and queues with those of pools; `put_in` is what elastic parameters come to."""
    found = SettledPools(dict(resources), dict(queues))
    by_name = {result.name: result for result in results}
    for name in _inner_first(demands, by_name):
        demand = demands[name]
        held = [_held(hold, by_name[hold.stream], found, put_in) for hold in demand.holds]
        load = found.resources[name]
        own = load.load  # what is kept for good
        parts = dict(load.parts)
        for one in held:
            by = one.hold.stream
            parts[by] = parts.get(by, ZERO) + one.amount / demand.capacity
        free = ONE - own
        filled = total(one.amount for one in held) / demand.capacity
        known = together(load.known, *(one.known for one in held))
        found.resources[name] = replace(
            load,
            load=own + filled,
            unsettled=own + filled,
            parts=parts,
            known=known,
        )
        places = free * demand.capacity / _mean([one.hold.amount for one in held], held)
        load_of_free = filled if own is ZERO else filled / free
        queue = _queue(name, held, places, load_of_free)
        found.queues[name] = PlacedQueue(queue, put_in)
        for visit, one in zip(queue.visits, held, strict=True):
            if one.hold.stage is not None:
                by_name[one.hold.stream].visits[one.hold.stage] = visit
    return found


def _queue(name: str, held: Sequence[_Held], places: Formula, load: Formula) -> Queue:
    visits = tuple(
        replace(one.hold.visit, rate=one.rate, service=one.mean, batch=ONE) for one in held
    )
    mean = _mean([one.mean for one in held], held)
    square = _mean([one.variance + one.mean**2 for one in held], held)
    variance = maximum(ZERO, square / mean**2 - 1)
    variation = ZERO if variance is ZERO else square_root(variance)
    return Queue(
        resource=name,
        law=_LAW,
        traits=_TRAITS,
        variation=variation,
        servers=places,
        load=load,
        visits=visits,
        background=ZERO,
    )


def _mean(values: Sequence[Formula], held: Sequence[_Held]) -> Formula:
    """Return the mean over all that take some of a pool."""
    if len(set(values)) == 1:
        return values[0]
    rates = [one.rate for one in held]
    weighed = [rate * value for rate, value in zip(rates, values, strict=True)]
    return apply("mean", total(weighed), total(rates))


# -- how long it is held -------------------------------------------------------------------


def _held(hold: Hold, result: StreamResult, found: SettledPools, put_in: Substitution) -> _Held:
    stages = [_stage(index, result, found.queues) for index in range(hold.begins, hold.ends)]
    line = in_line(stages, hold.depth)
    mean, variance = total(part.value for part in line), total(_variance(part) for part in line)
    if hold.depth and stages:
        around = stages[0].calls[hold.depth - 1]
        if around.reached is not ONE:
            mean = apply("mean", mean, around.reached)
            variance = apply("mean", variance, around.reached)
    return _Held(hold, put_in(hold.visit.rate), mean, variance, _known(hold, line))


def _stage(index: int, result: StreamResult, queues: Mapping[str, PlacedQueue]) -> LatencyPart:
    part, visit = result.latency[index], result.visits.get(index)
    return part if visit is None else queues[visit.resource].stage(part, visit)


def _variance(part: LatencyPart) -> Formula:
    """Return the variance of a stage and of the work that is waited for, as if independent."""
    if part.branches:
        of_each = [total(_variance(one) for one in branch) for branch in part.branches]
        return maximum(*of_each)
    if part.queue is None or part.visit is None:
        return ZERO
    return part.times * _variance_of(part.queue, part.visit, part.once)


def _variance_of(queue: Queue, visit: Visit, wait: Formula) -> Formula:
    """Return the variance of a wait and of the service behind it.

    Those who wait at all wait exponentially long: exact for exponential service (Erlang).
    """
    tail = apply("waiting", queue.residual / queue.servers, queue.load)
    return wait * (2 * tail - wait) + (visit.service * queue.variation) ** 2


def _known(hold: Hold, line: Sequence[LatencyPart]) -> Certainty:
    """Return how it is known how long something is held."""
    known = [part.certainty for part in line]
    waited = dict.fromkeys(p.queue.resource for p in every(line) if p.queue is not None)
    if waited:
        told = " and ".join(f"`{name}`" for name in waited)
        known.append(
            upper_bound(f"what holds `{hold.pool}` waits for {told} as if any number could hold it")
        )
    if hold.is_lossy:
        known.append(upper_bound(f"what is lost counts as if it held `{hold.pool}` to the end"))
    return together(*known)


def refuse_elastic(
    demands: Mapping[str, Demand],
    results: Sequence[StreamResult],
    parameters: Iterable[ElasticParameter],
) -> None:
    """Refuse an elastic parameter on which it rests how much of a pool is held.

    It takes what is left where loads are in proportion to it, which that of a pool is not.
    """
    by_name = {result.name: result for result in results}
    for parameter in parameters:
        for name, demand in demands.items():
            for hold in demand.holds:
                if _rests_on(parameter.symbol, hold, by_name[hold.stream], demands):
                    raise QpsError.single(
                        codes.NO_ANSWER,
                        parameter.span,
                        f"`{parameter.name}` takes what is left, and it rests on it how long "
                        f"`{name}` is held: how much of a pool is left then is not told",
                        secondary=[Label(hold.span, "taken here")],
                        hint="give the parameter a value, and let `qps solve --for "
                        f"{parameter.name}` find the largest",
                    )


def _rests_on(
    symbol: Formula, hold: Hold, result: StreamResult, demands: Mapping[str, Demand]
) -> bool:
    resting = [hold.visit.rate, *(part.value for part in result.latency[hold.begins : hold.ends])]
    for index, visit in result.visits.items():
        if hold.begins <= index < hold.ends:
            parts = demands[visit.resource].parts
            resting += [load for loads in parts.values() for load in loads]
    return any(symbol in formula.symbols for formula in resting)


# -- the order of pools --------------------------------------------------------------------


def _inner_first(demands: Mapping[str, Demand], results: Mapping[str, StreamResult]) -> list[str]:
    """Return the pools, each behind those that are waited for while it is held."""
    names = [name for name, demand in demands.items() if demand.holds]
    inside = {name: _inside(demands[name], results, names) for name in names}
    ordered: list[str] = []
    while len(ordered) < len(names):
        free = [n for n in names if n not in ordered and inside[n].keys() <= set(ordered)]
        if not free:
            _refuse_circle([name for name in names if name not in ordered], inside)
        ordered += free
    return ordered


def _inside(
    demand: Demand, results: Mapping[str, StreamResult], names: Sequence[str]
) -> dict[str, Hold]:
    """Return the pools that are waited for while one is held, with who does."""
    return {
        visit.resource: hold
        for hold in demand.holds
        for index, visit in results[hold.stream].visits.items()
        if hold.begins <= index < hold.ends and visit.resource in names
    }


def _refuse_circle(left: Sequence[str], inside: Mapping[str, Mapping[str, Hold]]) -> None:
    """Refuse pools of which each is waited for while the other is held: they may never end."""
    circle = [left[0]]
    while True:
        following = next(name for name in inside[circle[-1]] if name in left)
        if following in circle:
            circle = circle[circle.index(following) :]
            break
        circle.append(following)
    pairs = [(name, circle[(k + 1) % len(circle)]) for k, name in enumerate(circle)]
    first, *others = [inside[name][behind] for name, behind in pairs]
    raise QpsError.single(
        codes.NO_ANSWER,
        first.span,
        f"`{pairs[0][0]}` is held here while `{pairs[0][1]}` is waited for, and elsewhere it is "
        "the other way round: they may wait for each other for ever",
        secondary=[
            Label(hold.span, f"`{name}` is held here while `{behind}` is waited for")
            for hold, (name, behind) in zip(others, pairs[1:], strict=True)
        ],
        hint="take them in the same order everywhere",
    )
