"""Claims about the cost of the cheapest configuration that supports a population."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.certainty import Certainty, opposite
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.compiler.quantities.methods import known_by

COSTS = {
    ir.MeasureKind.LOWEST_COST: MONEY,
    ir.MeasureKind.LOWEST_RUNNING_COST: MONEY / TIME,
}
"""The lowest costs that can be claimed, with their dimensions."""


def lowest_cost(
    model: ir.Model,
    configuration: Configuration,
    population: int,
    kind: ir.MeasureKind,
    span: Span | None,
) -> tuple[Fraction, Certainty]:
    """Return what the cheapest configuration costs, and how that is known.

    QpsError where there is nothing to choose, or no configuration supports the population.
    """
    if len(model.choices) != 1:
        several = len(model.choices) > 1
        raise _refused(
            span,
            "the spec has several choices" if several else "the spec has nothing to choose from",
            "keep one `choose` in a spec whose lowest cost is claimed"
            if several
            else "add what may be bought: `choose { web in [small * 1..40] }`",
        )
    from qps.solver.cheapest.plan_answer import Planner  # noqa: PLC0415 - of few specs

    planner = Planner(model, configuration, model.choices[0])
    search = planner.search(population)
    if search.dimension != COSTS[kind]:
        raise _refused(
            span,
            f"the choice minimizes {search.dimension.in_words}",
            "claim `lowest_running_cost` of prices per time, `lowest_cost` of purchase prices",
        )
    if search.found is None:
        raise _refused(
            span,
            f"no configuration supports {population:,} {model.population.name}",
            "run `qps plan` to see which one supports most",
        )
    found = planner.planned(search.found, population)
    known = opposite(found.known)
    if not search.is_complete:
        known = known_by("smaller-numbers-untried")
    return Fraction(found.cost), known


def _refused(span: Span | None, message: str, hint: str) -> QpsError:
    return QpsError.single(codes.NO_ANSWER, span, message, hint=hint)
