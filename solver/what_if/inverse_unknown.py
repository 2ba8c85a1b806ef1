"""The number of the question turned round: which it is, in which range, and what it is now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil, floor
from typing import NoReturn

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    changed,
    cores_counted_by,
    flows_counted_by,
    in_each_mode,
    in_force,
    in_whole_numbers,
    stores_counted_by,
)
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import dotted_meant, listed
from qps.compiler.ir.parts import parts_of
from qps.compiler.ir.placed_numbers import CAPACITY, is_in_cores
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.quantities.dimension import CORE, DIMENSIONLESS, Dimension
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import in_floats
from qps.engine.numerics.value_ranges import ValueRange
from qps.solver.what_if.value_bounds import ValueBound, value_bounds

_FAR = 10**6


class Unknown(Struct, frozen=True, kw_only=True):
    """A number to solve for.

    `graphs` is the model in each mode, with the number as a symbol; `current` its values now, by
    mode (None outside of any), of an elastic parameter what it settles at with the population.
    `low` and `high` are the range to look in, that of the parameter where `is_declared`, else a
    million times less and more than now. A number that `is_share` is written in per cent. A
    parameter that counts places, the users of a group or flows has whole numbers, and so are
    cores and things that are held, such as threads, unless there is a part of one now. `refused`
    are the bounds, in every mode, of what rests on it.
    """

    name: str
    dimension: Dimension
    graphs: tuple[LoadGraph, ...]
    current: dict[str | None, float]
    low: Fraction
    high: Fraction
    is_declared: bool
    is_elastic: bool
    is_count: bool
    is_changed_by_modes: bool
    is_share: bool
    refused: tuple[ValueBound, ...]

    @property
    def symbol(self) -> Formula:
        """The symbol of the number, the same in all graphs that rest on it."""
        return next(g.assumptions[self.name].symbol for g in self.graphs if self.rests(g))

    def rests(self, graph: LoadGraph) -> bool:
        """Return whether a graph rests on the number."""
        return self.name in graph.assumptions


def unknown_of(
    model: ir.Model, configuration: Configuration, name: str, population: int
) -> Unknown:
    """Return the number of a name; QpsError where there is none that can be solved for.

    A parameter is set in every mode, as an explicit change would set it.
    """
    if name == model.population.name:
        refuse(
            f"`{name}` is the population and cannot be solved for",
            "for the capacity, run `qps solve` without `--for`",
        )
    modes = in_each_mode(model, configuration)
    parameter = next((p for p in model.parameters if p.name == name), None)
    if parameter is not None:
        _refuse_share(parameter)
        for each in modes:
            _refuse_derived(parameter, in_force(each))
    declared = _declared_range(parameter, modes[0])
    moving = {name: False if declared is None else ValueRange(*declared)}
    usual = [lower(model, each, moving) for each in modes]
    fixed = modes if parameter is None else _fixed(model, configuration, parameter)
    graphs = usual if parameter is None else [lower(model, each, moving) for each in fixed]
    if any(name in graph.basis.decided for graph in graphs):
        refuse(
            f"a condition depends on `{name}`, so that there is no single formula",
            "solve for a number that no `if` uses",
        )
    found = [graph.assumptions[name] for graph in graphs if name in graph.assumptions]
    if parameter is not None and found:
        _refuse_of_parts(parameter, usual)
    if not found:
        _refuse_unknown(model, parameter, name, graphs)
    now = {graph.mode: _now(graph, name, population) for graph in usual}
    current = {mode: value for mode, value in now.items() if value is not None}
    places = set[str]().union(*(in_whole_numbers(in_force(each)) for each in modes))
    flows = set[str]().union(*(flows_counted_by(in_force(e), model.streams) for e in modes))
    low, high = declared or _range_around(name, list(current.values()))
    is_count = name in places | flows or _counts_whole(model, modes, name, current.values())
    if is_count:
        low, high = Fraction(max(0 if name in flows else 1, ceil(low))), Fraction(floor(high))
    return Unknown(
        name=name,
        dimension=_dimension(found[0]),
        graphs=tuple(graphs),
        current=current,
        low=low,
        high=high,
        is_declared=declared is not None,
        is_elastic=parameter is not None and parameter.is_elastic,
        is_count=is_count,
        is_changed_by_modes=len(modes) > 1 and any(_is_set_by_mode(e, name) for e in modes),
        is_share=found[0].dimension == DIMENSIONLESS and _is_in_percent(name, (*usual, *graphs)),
        refused=tuple(
            bound
            for each, graph in zip(fixed, graphs, strict=True)
            if parameter is not None
            for bound in value_bounds(model, each, graph, name)
        ),
    )


def _is_set_by_mode(configuration: Configuration, name: str) -> bool:
    changes = configuration.mode_changes
    return any(isinstance(own, ir.SetParameter) and own.name == name for own in changes)


def _fixed(
    model: ir.Model, configuration: Configuration, parameter: ir.Parameter
) -> Sequence[Configuration]:
    """Return the configuration of each mode with a parameter set: elastic ones cease to yield."""
    first = in_force(in_each_mode(model, configuration)[0])
    value = first.parameters[parameter.name]
    if isinstance(value, ir.ByCase | ir.Mixture):
        # One number for all its values: what it is now does not matter, it stays a symbol.
        value = ir.Constant(Fraction(1))
    change = ir.SetParameter(parameter.name, value, parameter.span)
    return in_each_mode(model, changed(configuration, [change]))


def graphs_at(
    model: ir.Model, configuration: Configuration, number: Unknown, value: Fraction
) -> tuple[LoadGraph, ...]:
    """Return the model in each mode with a parameter set to a value, as `--set` sets it.

    None where the number is no parameter, or the model refuses such a value.
    """
    parameter = next((p for p in model.parameters if p.name == number.name), None)
    if parameter is None:
        return ()
    change = ir.SetParameter(parameter.name, ir.Constant(value), parameter.span)
    try:
        modes = in_each_mode(model, changed(configuration, [change]))
        return tuple(lower(model, each) for each in modes)
    except QpsError:
        return ()


def _now(graph: LoadGraph, name: str, population: int) -> float | None:
    """Return the value of a number as the model stands; of an elastic one, what it settles at."""
    for elastic in graph.elastic:
        if elastic.parameter.name == name:
            return graph.at(population).number(elastic.value)
    known = graph.assumptions.get(name)
    return None if known is None else in_floats(known.value)


def _counts_whole(
    model: ir.Model, configurations: Sequence[Configuration], name: str, current: Iterable[float]
) -> bool:
    """Return whether a number says how many cores, or things to hold, a machine has.

    They are whole, as they are now.
    """
    modes = [in_force(each) for each in configurations]
    cores = (cores_counted_by(each, model.machines) for each in modes)
    held = (stores_counted_by(each, model.machines, model.parameters) for each in modes)
    is_own = is_in_cores(name) or _is_own_store(model, modes, name)
    return (is_own or any(name in names for names in (*cores, *held))) and all(
        value == int(value) for value in current
    )


def _is_own_store(model: ir.Model, modes: Sequence[Configuration], name: str) -> bool:
    """Return whether a number is how many things the machine in a place can hold."""
    return any(
        name == f"{node.name}.{resource.name}.{CAPACITY}"
        and resource.kind is ir.ResourceKind.STORE
        and resource.capacity.dimension.is_item
        for each in modes
        for node in each.nodes.values()
        if (machine := ir.machine_at(model, node)) is not None
        for resource in machine.resources
    )


def _dimension(number: Assumption) -> Dimension:
    """Return the unit of a number: loads count the cores of a processor, specs state `4 core`."""
    return CORE if is_in_cores(number.name) else number.dimension


def _is_in_percent(name: str, graphs: Sequence[LoadGraph]) -> bool:
    """Return whether the spec, or a setting, writes a number in per cent."""
    return any("%" in g.assumptions[name].text for g in graphs if name in g.assumptions)


def _declared_range(
    parameter: ir.Parameter | None, configuration: Configuration
) -> tuple[Fraction, Fraction] | None:
    if parameter is None or parameter.low is None or parameter.high is None:
        return None
    folder = Folder(configuration=in_force(configuration), population=Fraction(configuration.low))
    low, high = folder.fold(parameter.low), folder.fold(parameter.high)
    return None if low is None or high is None else (low, high)


def _range_around(name: str, current: Sequence[float]) -> tuple[Fraction, Fraction]:
    """Return a range far around what a number is now."""
    positive = [Fraction(value) for value in current if value > 0]
    if not positive:
        refuse(
            f"`{name}` is {max(current, default=0):g} now and has no range to search",
            f"add a range: `param {name} = … in low..high`",
        )
    return min(positive) / _FAR, max(positive) * _FAR


# -- what cannot be the unknown --------------------------------------------------------------


def _refuse_share(parameter: ir.Parameter) -> None:
    """Refuse a parameter that is one of several shares: they are 1 together."""
    if parameter.is_share:
        refuse(
            f"`{parameter.name}` is one of several shares and cannot be changed alone",
            "solve for the value of a kind, or declare other `kinds`",
            parameter.span,
        )


def _refuse_derived(parameter: ir.Parameter, configuration: Configuration) -> None:
    """Refuse a parameter that is worked out from others, and so has no value of its own."""
    name = parameter.name
    value = configuration.parameters[name]
    parts = list(parts_of(value))
    if isinstance(value, ir.ByCase | ir.Mixture):
        return
    if not any(isinstance(part, ir.ParameterValue | ir.Choice) for part in parts):
        return
    names = [part.name for part in parts if isinstance(part, ir.ParameterValue)]
    others = listed([f"--for {other}" for other in dict.fromkeys(names)], "or")
    example = f"set `{name}` to a number first: `--set '{name} = …'`"
    refuse(
        f"`{name}` is computed from other numbers and cannot be solved for",
        f"solve for {others}; or {example}" if names else example,
        configuration.values_from[name],
    )


def _refuse_of_parts(parameter: ir.Parameter, graphs: Sequence[LoadGraph]) -> None:
    """Refuse a parameter of which each kind has its own value, where nothing takes their mean."""
    value = parameter.value
    if not isinstance(value, ir.Mixture) or any(parameter.name in g.assumptions for g in graphs):
        return
    parts = [one.parameter for one in value.classes]
    if any(part in graph.assumptions for part in parts for graph in graphs):
        refuse(
            f"`{parameter.name}` has one value for each kind of `{value.of}`",
            f"solve for one of them: {listed([f'--for {part}' for part in parts], 'or')}",
            parameter.span,
        )


def _refuse_unknown(
    model: ir.Model, parameter: ir.Parameter | None, name: str, graphs: Sequence[LoadGraph]
) -> NoReturn:
    if parameter is not None:
        refuse(
            f"no utilization or requirement depends on `{name}`",
            "use it in the model, or solve for an input that `qps explain` lists",
            parameter.span,
        )
    known = [number for graph in graphs for number in graph.assumptions]
    known += [p.name for p in model.parameters]
    refuse(
        f"unknown number `{name}`",
        dotted_meant(name, known) or "name a parameter, or an input that `qps explain` lists",
    )


def refuse(message: str, hint: str, span: Span | None = None) -> NoReturn:
    """Raise the error for a question that has no answer."""
    raise QpsError.single(codes.NO_ANSWER, span, message, hint=hint)


def refuse_outside(model: ir.Model, configuration: Configuration, population: int) -> None:
    """Refuse a population that is not in the range."""
    if population != int(population) or not configuration.low <= population <= configuration.high:
        refuse(
            f"{model.population.name} = {population:,} is outside the range "
            f"{configuration.low:,} to {configuration.high:,} (whole numbers)",
            f"widen the range of `users {model.population.name}`, or use another number",
        )
