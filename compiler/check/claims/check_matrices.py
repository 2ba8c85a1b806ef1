"""Matrices: axes with their values, conditions on rows, columns, and claims about them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.claims.check_axes import AxisChecker
from qps.compiler.check.claims.check_rows import RowConditions, is_refused
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.declarations import lookup, owner_in
from qps.compiler.check.names.expression_text import text_in_model
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.check_percentiles import PercentileChecker
from qps.compiler.check.values.definitions import EVERYTHING
from qps.compiler.check.values.part import sound
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean, listed, offered
from qps.compiler.ir.measure_names import CAPACITY, FORMER, current_column, current_text
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import remark

MOST_ROWS = 2**63 - 1

_PER_USER = {
    "cost_per_user": (ir.MeasureKind.COST, MONEY),
    "running_cost_per_user": (ir.MeasureKind.RUNNING_COST, MONEY / TIME),
}
_SATURATIONS = ("saturates_at", "saturates_not_below")
_NUMBERS = ("at", CAPACITY, *_SATURATIONS, "quality_at", "cost", "running_cost")
WORDS = (
    f"{CAPACITY}_known",
    "limited_by",
    "bottleneck",
    "saturated_from_start",
    "stays_full",
)
ANSWERS = (*_NUMBERS, *_PER_USER, *WORDS)
"""The columns that every matrix has, besides its axes, the loads and the reason."""

_QUANTIFIERS = {quantifier.value: quantifier for quantifier in ir.Quantifier}


class MatrixChecker(OfChanges, frozen=True):
    """Checks `matrix` blocks, and claims about them."""

    def matrix(self, item: ast.Matrix) -> ir.Matrix | None:
        """Return a matrix, or None where it was reported."""
        changes = self.changes.all_of(item.changes, Scope(self.main))
        blocks = self._blocks(item)
        at = None if item.at is None else self._at(item.at)
        if blocks is None or len(changes) < len(item.changes):
            return None
        scope, columns = self._columns(item, blocks[0])
        conditions = RowConditions(self.expressions)
        excluded = [conditions.input_condition(expr, scope) for expr in item.excluded]
        wanted = [conditions.condition(expr, scope) for expr in item.wanted]
        sound_conditions: tuple[ir.Condition, ...] = sound(wanted)
        known = [axis.name for axis in blocks[0]] + [column.name for column in columns]
        order = [self._order(key, known) for key in item.order]
        built = ir.Matrix(
            name=item.name.text,
            title=item.title.value if item.title else None,
            changes=changes,
            blocks=blocks,
            excluded=sound(excluded),
            wanted=(
                sound_conditions[0] if len(sound_conditions) == 1 else ir.AllOf(sound_conditions)
            )
            if sound_conditions
            else None,
            columns=tuple(columns),
            selected=tuple(self._called(name, known) for name in item.selected),
            order=sound(order),
            at=at,
            source=item.source.value if item.source else None,
            note=remark(item.remarks, "note"),
            span=item.name.span,
            parts=tuple(_parts(item)),
        )
        if built.size > MOST_ROWS:
            self.refuse(
                codes.NUMBER_SIZE,
                item.name.span,
                f"matrix `{built.name}` has {built.size:.3g} configurations, more than "
                "the limit of 2^63 - 1",
                "use larger steps, or fewer axes",
            )
            return None
        self.known.matrices.setdefault(built.name, built)
        return built

    # -- axes ----------------------------------------------------------------------------

    def _blocks(self, item: ast.Matrix) -> tuple[tuple[ir.Axis, ...], ...] | None:
        """Return the product of the axes, and one more for each `include`."""
        checker = AxisChecker(self.expressions)
        axes = sound(map(checker.axis, item.axes))
        if not item.axes:
            self.refuse(
                codes.MISSING_PART,
                item.name.span,
                f"matrix `{item.name.text}` has no axis",
                "add an axis, such as `station in [ws.ipx, ws.alpha]`",
            )
        message, hint = "{} is already an axis", "list all its values in one axis"
        are_distinct = self.are_distinct(item.axes, message, "first declared here", hint)
        is_sound = are_distinct and len(axes) == len(item.axes) > 0
        blocks = [axes]
        for changes in item.included:
            block = self._included(checker, changes, axes) if is_sound else None
            if block is None:
                is_sound = False
            else:
                blocks.append(block)
        return tuple(blocks) if is_sound else None

    def _included(
        self, checker: AxisChecker, changes: tuple[ast.Change, ...], axes: tuple[ir.Axis, ...]
    ) -> tuple[ir.Axis, ...] | None:
        """Return the axes with one value each for those that an `include` names."""
        block = {axis.name: axis for axis in axes}
        is_sound = True
        for change in changes:
            if change.name.text not in block or isinstance(change.value, ast.Range | ast.Listed):
                self.refuse(
                    codes.BAD_SETTING,
                    change.span,
                    f"this matrix has no axis `{change.name.text}`"
                    if change.name.text not in block
                    else "an `include` gives each axis one value",
                    did_you_mean(change.name.text, list(block))
                    or f"use {listed(list(block), 'or')} with one value",
                )
                is_sound = False
                continue
            value = change.value
            single = ast.Axis(change.span, change.name, ast.Listed(value.span, (value,)))
            axis = checker.axis(single)
            if axis is None:
                is_sound = False
            else:
                block[axis.name] = axis
        return tuple(block.values()) if is_sound else None

    def _at(self, change: ast.Change) -> int | None:
        """Return the population that is requested."""
        declared = lookup(self.main, change.name)
        is_users = declared is not None and isinstance(declared.declaration, ast.Users)
        if not is_users:
            self.refuse(
                codes.BAD_SETTING,
                change.span,
                f"`{change.name.text}` is not the population",
                "`at` sets the population for utilization, quality and cost: `at N = 20`",
            )
            return None
        change_here = self.changes.one(change, self.main)
        if not isinstance(change_here, ir.SetPopulation):
            return None
        if change_here.low != change_here.high:
            self.refuse(
                codes.BAD_SETTING, change.span, "`at` takes one population", "write `at N = 20`"
            )
            return None
        return change_here.low

    # -- columns -------------------------------------------------------------------------

    def _columns(
        self, item: ast.Matrix, axes: tuple[ir.Axis, ...]
    ) -> tuple[Scope, list[ir.MatrixColumn]]:
        """Return the columns of the spec's own, and the scope in which they are known."""
        scope = Scope(self.main, EVERYTHING, self._built_in(item.name.span, axes))
        columns: list[ir.MatrixColumn] = []
        taken: dict[str, Span] = {axis.name: axis.span for axis in axes}
        stated: list[ast.Derived | ast.Percentiles] = [*item.columns, *item.percentiles]
        for derived in sorted(stated, key=lambda one: one.span.start):
            if isinstance(derived, ast.Percentiles):
                columns += self._percentiles(derived, scope, taken)
                continue
            name = derived.name.text
            is_built_in = name in (*ANSWERS, "reason") and not name.startswith(CAPACITY)
            if is_built_in or name in taken:
                earlier = Label(taken[name], "first declared here") if name in taken else None
                self.refuse(
                    codes.DUPLICATE_NAME,
                    derived.name.span,
                    f"the matrix already has a column `{name}`",
                    "choose another name",
                    earlier,
                )
                continue
            taken[name] = derived.name.span
            value = self.expressions.quantity(derived.value, scope)
            if value is None:
                continue
            if not is_refused(self.sink, derived.value.span, parts_of(value.expr)):
                columns.append(ir.MatrixColumn(name, value))
                scope = replace(scope, formals=scope.formals | {name: value})
        known = {*(column.name for column in columns), *(axis.name for axis in axes)}
        for chosen in item.selected:
            is_answer = current_column(chosen.text) in ANSWERS
            is_answer = is_answer and lookup(self.main, chosen) is None
            if chosen.text in known or is_answer:
                self._note_column(chosen)
                continue
            value = self.expressions.quantity(ast.Reference(chosen.span, chosen), scope)
            if value is not None:
                columns.append(ir.MatrixColumn(self._called(chosen, known), value))
                known.add(self._called(chosen, known))
        return scope, columns

    def _percentiles(
        self, item: ast.Percentiles, scope: Scope, spans_by_name: dict[str, Span]
    ) -> Iterator[ir.MatrixColumn]:
        """Yield a column for each percentile of a list, and note their names as taken."""
        for one in PercentileChecker(self.expressions).percentiles(item, scope):
            if one.name in spans_by_name:
                self.refuse(
                    codes.DUPLICATE_NAME,
                    one.span,
                    f"the matrix already has a column `{one.name}`",
                    "remove one of them",
                    Label(spans_by_name[one.name], "first declared here"),
                )
                continue
            spans_by_name[one.name] = one.span
            yield ir.MatrixColumn(one.name, one.value)

    def _built_in(self, span: Span, axes: Iterable[ir.Axis]) -> dict[str, ir.Quantity]:
        """Return the names that only rows of a matrix have: of numbers that stand in place, too."""
        each = ir.Power(ir.Population(), ir.Constant(Fraction(-1)))
        stated = {
            axis.name: ir.Quantity(
                expr=ir.ParameterValue(axis.name), dimension=axis.dimension, span=axis.span
            )
            for axis in axes
            if axis.name in self.known.numbers_set
        }
        return stated | {
            name: ir.Quantity(
                expr=ir.Product((ir.Measured(kind=kind, subject=""), each)),
                dimension=dimension,
                span=span,
            )
            for name, (kind, dimension) in _PER_USER.items()
        }

    def _order(self, key: ast.SortKey, columns: Sequence[str]) -> ir.Order | None:
        known, called = [*columns, *ANSWERS], self._called(key.name, columns)
        if called.removeprefix(ir.ANSWER) in known:
            self._note_column(key.name)
            return ir.Order(called, key.is_descending)
        self.refuse(
            codes.UNKNOWN_NAME,
            key.name.span,
            f"the matrix has no column `{key.name.text}`",
            did_you_mean(key.name.text, known, {FORMER[CAPACITY]: CAPACITY})
            or f"add it: `column name = {key.name.text}`, or `select {key.name.text}`",
        )
        return None

    def _called(self, name: ast.Name, own: Container[str]) -> str:
        """Return what a column is called: an answer otherwise where one of the spec's own is."""
        if name.text in own:
            return name.text
        answer = current_column(name.text)
        if answer in ANSWERS:
            return ir.ANSWER + answer if answer in own else answer
        return current_text(text_in_model(ast.Reference(name.span, name), self.main))

    def _note_column(self, name: ast.Name) -> None:
        """Note what is meant by a column: one of the spec's own, an axis, what was selected."""
        if lookup(self.main, name) is None:
            owner, _ = owner_in(self.main, name)
            if owner is None:
                self.main.note(Meaning.FORMAL, name)

    # -- claims --------------------------------------------------------------------------

    def claim(self, item: ast.MatrixClaim) -> ir.MatrixClaim | None:
        """Return a claim about a matrix, or None where it was reported."""
        matrix = self._claimed(item)
        if matrix is None:
            return None
        scope = Scope(
            self.main,
            EVERYTHING,
            self._built_in(item.span, matrix.axes)
            | {column.name: column.value for column in matrix.columns},
        )
        conditions = RowConditions(self.expressions)
        where = None if item.where is None else conditions.condition(item.where, scope)
        condition = conditions.condition(item.condition, scope)
        if condition is None or (item.where is not None and where is None):
            return None
        count = Fraction(0) if item.count is None else item.count.value
        if item.count is not None and (count.denominator != 1 or count < 1):
            self.refuse(
                codes.OUT_OF_RANGE,
                item.count.span,
                "the number of configurations must be a whole number of at least 1",
                "for none, write `no configuration`, for all, `every configuration`",
            )
            return None
        quantifier = _QUANTIFIERS[item.quantifier]
        return ir.MatrixClaim(
            quantifier=quantifier,
            count=int(count),
            matrix=matrix.name,
            where=where,
            condition=condition,
            span=item.span,
        )

    def _claimed(self, item: ast.MatrixClaim) -> ir.Matrix | None:
        """Return the matrix that a claim is about: the one it names, or the only one."""
        names = self.names(ast.Matrix)
        if item.matrix is not None:
            if item.matrix.text not in names:
                self.refuse(
                    codes.UNKNOWN_NAME,
                    item.matrix.span,
                    f"unknown matrix `{item.matrix.text}`",
                    offered(item.matrix.text, names, "declare it: `matrix name { … }`"),
                )
                return None
            self.main.note(Meaning.MATRIX, item.matrix)
            return self.known.matrices.get(item.matrix.text)
        if len(names) == 1:
            return self.known.matrices.get(names[0])
        self.refuse(
            codes.MISSING_PART,
            item.span,
            "the claim is about a matrix, but the spec has none"
            if not names
            else "the claim names no matrix, but the spec has several",
            "declare one: `matrix name { station in [a, b] }`"
            if not names
            else f"name it: `… configuration of {names[0]}`",
        )
        return None


def _parts(item: ast.Matrix) -> Iterator[tuple[str, str]]:
    """Yield the query of a matrix: the word it is said with, and the text behind it."""
    yield from (("with", _said(change.span)) for change in item.changes)
    yield from (("over", _said(axis.span)) for axis in item.axes)
    yield from (("exclude", _said(expr.span)) for expr in item.excluded)
    for block in item.included:
        yield "include", ", ".join(_said(change.span) for change in block)
    yield from (("where", _said(expr.span)) for expr in item.wanted)
    yield from (("order by", _said(key.span)) for key in item.order)


def _said(span: Span) -> str:
    """Return a text in one line, without comments."""
    return " ".join(re.sub(r"#.*", "", span.text).split())
