"""The answer of a spec as it is written now: in a line, and as loads of its places."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.check.names.declarations import Indexed
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.pipeline import Spec
from qps.compiler.syntax import ast
from qps.editing.desk import Desk
from qps.editing.messages import PlaceLoad, ToldAnswer
from qps.reports.text.answers import ResourceView, SolveView
from qps.reports.text.first_screen import headline
from qps.reports.text.how_known import marked_value
from qps.reports.text.quantities import is_share, percent, quantity_in
from qps.reports.text.view import solve_view
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.odds.promising import promising


def told_answer(desk: Desk, uri: str) -> ToldAnswer | None:
    """Return the answer of an open spec; None where it has mistakes, or is a module."""
    reading = desk.reading(uri)
    spec = reading.spec
    if spec is None or spec.program.is_module:
        return None
    view, solution = _solved(spec)
    places, at = desk.positions(reading.source), f"{view.population.name} = {view.at:,}"
    users = next(iter(reading.syntax.every(ast.Users)), None)
    span = None if users is None else users.span
    return ToldAnswer(
        title=_title(view, solution),
        range=places.between(0, 0) if span is None else places.range(span),
        loads=tuple(
            PlaceLoad(
                at=places.position(item.span.end),
                label=_label(loads),
                tooltip="\n".join(_told(one) for one in loads) + f"\n\nat {at}",
            )
            for item, loads in _by_place(reading.syntax, spec, view)
        ),
        at=at,
        values=dict(_values(view)),
    )


def _solved(spec: Spec) -> tuple[SolveView, Solution]:
    configuration = spec.configuration()
    model = promising(spec.model, configuration)
    solution = solve_model(model, configuration)
    return solve_view(model, configuration, solution, (), (), spec.warnings), solution


def _title(view: SolveView, solution: Solution) -> str:
    """Return capacity and its limit: `At most 7,462 users; limited by web.cpu.utilization`."""
    limit = f"; limited by {view.limited_by}" if view.limited_by else ""
    return headline(view, solution) + limit


def _values(view: SolveView) -> Iterator[tuple[str, str]]:
    """Yield what is known at the answer, by name: measures, loads, what is required."""
    for one in view.measures:
        yield one.name, marked_value(quantity_in(one.value, one.unit), one.value, one.known)
    for load in view.resources:
        yield (
            utilization_of(load.name),
            f"{percent(load.utilization_at_limit)}, limit {percent(load.target)}",
        )
    for need in view.requirements:
        share = is_share(need.measure) and need.certainty is None
        value, limit = (
            percent(number) if share else quantity_in(number, need.unit)
            for number in (need.value_at_limit, need.limit)
        )
        told = marked_value(value, need.value_at_limit, need.known)
        yield need.measure, f"{told}, requirement {need.operator} {limit}"


def _by_place(
    syntax: ast.Module, spec: Spec, view: SolveView
) -> Iterator[tuple[ast.Node | ast.Link, list[ResourceView]]]:
    """Yield the nodes and links of a text, each with its resources, the fullest first."""
    declared = spec.program.main.names
    for topology in syntax.every(ast.Topology):
        for item in topology.items:
            name = item.name.text
            of = declared.get(name)
            names = of.names if isinstance(of, Indexed) else (name,)
            own = [
                one
                for one in view.resources
                if any(one.name == each or one.name.startswith(f"{each}.") for each in names)
            ]
            if own:
                yield item, sorted(own, key=lambda one: -one.utilization_at_limit / one.target)


_SHOWN = 2


def _label(loads: list[ResourceView]) -> str:
    more = ", …" if len(loads) > _SHOWN else ""
    return ", ".join(_brief(one) for one in loads[:_SHOWN]) + more


def _brief(one: ResourceView) -> str:
    """Return a resource without the name of its place, which stands right before it."""
    return f"{one.name.partition('.')[2] or one.name} {percent(one.utilization_at_limit)}"


def _told(one: ResourceView) -> str:
    return f"{one.name}: {percent(one.utilization_at_limit)}, limit {percent(one.target)}"
