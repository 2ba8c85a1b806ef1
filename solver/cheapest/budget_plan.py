"""The configuration that supports most users within a budget."""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.quantity import read_cost
from qps.solver.cheapest.plan_answer import Planner, planned_for
from qps.solver.cheapest.plan_result import Plan, PlanBudget
from qps.solver.cheapest.search_record import SearchRecord

_FLAG, _EXAMPLE = "--budget", "5_000 $/month"
_SPARE = 1e-9
"""Part of a budget by which rounding may exceed it."""


def plan_within(
    model: ir.Model,
    configuration: Configuration,
    choices: ir.DesignChoices,
    budget: str,
    record: SearchRecord | None = None,
) -> Plan:
    """Return what to choose for the largest population that costs no more than a budget.

    It is a text such as `5_000 $/month`. QpsError where nothing can be planned, and where what is
    minimized is no money, or not that of the budget. What a `record` knows is not searched again.
    """
    limit, dimension = read_cost(budget, _FLAG, _EXAMPLE)
    planner = Planner(model, configuration, choices, record=record)
    if planner.lowered.dimension != dimension:
        raise QpsError.single(
            codes.COMMAND_LINE,
            choices.span,
            f"`{_FLAG} {budget.strip()}` cannot be compared with what this choice minimizes, which "
            f"is in `{planner.lowered.dimension}`",
            hint="state the budget in the same dimension: `5_000 $/month` for running costs, "
            "`5_000 $` for purchases",
        )
    most = float(limit) * (1 + _SPARE)
    best, is_proven = planner.most(below=most)
    if best is None or best.cost > most:
        found = planned_for(planner, model.population.low)
        return replace(
            found, budget=PlanBudget(float(limit), is_met=False, is_proven=found.is_proven)
        )
    if planner.cost_depends_on_users(best):
        raise QpsError.single(
            codes.NO_ANSWER,
            choices.span,
            f"the cost depends on the number of users, so `{_FLAG}` alone determines neither",
            hint="state the number of users: `--users 20000`",
        )
    found = planned_for(planner, best.capacity or model.population.low)
    return replace(found, budget=PlanBudget(float(limit), is_met=True, is_proven=is_proven))
