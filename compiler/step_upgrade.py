"""Steps of older texts that run a fraction of a time: what they cost on average, or a chance.

`scan * 1.4 %` once multiplied the service demand of every item. Results stay the same where a
component states that average; where only some items run the step, what is meant is a chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.fractional_runs import (
    RepeatedStep,
    amount_written,
    is_scaled,
    may_be_fraction,
    repeated_steps,
)
from qps.compiler.diagnostics.diagnostic import Diagnostic, Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.pipeline import check_source
from qps.compiler.program_check import Findings
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.compiler.syntax.parse import parse
from qps.compiler.syntax.text_edits import TextEdit, edited, replacement

_PLAIN = ast.Number | ast.Quantity | ast.Reference | ast.Product | ast.Call


class RewrittenStep(Struct, frozen=True, kw_only=True):
    """A step that means something else now, with both of what may be meant.

    One that `is_repeated` ran 2.5 times: by chance it does so as it is written.
    """

    written: str
    component: str
    average: str
    chance: str
    is_chance: bool
    is_repeated: bool


class UpgradedSteps(Struct, frozen=True, kw_only=True):
    """A text with the steps that were rewritten, and the errors of those that cannot be."""

    source: Source
    rewritten: tuple[RewrittenStep, ...] = ()
    left: tuple[Diagnostic, ...] = ()


class _Found(Struct, frozen=True):
    """A step that ran a fraction of a time; None for `runs` where their range allows it."""

    step: RepeatedStep
    runs: Fraction | None


def with_upgraded_steps(source: Source, *, is_first: bool, by_chance: bool) -> UpgradedSteps:
    """Return a text whose steps run whole times, or by a chance.

    A step of a text of the first edition that ran 2.5 times had 2.5 times the demand; in this
    edition half of the items run it a third time. So that it is rewritten, too, if `is_first`.
    """
    findings = Findings()
    check_source(source, findings=findings)
    found = (
        []
        if findings.model is None
        else list(_fractional(findings.model, source, is_first=is_first))
    )
    if not found:
        return UpgradedSteps(source=source)
    text = _Rewriting(source=source)
    for one in found:
        if not (text.by_chance(one) if by_chance else text.on_average(one)):
            text.left.append(one)
    new = Source(source.label, edited(source.text, text.edits), source.folder)
    if _error_codes(new) - _error_codes(source):
        return UpgradedSteps(source=source, left=_errors(found))
    return UpgradedSteps(source=new, rewritten=tuple(text.rewritten), left=_errors(text.left))


def _fractional(model: ir.Model, source: Source, *, is_first: bool) -> Iterator[_Found]:
    """Yield the steps of a text that older editions read otherwise, each once."""
    configuration = base_configuration(model)
    at = Folder(configuration=configuration, population=Fraction(configuration.low))
    seen = set[Span]()
    for stream in model.streams:
        for one in repeated_steps(stream, model, configuration):
            written = one.step.written
            place = one.step.span if written is None else written.whole
            if place.source is not source or one.step.span in seen:
                continue
            runs = at.fold(one.repeat)
            is_wrong = may_be_fraction(one.repeat, model, configuration) or (
                runs is not None
                and not is_scaled(one.repeat, at)
                and (not one.allows(runs) or (is_first and written and runs.denominator != 1))
            )
            if is_wrong:
                seen.add(one.step.span)
                yield _Found(one, runs)


class _Rewriting(Struct, kw_only=True):
    """The edits of a text."""

    source: Source
    edits: list[TextEdit] = field(default_factory=list)
    rewritten: list[RewrittenStep] = field(default_factory=list)
    left: list[_Found] = field(default_factory=list)
    _module: ast.Module | None = None
    _copies: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def module(self) -> ast.Module:
        """The syntax tree of the text."""
        if self._module is None:
            self._module = parse(self.source).value
        assert self._module is not None
        return self._module

    def by_chance(self, found: _Found) -> bool:
        """Let some of the items run a step; False where it cannot be a chance."""
        written, runs = found.step.step.written, found.runs
        if written is None or not found.step.is_split:
            return False
        if runs is None or runs < 1:
            chance = f"{amount_written(written)}: {written.single}"
            self.edits.append(replacement(written.whole, chance))
        self._record(found, is_chance=True)
        return True

    def on_average(self, found: _Found) -> bool:
        """State in a component what a step costs on average; False where it is not that plain."""
        written = found.step.step.written
        step = None if written is None else self._step_at(written.whole.start)
        declared = None if step is None else self._component(step.component.text)
        if written is None or step is None or declared is None:
            return False
        parts = _parts(declared)
        amount = amount_written(written)
        if parts is None or {formal.name.text for formal in declared.formals} & _words(amount):
            return False
        name = step.component
        if self._is_alone(declared):
            self.edits += _multiplied(parts, amount)
        else:
            self._copy(declared, parts, amount)
            copy = self._copies[declared.name.text, amount]
            self.edits.append(replacement(name.span, copy))
        end = name.span.start + len(written.whole.text[: written.whole.text.rindex("*")].rstrip())
        self.edits.append(TextEdit(end, written.whole.end, ""))
        self._record(found, is_chance=False)
        return True

    def _step_at(self, start: int) -> ast.Step | None:
        steps = (one for one in nodes_in(self.module) if isinstance(one, ast.Step))
        return next((one for one in steps if one.span.start == start), None)

    def _component(self, name: str) -> ast.Component | None:
        components = self.module.every(ast.Component)
        return next((one for one in components if one.name.text == name), None)

    def _is_alone(self, declared: ast.Component) -> bool:
        """Return whether a component is named by one step, and by nothing else."""
        name = declared.name.text
        uses = [
            one
            for one in nodes_in(self.module)
            if isinstance(one, ast.Name) and one is not declared.name and one.text == name
        ]
        return len(uses) == 1

    def _copy(self, declared: ast.Component, parts: list[ast.Expr], amount: str) -> None:
        key = declared.name.text, amount
        if key in self._copies:
            return
        taken = {one.text for one in nodes_in(self.module) if isinstance(one, ast.Name)}
        taken |= set(self._copies.values())
        name = free = f"{declared.name.text}_average"
        number = 1
        while free in taken:
            number += 1
            free = f"{name}{number}"
        self._copies[key] = free
        start, whole = declared.span.start, declared.span
        own = [replacement(declared.name.span, free), *_multiplied(parts, amount)]
        moved = [TextEdit(one.start - start, one.end - start, one.text) for one in own]
        line = self.source.text.find("\n", whole.end)  # a comment behind it stays with it
        end = len(self.source.text) if line < 0 else line
        self.edits.append(TextEdit(end, end, f"\n{edited(whole.text, moved)}"))

    def _record(self, found: _Found, *, is_chance: bool) -> None:
        step, runs = found.step, found.runs
        written = step.step.written
        assert written is not None
        amount = amount_written(written)
        self.rewritten.append(
            RewrittenStep(
                written=" ".join(written.whole.text.split()),
                component=step.step.component.name,
                average=step.demand.format(amount),
                chance=f"{amount}: {written.single}",
                is_chance=is_chance,
                is_repeated=runs is not None and runs > 1,
            )
        )


def _parts(declared: ast.Component) -> list[ast.Expr] | None:
    """Return the demands and delays of a component; None where they are not stated plainly."""
    if declared.parent is not None:
        return None
    found: list[ast.Expr] = []
    for item in declared.items:
        if isinstance(item, ast.Effect) and item.kind != ir.EffectKind.DELAY.value:
            continue  # it was applied once, however often the step ran
        value = None if isinstance(item, ast.Run) else _value(item)
        if value is None:
            return None
        found.append(value)
    return found


def _value(item: ast.Cost | ast.Effect) -> ast.Expr | None:
    """Return what is multiplied of a demand or a delay: of an uncertain one what it is about."""
    value = item.amount if isinstance(item, ast.Cost) else item.value
    if isinstance(value, ast.Around) and value.half_width.span.text.rstrip().endswith("%"):
        value = value.middle
    return value if isinstance(value, _PLAIN | ast.Sum) else None


def _multiplied(parts: Iterable[ast.Expr], amount: str) -> Iterator[TextEdit]:
    for part in parts:
        start, end = part.span.start, part.span.end
        opened, closed = ("(", ")") if isinstance(part, ast.Sum) else ("", "")
        yield TextEdit(start, start, f"{amount} * {opened}")
        if closed:
            yield TextEdit(end, end, closed)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _errors(found: Iterable[_Found]) -> tuple[Diagnostic, ...]:
    sink = Sink()
    for one in found:
        one.step.report(one.runs, sink)
    return tuple(sink.found)


def _error_codes(source: Source) -> set[str]:
    return {one.code.id for one in check_source(source).diagnostics if one.is_error}
