"""What finds no room is lost: settled in the order of the way, as the rest loads what follows.

While streams are walked, a symbol stands for the share that each such resource loses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.flows import Demand, StreamResult
from qps.engine.formulas import ZERO, Formula, apply, total
from qps.engine.substitution import Substitution


def settle_losses(
    symbols: Mapping[str, Formula],
    demands: Mapping[str, Demand],
    results: Sequence[StreamResult],
    rewrite: Callable[[Callable[[Formula], Formula]], None],
) -> None:
    """Put in what is lost, where its symbols stand; QpsError where losses rest on each other."""
    if not symbols:
        return
    values: dict[Formula, Formula] = {}
    open_ones = {name: _offered(demands.get(name), symbol) for name, symbol in symbols.items()}
    while open_ones:
        unknown = {symbols[name] for name in open_ones}
        ready = [name for name, offered in open_ones.items() if unknown.isdisjoint(offered.symbols)]
        if not ready:
            names = listed(list(open_ones), "and")
            raise QpsError.single(
                codes.NO_ANSWER,
                demands[next(iter(open_ones))].span,
                f"what is lost at {names} rests on itself: what gets through comes back there",
                hint="let no stream come back to a resource that it may be lost at",
            )
        for name in ready:
            offered = open_ones.pop(name)
            lost = ZERO
            if offered is not ZERO:
                lost = apply("erlang_b", demands[name].servers, offered)
            values[symbols[name]] = lost
        put_in = Substitution(values)
        open_ones = {name: put_in(offered) for name, offered in open_ones.items()}
    put_in = Substitution(values)
    for demand in demands.values():
        demand.parts = {by: [put_in(load) for load in loads] for by, loads in demand.parts.items()}
        demand.background = [put_in(load) for load in demand.background]
        demand.carried = [put_in(rate) for rate in demand.carried]
        demand.visits = [visit.changed(put_in) for visit in demand.visits]
    for result in results:
        result.visits = {at: visit.changed(put_in) for at, visit in result.visits.items()}
    rewrite(put_in)


def _offered(demand: Demand | None, symbol: Formula) -> Formula:
    """Return the traffic that is offered to a resource, in erlang: what it serves is the rest."""
    visits = [] if demand is None else demand.visits
    return total(visit.rate / (1 - symbol) * visit.service for visit in visits)
