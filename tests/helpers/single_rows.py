"""One row solved as `qps solve` solves it: what all rows of a matrix must agree with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf, nan

import pytest

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.configure.placement import check_placement
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.point_values import in_floats
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.answer_certainty import known_by_limit
from qps.solver.answers.saturation import least_saturation
from qps.solver.answers.solution import Saturation, Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.matrix.compilation.row_questions import (
    LARGEST,
    QuestionLowering,
    RowQuery,
    saturation_subject,
)
from qps.solver.search.method import SearchMethod


@dataclass(kw_only=True)
class SingleRow:
    """The answers of one configuration; `reason` tells why there are none."""

    reason: str | None = None
    largest: int | None = None
    known: str = ""
    limited_by: str = ""
    bottleneck: str = ""
    saturates_at: float = nan
    saturates_not_below: float = nan
    from_start: tuple[str, ...] = ()
    stays_full: str = ""
    mode: str | None = None
    at: int = 0
    loads: dict[str, float] = field(default_factory=dict)
    saturations: dict[str, float] = field(default_factory=dict)
    quality: float = nan
    cost: float = nan
    running_cost: float = nan
    columns: tuple[float, ...] = ()
    comparisons: tuple[tuple[float, float], ...] = ()


def solve_single(
    model: ir.Model, configuration: Configuration, question: RowQuery, at: int | None
) -> SingleRow:
    """Return the answers of a configuration, told at a population or else at the limit."""
    sink = Sink()
    check_placement(model, configuration, sink)
    reason = next((d.message for d in sink.found if d.is_error), None)
    if reason is not None:
        return _without(question, reason)
    try:
        return _reported(model, configuration, question, solve_model(model, configuration), at)
    except QpsError as error:
        return _without(question, error.diagnostics[0].message)


def _reported(
    model: ir.Model,
    configuration: Configuration,
    question: RowQuery,
    solution: Solution,
    at: int | None,
) -> SingleRow:
    """Return a solution as a row; QpsError where a saturation is asked for that is undecided."""
    graph = solution.graph
    solved = next(c for c in in_each_mode(model, configuration) if c.mode == graph.mode)
    population = solution.at if at is None else at
    query = QuestionLowering(model, solved, graph)
    values = _Values(query, solution, population)
    cost, running = graph.cost(is_running=False), graph.cost(is_running=True)
    found = solution.bottleneck
    return SingleRow(
        reason=None,
        largest=solution.capacity,
        known=_known(solution),
        limited_by=solution.limited_by or "",
        bottleneck=found.resource if found else "",
        saturates_at=_reached(found.saturates_at) if found else nan,
        saturates_not_below=_not_below(solution),
        from_start=tuple(
            r.name for r in solution.resources if r.saturation.method is SearchMethod.AT_START
        ),
        stays_full=(found.stays_full or "") if found else "",
        mode=graph.mode,
        at=population,
        loads={name: values.of(resource.load) for name, resource in graph.resources.items()},
        saturations={
            r.name: nan if _is_unknown(r.saturation) else _reached(r.saturation.at)
            for r in solution.resources
        },
        quality=values.of(graph.quality_value),
        cost=values.of(cost),
        running_cost=values.of(running),
        columns=tuple(values.of(query.expression(c.value.expr)) for c in question.columns),
        comparisons=tuple(values.sides(compare) for compare in question.comparisons),
    )


def _known(solution: Solution) -> str:
    """Return how the answer is known, by the criterion that limits it."""
    limiting = next(
        (f.criterion for f in solution.failures if f.criterion.name == solution.limited_by), None
    )
    every = [f.criterion for each in (solution, *solution.others) for f in each.failures]
    is_none = solution.capacity is None
    return known_by_limit(limiting, every, is_none=is_none).kind.value


def _not_below(solution: Solution) -> float:
    """Return below which population nothing saturates of which it cannot be told where it does."""
    saturations = (resource.saturation for resource in solution.resources)
    undecided = (each.not_below for each in saturations if each.not_below is not None)
    return min(map(float, undecided), default=nan)


def _is_unknown(saturation: Saturation) -> bool:
    return saturation.at is None and saturation.not_below is not None


def _reached(at: float | None) -> float:
    return inf if at is None else at


def _without(question: RowQuery, reason: str) -> SingleRow:
    """Return a row without answers."""
    return SingleRow(
        reason=reason,
        columns=tuple(nan for _ in question.columns),
        comparisons=tuple((nan, nan) for _ in question.comparisons),
    )


@dataclass
class _Values:
    """Evaluates expressions of one solved configuration at one population."""

    requesting: QuestionLowering
    solution: Solution
    population: int

    def of(self, expr: Formula | None) -> float:
        """Return a value, not-a-number where there is none."""
        if expr is None:
            return nan
        graph = self.solution.graph
        assumptions = self.requesting.expressions.assumptions.values()
        values = {a.symbol: a.value for a in assumptions} | graph.values
        values |= {graph.population: number(self.population)}
        values |= self._answers(expr.symbols, graph)
        return in_floats(substituted(expr, values))

    def _answers(self, symbols: Iterable[Formula], graph: LoadGraph) -> dict[Formula, Formula]:
        found: dict[Formula, Formula] = {}
        for symbol in symbols:
            subject = saturation_subject(symbol)
            if symbol is LARGEST:
                found[symbol] = number(self.solution.capacity or 0)
            elif subject is not None:
                resources = graph.loads_of(subject)
                least = least_saturation(graph, (r.name for r in resources)) if resources else nan
                found[symbol] = number(least)
        return found

    def sides(self, compare: ir.Compare) -> tuple[float, float]:
        """Return the values of both sides of a comparison."""
        left, right = (
            self.of(self.requesting.expression(side)) for side in (compare.left, compare.right)
        )
        return left, right


def no_row_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a matrix fail of which arrays leave anything open."""
    monkeypatch.delattr("qps.solver.matrix.row_ranges.compile_alone")
    monkeypatch.delattr("qps.solver.matrix.rows.scalar_fallback.ScalarFallback._of")
