"""What a spec takes from a table of a closed load test: `cpu fit "runs.csv" by threads`.

A demand, a delay, and the speeds of a station: `queueing ps speeds fit "runs.csv" by threads`. All
three are of one law that is fitted to the table once.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, hypot

from qps.compiler import ir
from qps.compiler.check.model.fits.fit_clauses import FitClauses
from qps.compiler.check.model.fits.fit_quantities import (
    demand_scale,
    demand_unit,
    fitted_number,
)
from qps.compiler.check.model.fits.fit_units import unit_reader
from qps.compiler.check.model.fits.scalability_texts import (
    CONTRADICTION_HINT,
    CPU_HINT,
    MISSED_TIME_HINT,
    contradiction_text,
    cpu_text,
    missed_text,
)
from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Span
from qps.compiler.measurement.cost_products import item_word
from qps.compiler.measurement.measured_tables import DataError, read_table
from qps.compiler.measurement.regression import FEW_MISSED, LARGE_RESIDUAL
from qps.compiler.measurement.scalability.closed_tables import closed_table
from qps.compiler.measurement.scalability.core_scaling import core_scaling
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension
from qps.compiler.syntax import ast

_SEEN = 0.01
"""Part of a cycle from which a delay makes a difference to an answer."""
_MOST_SPEEDS = 1024
"""Speeds that are listed one by one: with more of them, a solution takes minutes."""
_CHANGED = 0.01
"""Share by which later speeds differ from the last one, from which it is reported."""
_CERTAIN = 2.0
"""Standard deviations beyond a limit of parallel service that speeds are listed for."""


class ScalabilityChecker(DeclarationChecker, frozen=True):
    """Reads the tables that stations are fitted to, each once for a column of clients."""

    def station(self, item: ast.Fit, module: LoadedModule) -> StationFit | None:
        """Return the station that fits a table, or None where it was reported."""
        assert item.by is not None
        if FitClauses(self.expressions).refuse(item):
            return None
        source = module.syntax.source
        key = f"{source.folder}\0{item.file.value}", item.by.text
        stations = self.known.stations
        if key not in stations:
            found = stations[key] = self._read(item, module)
            if found is not None:
                self._warn(found, item)
        found = stations[key]
        if found is not None:
            self.known.stations_used[item.span] = found
        return found

    def _read(self, item: ast.Fit, module: LoadedModule) -> StationFit | None:
        from qps.compiler.measurement.scalability.scalability_fit import station_fit  # noqa: PLC0415 - an extra, and slow to load

        assert item.by is not None
        text = self.expressions.context.data(item.file, module.syntax.source)
        if text is None:
            return None
        try:
            table = read_table(text, item.file.value)
            return station_fit(closed_table(table, item.by.text, unit_reader(module)))
        except DataError as error:
            self.sink.report(codes.BAD_DATA, item.file.span, error.message, hint=error.hint)
            return None

    def efficiency(self, item: ast.Fit, module: LoadedModule) -> ir.Quantity | None:
        """Return the scaling efficiency that fits a table of cores; None where it was reported."""
        assert item.by is not None
        if FitClauses(self.expressions).refuse(item):
            return None
        text = self.expressions.context.data(item.file, module.syntax.source)
        if text is None:
            return None
        try:
            table = closed_table(
                read_table(text, item.file.value), item.by.text, unit_reader(module)
            )
        except DataError as error:
            self.sink.report(codes.BAD_DATA, item.file.span, error.message, hint=error.hint)
            return None
        found = core_scaling(table)
        worst = max(range(len(found.errors)), key=lambda i: abs(found.errors[i]))
        if abs(found.errors[worst]) > LARGE_RESIDUAL:
            self.sink.report(
                codes.POOR_FIT,
                item.file.span,
                f"poor fit to `{table.file}`: an efficiency of {found.efficiency * 100:.3g} % "
                f"misses the throughput of {table.clients[worst]} cores by "
                f"{found.errors[worst] * 100:+.2g} %",
                hint="leave out numbers of cores that you do not plan for, or fit a closed load "
                "test of the machine by the number of its clients",
            )
        return fitted_number(
            self.expressions,
            _plain(item, found.efficiency),
            "",
            weights=(found.deviation,),
            freedom=found.freedom,
            noise=found.noise,
            table=f"{table.file}\0by {table.by}",
        )

    # -- its numbers -----------------------------------------------------------------------

    def demand(self, found: StationFit, item: ast.Fit, source: str | None) -> ir.Quantity:
        """Return the service demand of an item that has the station to itself."""
        item_name = found.table.item
        shown = f"{found.law.demand * demand_scale(item_name):.4g} {demand_unit(item_name)}"
        stated = ir.Quantity(
            expr=ir.Constant(_exact(found.law.demand)),
            dimension=TIME / Dimension.of(found.table.item),
            span=item.span,
            bound=shown,
            source=source,
        )
        return self._number(found, "demand", stated, f".{item_word(found.table.item)}")

    def delay(self, found: StationFit, item: ast.Fit) -> ir.Quantity:
        """Return the part of a cycle at which nobody waits for another."""
        stated = ir.Quantity(
            expr=ir.Constant(_exact(found.delay)),
            dimension=TIME,
            span=item.span,
            bound=f"{found.delay * 1e3:.4g} ms",
        )
        return self._number(found, "delay", stated)

    def speeds(self, found: StationFit, item: ast.Fit) -> tuple[ir.Quantity, ...]:
        """Return how fast 1, 2, … items are served together, as far as was measured."""
        self._warn_of_later_speeds(found, item)
        named: dict[str, ir.Expr] = {
            name: self._number(found, name, _plain(item, found.value_of(name)), f".{name}").expr
            for name in ("contention", "coherency", "parallel", "bonus")
            if name in found.numbers
        }
        return tuple(
            _plain(item, found.law.speed(j), _speed_of(j, named))
            for j in range(1, _listed(found) + 1)
        )

    def _number(
        self, found: StationFit, name: str, stated: ir.Quantity, word: str = ""
    ) -> ir.Quantity:
        """Return a fitted number as what it may be, any other as it is."""
        if name not in found.numbers:
            return stated
        return fitted_number(
            self.expressions,
            stated,
            word,
            weights=found.weights_of(name),
            freedom=found.freedom,
            noise=found.noise,
            table=f"{found.table.file}\0by {found.table.by}",
        )

    # -- what makes a fit doubtful ---------------------------------------------------------

    def _warn(self, found: StationFit, item: ast.Fit) -> None:
        table, span = found.table, item.file.span
        missed = [error for error in found.errors if abs(error) > LARGE_RESIDUAL]
        if len(missed) * FEW_MISSED > len(found.errors):
            worst = max(range(len(found.errors)), key=lambda i: abs(found.errors[i]))
            self.sink.report(
                codes.POOR_FIT,
                span,
                f"poor fit to `{table.file}`: line {table.lines[worst]} "
                f"({table.clients[worst]} {table.by}) is off by "
                f"{found.errors[worst] * 100:+.2g} % of the measured throughput",
                hint="check the table for errors and for another limit; "
                f"`qps fit {table.file} --by {table.by}` shows all rows",
            )
        if table.contradiction is not None:
            self.sink.report(
                codes.CONTRADICTS_LITTLE, span, contradiction_text(table), hint=CONTRADICTION_HINT
            )
        if table.missed:
            self.sink.report(codes.UNUSED_RATE, span, missed_text(table), hint=MISSED_TIME_HINT)
        if found.is_cpu_contradicted:
            self.sink.report(codes.POOR_FIT, span, cpu_text(table), hint=CPU_HINT)
        if not found.has_limit:
            self.sink.report(
                codes.NO_SATURATION,
                span,
                f"throughput in `{table.file}` rises in proportion to {table.by} up to "
                f"{table.most}: the table shows no limit, so the capacity is a lower bound",
                hint=f"measure with more {table.by}, until throughput levels off",
            )

    def _warn_of_later_speeds(self, found: StationFit, item: ast.Fit) -> None:
        """Warn that throughput changes beyond the last speed that is listed."""
        listed, most = _listed(found), found.table.most
        last, at_most = found.law.speed(listed), found.law.speed(most)
        if listed < _MOST_SPEEDS or abs(at_most / last - 1) < _CHANGED:
            return
        self.sink.report(
            codes.BEYOND_MEASURED,
            item.file.span,
            f"the speed of {listed:,} requests at once applies to more of them as well: with "
            f"{most:,} {found.table.by}, the fit to `{found.table.file}` has "
            f"{(at_most / last - 1) * 100:+.2g} % of it",
            hint=f"limit the requests in progress to {listed:,}, for example by a pool",
        )

    def speeds_dropped(self, found: StationFit, machine: ir.Machine, item: ast.Cost) -> None:
        """Warn of a fitted limit of throughput that the machine does not have."""
        resource = machine.resource(item.resource.text)
        if resource is not None and resource.queueing is not None and resource.queueing.speeds:
            return
        if found.has_limit:
            file, by = found.table.file, found.table.by
            law = f'queueing ps speeds fit "{file}" by {by}'
            self.sink.report(
                codes.SPEEDS_DROPPED,
                item.amount.span,
                f"`{file}` shows how speed depends on the number of {by}, but `{machine.name}` "
                "declares no speeds",
                hint=f"declare them: `{item.resource.text} 1 core, {law}`",
            )

    def delay_dropped(self, found: StationFit, span: Span) -> None:
        """Warn of a fitted delay that the component does not have."""
        file, by = found.table.file, found.table.by
        if found.delay >= _SEEN * (found.law.demand + found.delay):
            self.sink.report(
                codes.DELAY_DROPPED,
                span,
                f"the fit to `{file}` contains a delay of {found.delay * 1e3:.3g} ms, but the "
                "component declares none: response times are too short",
                hint=f'add it to the component: `delay fit "{file}" by {by}`',
            )


def _exact(value: float) -> Fraction:
    """Return a fitted number to six digits: the same on every machine."""
    return Fraction(f"{value:.6g}")


def _plain(item: ast.Fit, value: float, expr: ir.Expr | None = None) -> ir.Quantity:
    """Return a number without a unit."""
    exact = ir.Constant(_exact(value)) if expr is None else expr
    return ir.Quantity(expr=exact, dimension=DIMENSIONLESS, span=item.span, bound=f"{value:.4g}")


def _listed(found: StationFit) -> int:
    """Return for how many items speeds are listed: no more differ, or were measured."""
    if "coherency" in found.numbers or "parallel" not in found.numbers:
        return min(found.table.most, _MOST_SPEEDS)
    assert found.law.parallel is not None
    threads = 2 if "bonus" in found.numbers else 1
    sure = ceil(threads * (found.law.parallel + _CERTAIN * hypot(*found.weights_of("parallel"))))
    return min(found.table.most, _MOST_SPEEDS, max(sure, 1))


def _less(one: ir.Expr, other: ir.Expr) -> ir.Expr:
    """Return the difference of two numbers."""
    return ir.Sum((one, ir.Product((ir.Constant(Fraction(-1)), other))))


def _speed_of(count: int, named: dict[str, ir.Expr]) -> ir.Expr:
    """Return the speed of `ScalabilityLaw` for so many items, in the numbers that were fitted."""
    one, others = ir.Constant(Fraction(1)), ir.Constant(Fraction(count - 1))
    if count == 1:
        return one
    served: ir.Expr = ir.Constant(Fraction(count))
    if "parallel" in named:
        limit = named["parallel"]
        served, over = ir.Apply("min", (served, limit)), _less(served, limit)
        if "bonus" in named:
            zero = ir.Constant(Fraction(0))
            shared = ir.Apply("min", (ir.Apply("max", (over, zero)), limit))
            served = ir.Sum((served, ir.Product((named["bonus"], shared))))
    slowed: list[ir.Expr] = [one]
    if "contention" in named:
        rest = ir.Sum((served, ir.Constant(Fraction(-1))))
        slowed.append(ir.Product((named["contention"], rest)))
    if "coherency" in named:
        slowed.append(ir.Product((named["coherency"], served, others)))
    if len(slowed) == 1:
        return served
    return ir.Product((served, ir.Power(ir.Sum(tuple(slowed)), ir.Constant(Fraction(-1)))))
