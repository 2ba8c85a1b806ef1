"""Changes of a model: `with …`, scenarios, modes, and what a command line sets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil, floor

from qps.compiler import ir
from qps.compiler.check.model.changes.check_choices import ChoiceChecker
from qps.compiler.check.model.changes.check_new_values import NewValueChecker
from qps.compiler.check.model.changes.check_own_numbers import Settable
from qps.compiler.check.model.changes.check_precedence import report_several
from qps.compiler.check.model.hardware.check_places import PlaceChecker
from qps.compiler.check.names.declarations import (
    Declared,
    IndexedDeclaration,
    LoadedModule,
    chooses,
    kind_of,
    lookup,
    lookup_class,
    names_of,
)
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.places import place_of
from qps.compiler.check.names.reported_names import report_population
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.check_conditions import choices_of
from qps.compiler.check.values.check_expressions import ExpressionChecker
from qps.compiler.check.values.context import Context
from qps.compiler.check.values.part import DeclarationChecker, sound
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Code, Label
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import offered
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast


class ChangeChecker(DeclarationChecker, frozen=True):
    """Checks what changes a model, and the ranges in which it may vary."""

    @property
    def places(self) -> PlaceChecker:
        """What checks what can stand in a place."""
        return PlaceChecker(self.expressions)

    @property
    def numbers(self) -> Settable:
        """What finds numbers that are stated in place."""
        return Settable(self.expressions)

    @property
    def choices(self) -> ChoiceChecker:
        """What checks which mode, scenario or case is chosen."""
        return ChoiceChecker(self.expressions)

    def all_of(self, changes: tuple[ast.Change, ...], scope: Scope) -> tuple[ir.Change, ...]:
        """Return changes of the model; those that were reported are left out."""
        built: tuple[ir.Change, ...] = sound([self.one(change, scope.module) for change in changes])
        self.are_distinct(changes, "{} is set twice here", "first set here", "remove one of them")
        beside = [change for change in built if not isinstance(change, ir.SetScenario)]
        for several in built:
            if isinstance(several, ir.SetScenario):
                report_several(several, beside, self.sink)
        first = {change.name.text: change for change in reversed(changes)}
        for change in changes:
            whole = first.get(".".join(change.name.parts[:-1]))
            if whole is not None and lookup_class(scope.module, change.name) is not None:
                self.sink.report(
                    codes.DUPLICATE_NAME,
                    change.name.span,
                    f"`{change.name.text}` is a kind of `{whole.name.text}`, which is "
                    "also set as a whole",
                    secondary=[Label(whole.name.span, "set here")],
                    hint=single_statement_hint(change.span),
                )
        return built

    def one(self, change: ast.Change, module: LoadedModule) -> ir.Change | None:
        """Return one change, or None where it was reported."""
        if isinstance(change.value, ast.Listed):
            return self.choices.together(change, change.value, module)
        if chooses(module, change.name):
            return self.choices.chosen(change)
        declared = lookup(module, change.name)
        if declared is None:
            return self._set_within(change, module)
        match declared.declaration:
            case ast.Users() if declared.module.prefix:
                report_population(self.sink, change.name.span, declared.module)
                return None
            case ast.Users():
                return self._population(change)
            case ast.Option():
                return self._option(change, declared)
            case ast.Param():
                return self._parameter(change, declared, declared.declaration)
            case ast.Node() | ast.Link():
                return self._place(change, declared)
            case IndexedDeclaration() as family:
                self.sink.report(
                    codes.BAD_SETTING,
                    change.name.span,
                    f"`{change.name.text}` is {kind_of(family)}: only one of them can be set here",
                    secondary=[Label(family.name.span, "declared here")],
                    hint=f"set one, such as `{family.names[0]} = …`; to set all, use a "
                    f"scenario: `scenario all {{ {change.name.text} = … }}`",
                )
                return None
        self.sink.report(
            codes.BAD_SETTING,
            change.name.span,
            f"`{change.name.text}` is {kind_of(declared.declaration)} and cannot be changed",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=_stated_in_a_table(change.name, declared.module)
            or self.numbers.of(declared)
            or "declare the value that should vary as a `param`",
        )
        return None

    def _set_within(self, change: ast.Change, module: LoadedModule) -> ir.Change | None:
        """Return a change of the case, of one kind of a parameter, or of a number in its place."""
        if change.name.text == "case":
            return self.choices.case(change, module)
        declared, kind = lookup_class(module, change.name), change.name.parts[-1]
        if declared is None or self.numbers.is_named(change.name, module):
            return self.numbers.change(change, module)
        name = f"{declared.qualified}.{kind}"
        if isinstance(declared.declaration, ast.Param) and name in self.known.dimensions:
            return self._parameter(change, declared, declared.declaration, name)
        own = declared.declaration.name
        is_share = isinstance(declared.declaration, ast.Kinds)
        self.sink.report(
            codes.BAD_SETTING,
            change.name.span,
            f"a single share of `{own.text}` cannot be set: `{change.name.text}`"
            if is_share
            else f"`{own.text}` has no kind `{kind}`",
            secondary=[Label(own.span, "declared here")],
            hint="shares add up to 1: declare other `kinds`, and select them with an option"
            if is_share
            else f"set it as a whole: `{own.text} = …`",
        )
        return None

    def mode(self, declaration: ast.Mode, requirements: tuple[ir.Requirement, ...]) -> ir.Mode:
        """Return a mode with those of its changes that are sound."""
        own = []
        for change in declaration.changes:
            declared = lookup(self.main, change.name)
            is_users = declared is not None and isinstance(declared.declaration, ast.Users)
            if is_users or chooses(self.main, change.name):
                what = "population" if is_users else change.name.text
                self.sink.report(
                    codes.BAD_SETTING,
                    change.span,
                    f"a mode cannot change the {what}",
                    hint="all modes share one population; change parameters instead",
                )
            else:
                own.append(change)
        changes: tuple[ir.Change, ...] = (
            *self._certain(self.all_of(tuple(own), Scope(self.main))),
            *(loss for one in declaration.losses if (loss := self._loss(one)) is not None),
        )
        name, span = self.main.qualified(declaration.name.text), declaration.name.span
        self.known.modes[name] = ir.Mode(
            name=name, requirements=requirements, changes=changes, span=span, doc=declaration.doc
        )
        return self.known.modes[name]

    def _loss(self, loss: ast.FailedMachines) -> ir.LoseMachines | None:
        """Return a failure of machines or networks, or None where it was reported."""
        declared = lookup(self.main, loss.name)
        if declared is not None and isinstance(declared.declaration, ast.Node | ast.Link):
            return ir.LoseMachines(
                name=declared.qualified, number=loss.number, zones=loss.zones, span=loss.span
            )
        known = list(names_of(self.main, (ast.Node, ast.Link)))
        otherwise = "list nodes or links: `survive any one of web`"
        hint = offered(loss.name.text, known, otherwise)
        if loss.name.text in ("zone", "zones", "region", "regions"):
            several = ", ".join(sorted(known)[:2])
            hint = f"write over how many its machines are spread: `3 zones with {several}`"
        self.sink.report(
            codes.UNKNOWN_NAME if declared is None else codes.WRONG_KIND,
            loss.name.span,
            f"unknown node `{loss.name.text}`"
            if declared is None
            else f"`{loss.name.text}` is {kind_of(declared.declaration)}, which cannot fail",
            hint=hint,
        )
        return None

    def _certain(self, changes: Iterable[ir.Change]) -> Iterator[ir.Change]:
        """Yield the changes of a mode: what one sets is certain, or a parameter that is not."""
        for change in changes:
            if isinstance(change, ir.SetParameter) and isinstance(change.value, ir.Uncertain):
                self.sink.report(
                    codes.SPREAD,
                    change.span,
                    "a mode cannot set an uncertain value",
                    hint="declare a second parameter and set this one to it: `param "
                    f"{change.name}_there = {change.span.text}`",
                )
            else:
                yield change

    def _population(self, change: ast.Change) -> ir.Change | None:
        if isinstance(change.value, ast.Range):
            bounds = self.user_bounds(change.value)
            return None if bounds is None else ir.SetPopulation(*bounds, change.span)
        assert not isinstance(change.value, ast.Listed), "a list was reported"
        value = self.expressions.number(change.value, Scope(self.main), "a number of users")
        if value is None:
            return None
        if value.denominator != 1 or value < 1:
            self.sink.report(
                codes.OUT_OF_RANGE,
                change.value.span,
                "the number of users must be a whole number of at least 1",
                hint=f"write `{change.name.text} = 20`",
            )
            return None
        return ir.SetPopulation(int(value), int(value), change.span)

    def user_bounds(self, bounds: ast.Range) -> tuple[int, int] | None:
        """Return the least and the greatest population of a range."""
        scope = Scope(self.main)
        low = self.expressions.number(bounds.low, scope, "the minimum number of users")
        high = self.expressions.number(bounds.high, scope, "the maximum number of users")
        if low is None or high is None:
            return None
        wrong = _wrong_bounds(low, high, bounds.span.text)
        if wrong is not None:
            self.sink.report(codes.OUT_OF_RANGE, bounds.span, wrong[0], hint=wrong[1])
            return None
        if high > _MOST_USERS:
            self.sink.report(
                codes.OUT_OF_RANGE,
                bounds.high.span,
                f"a population has at most {_MOST_USERS:,} users",
                hint="use a smaller range",
            )
            return None
        return int(low), int(high)

    def end(self, bound: ast.Expr, other: ast.Expr | None, dimension: Dimension) -> Fraction | None:
        """Return an end of a range as a number; in `3..30 frame/s` the unit holds for both."""
        written = ast.with_unit_of(bound, other)
        return self.expressions.number(written, Scope(self.main), "the end of a range", dimension)

    def _option(self, change: ast.Change, declared: Declared) -> ir.Change | None:
        choices = choices_of(declared)
        value = change.value
        word = value.name.text if isinstance(value, ast.Reference) else value.span.text
        if word in choices:
            if isinstance(value, ast.Reference):
                self.main.note(Meaning.CHOICE, value.name, declared.declaration)
            return ir.SetOption(declared.qualified, word, change.span)
        self.sink.report(
            codes.BAD_SETTING,
            value.span,
            f"option `{change.name.text}` has no choice `{word}`",
            secondary=[Label(declared.declaration.name.span, "declared here")],
            hint=offered(word, choices),
        )
        return None

    def _parameter(
        self, change: ast.Change, declared: Declared, param: ast.Param, kind: str | None = None
    ) -> ir.Change | None:
        """Return the new value of a parameter, or of the parameter that is one kind of it."""
        name = kind or declared.qualified
        dimension = self.known.dimensions.get(name)
        value = NewValueChecker(self.expressions).new_value(
            change,
            () if dimension is None else (dimension,),
            param.value.span,
            param.value.span.text,
        )
        if value is None:
            return None
        return ir.SetParameter(name, value.expr, value.span)

    def _place(self, change: ast.Change, declared: Declared) -> ir.Change | None:
        is_node = isinstance(declared.declaration, ast.Node)
        assert not isinstance(change.value, ast.Listed), "a list was reported"
        read = None if isinstance(change.value, ast.Range) else place_of(change.value, self.main)
        what = "machine" if is_node else "network"
        if read is None:
            own, users = change.name.text, self.names(ast.Users)
            is_number = re.fullmatch(r"[\d_]+", change.value.span.text) is not None
            self.sink.report(
                codes.BAD_SETTING,
                change.value.span,
                f"`{own}` takes a {what}",
                hint=f"write `{own} = {what} * 4`; the population is `{users[0]}`"
                if is_number and users
                else f"write `{own} = {what}` or `{own} = {what} * 4`",
            )
            return None
        kind = self.places.kind(read, self.main, is_node=is_node)
        if kind is None:
            return None
        count = None
        if read.count is not None:
            count = self.places.count(read.count, self.main, is_node=is_node)
            if count is None:
                return None
        return ir.SetPlace(declared.qualified, kind, count, change.span)

    def scenario(self, declaration: ast.Scenario) -> ir.Scenario:
        """Return a scenario with those of its changes that are sound."""
        changes = self.all_of(declaration.changes, Scope(self.main))
        name, span = self.main.qualified(declaration.name.text), declaration.name.span
        self.known.scenarios[name] = ir.Scenario(name, changes, span, declaration.doc)
        return self.known.scenarios[name]


class OfChanges(DeclarationChecker, frozen=True):
    """Checks what is demanded of a model as it is changed."""

    @property
    def changes(self) -> ChangeChecker:
        """What checks the changes."""
        return ChangeChecker(self.expressions)

    def refuse(
        self, code: Code, span: Span, message: str, hint: str, earlier: Label | None = None
    ) -> None:
        """Report what cannot be, and what stands before it."""
        self.sink.report(code, span, message, secondary=[earlier] if earlier else [], hint=hint)


def change_checker(context: Context) -> ChangeChecker:
    """Return what checks the changes of a program, those in its expressions, too."""
    return ChangeChecker(ExpressionChecker(context, _changes_behind_with))


def _changes_behind_with(
    expressions: ExpressionChecker, changes: tuple[ast.Change, ...], scope: Scope
) -> tuple[ir.Change, ...]:
    return ChangeChecker(expressions).all_of(changes, scope)


_MOST_USERS = 10**12


def _wrong_bounds(low: Fraction, high: Fraction, text: str) -> tuple[str, str] | None:
    """Return what is wrong with a range of users, and how to fix it."""
    if low.denominator != 1 or high.denominator != 1:
        whole_range = f"{max(1, floor(low))}..{ceil(high)}"
        hint = f"write `{whole_range}`"
        return "the number of users must be a whole number", instead(text, whole_range, words=hint)
    if low < 1:
        from_one = f"1..{max(high, 1)}"
        hint = f"write `{from_one}`"
        return "a range of users must start at 1 or above", instead(text, from_one, words=hint)
    if low > high:
        hint = f"write the smaller end first: `{high}..{low}`"
        return "the end of this range is below its start", instead(
            text, f"{high}..{low}", words=hint
        )
    return None


def _stated_in_a_table(name: ast.Name, module: LoadedModule) -> str:
    """Return where to state what is between a kind and itself, for a name of that."""
    table = module.names.get(name.parts[-3]) if len(name.parts) > 2 else None  # noqa: PLR2004
    if not isinstance(table, IndexedDeclaration):
        return ""
    return f"add it to the table, where missing values are 0: `{' '.join(name.parts[-2:])} …`"
