"""What a spec says that items cost on a resource: numbers that runs can be held against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    uncertain_in,
    with_drawn,
)
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.ir.distributions import NORMAL_SIDE
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.quantities.cores_together import effective_cores
from qps.compiler.quantities.dimension import INFORMATION, TIME


class StatedCosts(Struct, frozen=True, kw_only=True):
    """Numbers of a spec: seconds of one processor for each of the `items` (bits for information).

    An item may be a product of columns, as a spec writes it: `token * context`. The item None is
    the load of the whole machine that is always there. `covariance` explains how
    well the spec knows them, by `freedom` degrees (None for many). `reading` is how runs of that
    machine are read, `components` whose costs these are, and `loads` between which they were
    measured, if that is reported.
    """

    components: tuple[str, ...]
    machine: str
    reading: FitColumns
    items: tuple[str | None, ...]
    values: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    freedom: int | None
    loads: tuple[float, float] | None


class _Used(Struct, frozen=True):
    """A component with a cost on the resource, and the machine that this counts for."""

    component: ir.Component
    cost: ir.Cost
    machine: ir.Machine


def stated_costs(
    model: ir.Model, resource: str, items: Sequence[str], requested: Sequence[str]
) -> StatedCosts:
    """Return what the requested components cost; else the only one with such items.

    DataError where none is meant, or several may be.
    """
    used = list(_used(model, resource))
    if not used:
        raise DataError(f"`{model.file}` has no demand on `{resource}`", "name the resource")
    if requested:
        found = _named(used, requested)
    else:
        known = set(items)
        found = [one for one in used if (of := _items(one.cost)) and set(of) <= known]
        names = sorted({one.component.name for one in found})
        if len(names) > 1:
            raise DataError(
                f"these runs may measure {listed(names, 'or')}",
                "name the measured component: "
                + listed([f"--of {name}" for name in names], "or")
                + "; several are summed",
            )
        if not found:
            raise DataError(
                f"no component of `{model.file}` has a demand on `{resource}` for the "
                "items of these runs",
                f"the runs count {listed(items, 'and') or 'no items'}; name a component with `--of "
                "NAME` for details",
            )
    return _together(model, found)


def _used(model: ir.Model, resource: str) -> Iterator[_Used]:
    """Yield each component that a stream uses with its cost, once for each machine."""
    configuration = base_configuration(model)
    seen = set[tuple[str, int, str]]()
    for node, step in _steps(model.streams):
        place = configuration.nodes[node]
        costs = [c for c in step.component.costs if c.resource == resource]
        if not costs:
            continue
        own = model.machines[place.machine]
        wanted = own.measured_as([cost.measured_on for cost in costs])
        cost = next(cost for cost in costs if cost.measured_on == wanted)
        machine = model.machines[wanted] if wanted is not None else own
        key = (step.component.name, cost.span.start, machine.name)
        if key not in seen:
            seen.add(key)
            yield _Used(step.component, cost, machine)


def _steps(streams: Iterable[ir.Stream]) -> Iterator[tuple[str, ir.Step]]:
    for stream in streams:
        for leg in stream.legs:
            if isinstance(leg, ir.Visit):
                for step in leg.steps:
                    yield leg.node, step


def _has_products(cost: ir.Cost) -> bool:
    """Return whether a cost is fitted to products of columns."""
    return cost.fit is not None and any(one.factors for one in cost.fit.terms)


def _items(cost: ir.Cost) -> tuple[str, ...]:
    """Return the items that a cost is of; nothing where it is of something else, too."""
    if cost.fit is not None:
        return tuple(term.item for term in cost.fit.terms)
    counted = [TIME / term.dimension for term in cost.terms]
    if not all(one.is_item or one == INFORMATION for one in counted):
        return ()
    return tuple(one.single_base for one in counted if one.single_base is not None)


def _named(used: Sequence[_Used], requested: Sequence[str]) -> list[_Used]:
    found = []
    for name in requested:
        of_name = [one for one in used if one.component.name == name]
        if not of_name:
            names = sorted({one.component.name for one in used})
            hint = did_you_mean(name, names) or f"use {listed(names, 'or')}"
            raise DataError(f"no stream uses a component `{name}` with such a demand", hint)
        if any(not _items(one.cost) for one in of_name):
            raise DataError(
                f"`{name}` has a demand that is not per item",
                "only demands per item can be compared, such as `2 ms/request + 3 ns/byte`",
            )
        found += of_name
    return found


def _together(model: ir.Model, used: Sequence[_Used]) -> StatedCosts:
    """Return the sum of some costs, which are of one machine."""
    names = tuple(dict.fromkeys(one.component.name for one in used))
    machines = sorted({one.machine.name for one in used})
    if len(machines) > 1 or len(names) < len(used):
        raise DataError(
            f"{listed(names, 'and')} have different demands on {listed(machines, 'and')}",
            "state the measured machine in the spec: `measured on NAME`",
        )
    machine, resource = used[0].machine, used[0].cost.resource
    reading = _reading(machine, resource)
    _check_comparable(used, names)
    if len(used) == 1 and used[0].cost.fit is not None:
        fit = used[0].cost.fit
        reading = replace(reading, has_fixed=fit.has_fixed, costs=fit.costs)
        return _of_fit(fit, names, machine.name, reading)
    configuration = base_configuration(model)
    idle = machine.resource(resource)
    exprs: dict[str | None, list[ir.Expr]] = {}
    if idle is not None and idle.idle is not None:
        exprs[None] = [idle.idle.expr]
    for one in used:
        for item, term in zip(_items(one.cost), one.cost.terms, strict=True):
            exprs.setdefault(item, []).append(term.expr)
    values, covariance = _values([*exprs.values()], configuration)
    measured = [one.cost.measured_at for one in used if one.cost.measured_at is not None]
    return StatedCosts(
        components=names,
        machine=machine.name,
        reading=reading,
        items=tuple(exprs),
        values=values,
        covariance=covariance,
        freedom=None,
        loads=(
            (float(min(low for low, _ in measured)), float(max(high for _, high in measured)))
            if measured
            else None
        ),
    )


def _check_comparable(used: Sequence[_Used], names: Sequence[str]) -> None:
    """Raise where runs cannot be held against costs, and why."""
    if any(one.cost.fit is not None and one.cost.fit.curves for one in used):
        raise DataError(
            f"{listed(names, 'and')} have a demand with a curve, which the runs have at other "
            "values: how uncertain the difference of both is, is unknown",
            "fit the new runs by themselves: `qps fit`, and compare both",
        )
    if len(used) > 1 and any(_has_products(one.cost) for one in used):
        raise DataError(
            f"{listed(names, 'and')} have demands per product of columns, which are not added up",
            "name one component with `--of NAME`, and measure it alone",
        )


def _reading(machine: ir.Machine, resource: str) -> FitColumns:
    """Return how runs of a machine are read, as costs are fitted to them."""
    found = machine.resource(resource)
    capacity = None if found is None else found.capacity.expr
    if found is None or found.kind is not ir.ResourceKind.PROCESSOR:
        raise DataError(
            f"`{resource}` of `{machine.name}` is not a CPU",
            "name a CPU with `--resource`",
        )
    if not isinstance(capacity, ir.Constant):
        raise DataError(
            f"`{resource}` of `{machine.name}` has no fixed number of cores",
            "state the measured machine: `measured on NAME`",
        )
    processors = cores = capacity.value
    if found.efficiency is not None and isinstance(found.efficiency.expr, ir.Constant):
        cores = effective_cores(processors, found.efficiency.expr.value)
    return FitColumns(resource=resource, cores=cores, processors=processors)


def _of_fit(fit: CostFit, names: tuple[str, ...], machine: str, reading: FitColumns) -> StatedCosts:
    """Return numbers that were fitted to a table, with their standard errors.

    Of a fit that is scaled to runs of another machine, with that of the factor.
    """
    spread = fit_spread(fit, may_bend=False) if fit.scale is None else fit.scale
    size = fit.has_fixed + len(fit.terms)
    weights = [(0.0,)] * size if spread is None else spread.weights
    low, high = fit.loads
    return StatedCosts(
        components=names,
        machine=machine,
        reading=reading,
        items=(*[None] * fit.has_fixed, *(term.counted for term in fit.terms)),
        values=(*[float(fit.fixed)] * fit.has_fixed, *(float(t.value) for t in fit.terms)),
        covariance=tuple(
            tuple(sum(a * b for a, b in zip(one, other, strict=True)) for other in weights)
            for one in weights
        ),
        freedom=None if spread is None else spread.freedom,
        loads=(float(low), float(high)),
    )


def _values(
    sums: Sequence[Sequence[ir.Expr]], configuration: Configuration
) -> tuple[tuple[float, ...], tuple[tuple[float, ...], ...]]:
    """Return sums of expressions, and how well they are known: by slopes, each uncertain number
    taken for a normal one with its 95 %.
    """  # noqa: D205 - one sentence
    values = _folded(sums, configuration)
    slopes: list[list[float]] = []
    for name, uncertain in uncertain_in(configuration).items():
        low, high = uncertain.distribution.ends
        ends = [_folded(sums, with_drawn(configuration, {name: end})) for end in (low, high)]
        moved = [float(b - a) / 2 / float(NORMAL_SIDE) for a, b in zip(*ends, strict=True)]
        if any(moved):
            slopes.append(moved)
    places = range(len(sums))
    covariance = tuple(
        tuple(sum(one[i] * one[j] for one in slopes) for j in places) for i in places
    )
    return tuple(map(float, values)), covariance


def _folded(sums: Sequence[Sequence[ir.Expr]], configuration: Configuration) -> list[Fraction]:
    folder = Folder(configuration=configuration, population=Fraction(configuration.low))
    found = []
    for exprs in sums:
        values = [folder.nearly(expr) for expr in exprs]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            raise DataError(
                "a service demand depends on a result of solving",
                "name a component with constant demands: `--of NAME`",
            )
        found.append(sum(known, Fraction(0)))
    return found
