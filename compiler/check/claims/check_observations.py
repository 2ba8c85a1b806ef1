"""Tables of measured runs: columns tied to the model, rows read and checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.claims.check_claims import ClaimChecker
from qps.compiler.check.claims.claim_subjects import origin_of, queries_model
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.declarations import lookup
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.definitions import EVERYTHING
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Source
from qps.compiler.diagnostics.suggest import closest, did_you_mean
from qps.compiler.measurement.fit_columns import CORES, cores_of
from qps.compiler.measurement.measured_tables import (
    LONGEST_CELL,
    DataError,
    MeasuredTable,
    number,
    read_table,
)
from qps.compiler.measurement.number_forms import MISSING
from qps.compiler.measurement.usual_headings import with_usual_names
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.compiler.syntax.parse import parse_change
from qps.compiler.syntax.remarks import remark

_SETTINGS = (ast.Users, ast.Option, ast.Param, ast.Node, ast.Link)


class _SettingColumn(Struct, frozen=True):
    """A column that sets something for its row; `unit` is the text behind plain numbers."""

    heading: str
    target: str
    unit: str | None


class _ValueColumn(Struct, frozen=True):
    """A measured column and how many base units its numbers count."""

    column: ir.MeasuredColumn
    factor: Fraction


class ObservationChecker(OfChanges, frozen=True):
    """Checks `observe` blocks."""

    def observation(self, item: ast.Observe) -> ir.Observation | None:
        """Return a table of measured runs with its columns tied to the model."""
        main = self.main
        text = self.expressions.context.data(item.file, main.syntax.source)
        changes = self.changes.all_of(item.changes, Scope(main))
        if text is None:
            return None
        try:
            table = with_usual_names(read_table(text, item.file.value))
        except DataError as error:
            self._fail(item, error.message, error.hint)
            return None
        settings: list[_SettingColumn] = []
        measured: list[_ValueColumn] = []
        for column in item.columns:
            tied = self._column(column, item, table.headings)
            if isinstance(tied, _SettingColumn):
                settings.append(tied)
            elif tied is not None:
                measured.append(tied)
        if self.sink.has_errors:
            return None
        self._report_double_settings(item, settings)
        if not measured:
            self.sink.report(
                codes.MISSING_PART,
                item.name.span,
                "this table has no column to compare with a measure",
                hint="add one, such as `load in s -> station.cpu.utilization * 200 s within 10 %`",
            )
            return None
        if item.missed and all(value.column.tolerance is None for value in measured):
            self.sink.report(
                codes.MISPLACED,
                item.missed.span,
                f"`{item.name.text}` has `missed` but no tolerance",
                hint="add `within 10 %` to a column, or remove `missed`",
            )
        rows = [self._row(item, line, cells, settings, measured) for line, cells in table.rows]
        return ir.Observation(
            name=item.name.text,
            # From where the command runs, as the label of the spec is.
            file=os.path.normpath(Path(main.syntax.source.label).parent / item.file.value),
            measured=tuple(value.column for value in measured),
            rows=tuple(
                ir.ObservedRow(row.line, (*changes, *row.changes), row.values)
                for row in rows
                if row is not None
            ),
            source=item.source.value if item.source else None,
            note=remark(item.remarks, "note"),
            fitted=remark(item.remarks, "fitted"),
            span=item.name.span,
            origin=origin_of(item.source),
            missed=item.missed.value if item.missed else None,
            cores=_cores(table, item),
        )

    def _report_double_settings(self, item: ast.Observe, settings: list[_SettingColumn]) -> None:
        """Report what two columns set."""
        targets = [column.target for column in settings]
        for target in dict.fromkeys(t for t in targets if targets.count(t) > 1):
            self.sink.report(
                codes.DUPLICATE_NAME,
                item.name.span,
                f"two columns of `{item.name.text}` set `{target}`",
                hint="remove one of them",
            )

    def _fail(
        self, item: ast.Observe, message: str, hint: str = "fix that line of the file"
    ) -> None:
        self.sink.report(codes.BAD_DATA, item.file.span, message, hint=hint)

    def _column(
        self, item: ast.Column, table: ast.Observe, headings: Sequence[str]
    ) -> _SettingColumn | _ValueColumn | None:
        if item.name.text not in headings:
            self.sink.report(
                codes.BAD_DATA,
                item.name.span,
                f"`{table.file.value}` has no column `{item.name.text}`",
                hint=_heading_hint(item.name, headings),
            )
            return None
        target = item.target
        if isinstance(target, ast.Reference):
            declared = lookup(self.main, target.name)
            is_case = declared is None and target.name.text == "case"
            if is_case:
                self.main.note(Meaning.WORD, target.name)
            is_setting = declared is not None and isinstance(declared.declaration, _SETTINGS)
            is_number = len(target.name.parts) > 1 and self.changes.numbers.is_named(
                target.name, self.main
            )
            if is_case or is_setting or is_number:
                unit = item.unit.span.text if item.unit is not None else None
                for named in () if item.unit is None else nodes_in(item.unit):
                    if isinstance(named, ast.Reference):  # a part of what each cell sets
                        self.main.note(Meaning.UNIT, named.name)
                return _SettingColumn(item.name.text, target.name.text, unit)
        return self._value_column(item)

    def _value_column(self, item: ast.Column) -> _ValueColumn | None:
        expressions = self.expressions
        value = expressions.quantity(item.target, Scope(self.main, EVERYTHING))
        if value is None:
            return None
        factor = Fraction(1)
        if item.unit is not None:
            fixed = Scope(self.main, AllowedNames.NOTHING)
            unit = expressions.quantity(item.unit, fixed, value.dimension, "the unit of the column")
            if unit is None:
                return None
            if isinstance(unit.expr, ir.Constant):
                factor = unit.expr.value
        elif value.dimension != DIMENSIONLESS:
            usual = f"give their unit: `{item.name.text} in {value.dimension} -> …`"
            advised = advice(value, lambda other: other == DIMENSIONLESS, usual)
            self.sink.report(
                codes.WRONG_DIMENSION,
                item.span,
                f"plain numbers are compared with {value.dimension.in_words}",
                hint=advised,
            )
            return None
        tolerance = ClaimChecker(self.expressions).tolerance(item.tolerance, value.dimension)
        if item.tolerance is not None and tolerance is None:
            return None
        is_query = queries_model(item.target, self.main)
        column = ir.MeasuredColumn(
            heading=item.name.text,
            value=value,
            tolerance=tolerance,
            span=item.span,
            is_query=is_query,
        )
        return _ValueColumn(column, factor)

    def _row(
        self,
        item: ast.Observe,
        line: int,
        cells: dict[str, str],
        settings: list[_SettingColumn],
        measured: list[_ValueColumn],
    ) -> ir.ObservedRow | None:
        changes = [self._cell_change(item, line, column, cells) for column in settings]
        known = tuple(change for change in changes if change is not None)
        values: list[Fraction | None] = []
        for column in measured:
            cell = cells[column.column.heading]
            plain = number(cell)
            if plain is None and cell.lower() not in MISSING:
                self._fail(
                    item,
                    f"`{item.file.value}`, line {line}: `{cell[:LONGEST_CELL]}` in column "
                    f"`{column.column.heading}` is not a number",
                    _number_hint(cell, column.column.heading),
                )
                return None
            values.append(None if plain is None else plain * column.factor)
        if len(known) < len(changes):
            return None
        return ir.ObservedRow(line, known, tuple(values))

    def _cell_change(
        self, item: ast.Observe, line: int, column: _SettingColumn, cells: dict[str, str]
    ) -> ir.Change | None:
        """Read a cell as the new value of a setting, as if it stood behind `with`."""
        cell = cells[column.heading]
        where = f"`{item.file.value}`, line {line}, column `{column.heading}`"
        if not cell:
            self._fail(
                item,
                f"{where} is empty, but it sets `{column.target}`",
                "fill it in, or remove the line; only measured values may be missing",
            )
            return None
        if number(cell) is not None and column.unit is not None:
            cell = f"{cell} {column.unit}"
        parsed = parse_change(Source(item.file.value, f"{column.target} = {cell}"))
        change = None
        with self.sink.aside() as found:
            if parsed.value is not None:
                change = self.changes.one(parsed.value, self.main)
        problems = [*parsed.diagnostics, *found]
        for problem in problems[:1]:
            # The cell is no text that anybody wrote: the place is the line of the table.
            self._fail(item, f"{where}: {problem.message}", " ".join(problem.hints))
        return change if not problems else None


def _cores(table: MeasuredTable, item: ast.Observe) -> Fraction | None:
    """Return of how many cores the loads of a table are shares; None where it does not say."""
    if any(column.name.text == CORES for column in item.columns):
        return None  # it sets what each row was measured on
    try:
        return cores_of(table)
    except DataError:
        return None


def report_cores(model: ir.Model, sink: Sink) -> None:
    """Report loads that were measured on another number of cores than the place has."""
    machines = {node.name: model.machines.get(node.machine) for node in model.nodes}
    for observation in model.observations:
        if observation.cores is None:
            continue
        changes = (change for row in observation.rows for change in row.changes)
        set_by_rows = {getattr(change, "name", None) for change in changes}
        for column in observation.measured:
            expression = column.value.expr
            if (
                not isinstance(expression, ir.Measured)
                or expression.kind is not ir.MeasureKind.LOAD
            ):
                continue
            place, _, name = expression.subject.rpartition(".")
            machine = machines.get(place)
            resource = None if machine is None else machine.resource(name)
            if resource is None or resource.kind is not ir.ResourceKind.PROCESSOR:
                continue
            count = resource.capacity.expr
            if not isinstance(count, ir.Constant) or count.value == observation.cores:
                continue
            if not set_by_rows & {place, f"{expression.subject}.cores"}:
                sink.report(
                    codes.BAD_DATA,
                    column.span,
                    f"column `{CORES}` of `{observation.name}` specifies "
                    f"{float(observation.cores):g} cores, but `{place}` has "
                    f"{float(count.value):g}",
                    hint="give the node the measured cores, or compare busy cores: "
                    f"`{expression.subject}.utilization * {float(count.value):g}` with a column "
                    "`cpu in core`",
                )


def _number_hint(cell: str, heading: str) -> str:
    if number(cell.replace(",", ".")) is not None:
        return "write the decimal point as `.`"
    if number(cell.rstrip("% ")) is not None:
        return f"write plain numbers, and their unit in the spec: `{heading} in % -> …`"
    return "leave the cell empty if nothing was measured"


def _heading_hint(name: ast.Name, headings: Sequence[str]) -> str | None:
    """Return the hint which column was meant, in quotes where its heading is no name."""
    near = closest(name.text, headings)
    if near is None or near.isidentifier() or name.span.text.startswith('"'):
        return did_you_mean(name.text, headings)
    hint = f'put a heading that is not a name in quotes: `"{near}"`'
    return instead(name.text, f'"{near}"', words=hint)
