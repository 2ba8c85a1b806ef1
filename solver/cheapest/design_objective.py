"""What is to be as small as possible: what machines and networks cost, or what a spec states."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.expressions.symbolic_numbers import Moving
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.dimension import MONEY, TIME, Dimension
from qps.engine.expressions.formulas import ZERO, Formula
from qps.solver.cheapest.design_space import DesignSpace
from qps.solver.matrix.compilation.row_questions import QuestionLowering

_COSTS = {ir.MeasureKind.COST: False, ir.MeasureKind.RUNNING_COST: True}


class _ObjectiveLowering(QuestionLowering):
    """Turns an objective into a formula: what has no price of a kind costs nothing of it."""

    def _measured(self, symbol: ir.Measured | ir.Changed) -> Formula:
        if isinstance(symbol, ir.Measured) and symbol.kind in _COSTS:
            return self.graph.cost(is_running=_COSTS[symbol.kind]) or ZERO
        return super()._measured(symbol)


def objective_of(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    choices: ir.DesignChoices,
    moving: Moving,
) -> Formula | None:
    """Return what is to be as small as possible; None where nothing has a price.

    QpsError where it cannot be computed, or prices cannot be added.
    """
    if choices.objective is not None:
        lowering = _ObjectiveLowering(model, configuration, graph, moving)
        found = lowering.expression(choices.objective.expr)
        if found is None:
            raise _refused(choices.objective.span, "this cannot be computed for every choice")
        return found
    bought, running = graph.cost(is_running=False), graph.cost(is_running=True)
    if bought is not None and running is not None:
        raise mixed_prices(model, configuration, choices)
    return bought if running is None else running


def dimension_of(graph: LoadGraph, choices: ir.DesignChoices) -> Dimension:
    """Return the dimension of what is to be as small as possible."""
    if choices.objective is not None:
        return choices.objective.dimension
    return MONEY if graph.cost(is_running=True) is None else MONEY / TIME


def nothing_priced(choices: ir.DesignChoices) -> QpsError:
    """Return the error of a choice between things without prices."""
    return _refused(
        choices.span,
        "nothing here has a price",
        "add prices, such as `machine small { cpu 2 core; price 60 $/month }`, or state what "
        "is to be as small as possible: `minimize …`",
    )


def mixed_prices(
    model: ir.Model, configuration: Configuration, choices: ir.DesignChoices
) -> QpsError:
    """Return the error of prices of which some are paid once, and others for each time."""
    kinds: dict[bool, tuple[str, Span]] = {}
    for one, price in _priced(model, configuration, choices):
        kinds.setdefault(price.dimension == MONEY, (one.name, price.span))
    (once, span), (running, _) = kinds[True], kinds[False]
    return _refused(
        span,
        f"the price of `{once}` is paid once, that of `{running}` is a running cost",
        "state over which period a purchase is paid off: `minimize running_cost + cost / (36 "
        "month)`",
    )


def refuse_unpriced(space: DesignSpace, graph: LoadGraph, choices: ir.DesignChoices) -> None:
    """Refuse machines and networks to choose from that have no price: they would win."""
    chosen = {axis.name: axis for axis in space.axes}
    for place in graph.stated.unpriced:
        if choices.objective is None and place in chosen:
            change = chosen[place].options[0].change
            raise _refused(
                change.span,
                f"a machine or network to choose for `{place}` has no price",
                "add it, such as `price 60 $/month`; `price 0 $/month` if it costs nothing",
            )


def price_date(
    model: ir.Model, configuration: Configuration, choices: ir.DesignChoices
) -> CalendarDate | None:
    """Return the month of all prices that state a date; None where none does.

    QpsError where they are of several months: such prices are not compared.
    """
    first: ir.Machine | ir.Network | None = None
    for one, price in _priced(model, configuration, choices):
        if one.price_date is None:
            continue
        if first is None:
            first = one
        elif _month(one) != _month(first):
            raise _refused(
                price.span,
                f"the price of `{one.name}` is of {_month(one).in_words}, that of "
                f"`{first.name}` of {_month(first).in_words}: they cannot be compared",
                "look up both prices for the same month, and update their dates",
            )
    return None if first is None else _month(first)


def _priced(
    model: ir.Model, configuration: Configuration, choices: ir.DesignChoices
) -> Iterator[tuple[ir.Machine | ir.Network, ir.Quantity]]:
    """Yield the machines and networks with a price that are chosen from or stand somewhere."""
    names: dict[str, None] = {}
    for axis in choices.axes:
        names |= dict.fromkeys(one.kind for one in axis.choices if isinstance(one, ir.SetPlace))
    names |= dict.fromkeys(one.machine for one in configuration.nodes.values())
    names |= dict.fromkeys(one.network for one in configuration.links.values())
    hardware: dict[str, ir.Machine | ir.Network] = {**model.networks, **model.machines}
    for name in names:
        one = hardware[name]
        if one.price is not None:
            yield one, one.price


def _month(one: ir.Machine | ir.Network) -> CalendarDate:
    assert one.price_date is not None
    return CalendarDate(one.price_date.year, one.price_date.month)


def constant_objective(span: Span) -> QpsError:
    """Return the error of an objective that is the same whatever is chosen."""
    return _refused(
        span,
        "whatever is chosen, the cost is the same",
        "give prices to what is chosen from: `price 60 $/month`; a number without a price costs "
        "nothing",
    )


def objective_without_value(choices: ir.DesignChoices, chosen: str) -> QpsError:
    """Return the error of a configuration of which nothing says how dear it is."""
    span = choices.span if choices.objective is None else choices.objective.span
    return _refused(
        span,
        f"this has no value with {chosen}, so that nothing can be compared with it",
        "leave it out with `exclude`, or minimize what has a value for every choice",
    )


def everything_excluded(choices: ir.DesignChoices) -> QpsError:
    """Return the error of conditions that leave nothing to choose."""
    return _refused(
        choices.span,
        "all combinations are excluded",
        "remove an `exclude`, or add options to which none applies",
    )


def _refused(span: Span, message: str, hint: str = "minimize another value") -> QpsError:
    return QpsError.single(codes.NO_ANSWER, span, message, hint=hint)
