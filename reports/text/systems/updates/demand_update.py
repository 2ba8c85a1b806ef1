"""A spec whose service demands have drifted: it refers to the new runs, or has their numbers.

A demand that is fitted to a table is fitted to the new one. A number is replaced where its source
is such a fit, or where the person names its component or parameter.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.reports.text.measurements.fit_text import quoted
from qps.reports.text.systems.spec_numbers import duration, plain
from qps.reports.text.systems.updates.evidence import evidence_of
from qps.reports.text.systems.updates.spec_update import Replacement, edited
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.drift import CostDrift, Drift


class DemandUpdate(Struct, frozen=True, kw_only=True):
    """What a text becomes; `tables` are those that it no longer uses, `own` what stays in it."""

    before: str
    text: str
    tables: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


def demand_update(
    module: ast.Module, found: Drift, table: str, rows: int, named: Collection[str] = ()
) -> DemandUpdate:
    """Return a spec whose demands are those of a new table, which it reaches by this path.

    DataError where a demand that is named cannot be replaced.
    """
    components = [
        one for one in module.every(ast.Component) if one.name.text in found.stated.components
    ]
    resource = found.stated.reading.resource
    costs = [
        (one, cost)
        for one in components
        for cost in one.items
        if isinstance(cost, ast.Cost) and cost.resource.text == resource
    ]
    fits = [cost.amount for _, cost in costs if isinstance(cost.amount, ast.Fit)]
    tables = {fit.file.value for fit in fits}
    edits: list[Replacement] = [
        (node.file.span.start, node.file.span.end, quoted(table))
        for node in nodes_in(module)
        if isinstance(node, ast.Fit) and node.file.value in tables
    ]
    own: list[str] = []
    for component, cost in costs:
        if not isinstance(cost.amount, ast.Fit):
            edits += _replaced(module, component, cost, found, named, own, (table, rows))
    return DemandUpdate(
        before=module.source.text,
        text=edited(module.source, edits),
        tables=tuple(sorted(tables - {table})),
        own=tuple(own),
    )


def _replaced(
    module: ast.Module,
    component: ast.Component,
    cost: ast.Cost,
    found: Drift,
    named: Collection[str],
    own: list[str],
    table: tuple[str, int],
) -> Iterator[Replacement]:
    """Yield the edits of a number, and of its source; of one that nobody names, none."""
    assert not isinstance(cost.amount, ast.Fit)
    name, value, source = component.name.text, cost.amount.span, component.source
    param = next((one for one in module.every(ast.Param) if one.name.text == value.text), None)
    if param is not None:
        name, value, source = param.name.text, param.value.span, param.source
    items = [one for one in found.costs if one.item is not None]
    is_fitted = source is not None and evidence_of("fitted", source.value) is not None
    if name not in named and not is_fitted:
        own.append(name)
        return
    if len(items) != 1 or len(found.stated.components) != 1:
        raise DataError(
            f"the runs show several demands, so `{name}` is not one number of them",
            f"replace it by hand: {listed([_demand(one) for one in items], 'and')}",
        )
    yield value.start, value.end, _demand(items[0])
    fitted = quoted(phrase("update.fitted", file=table[0], rows=table[1]))
    if source is not None:
        yield source.span.start, source.span.end, fitted
    elif param is not None:
        end = (param.range or param.value).span.end
        yield end, end, f" source {fitted}"


def _demand(cost: CostDrift) -> str:
    """Return a demand as a spec has it; its spread is at most that of the difference."""
    spread = plain(100 * cost.half_width / cost.found, 2) if cost.found > 0 else "0"
    return f"{duration(cost.found)}/{cost.item} +- {spread} %"
