"""Steps that would run a fraction of a time: a chance, or an average service demand, is meant.

`scan * 1.4 %` could say that 1.4 % of the items run all of `scan`, or that every item runs 1.4 % of
it. A response time depends on which of the two it is, so that the spec has to say it. The memory
that a flow keeps is an amount, of which a fraction has one meaning. So has an uncertain factor: it
scales the demand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.bound_hints import shown
from qps.compiler.configure.configuration import Configuration, with_typical
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.cost_items import is_amount_per_flow, item_of
from qps.compiler.ir.parts import parts_of
from qps.compiler.ir.waiting import machine_at

_ALONE = re.compile(r"[\d._]+(\s*%)?|\w+|\([^()]*\)")
"""What may stand before a colon without brackets around it."""
_MOST_PARAMETERS = 4
"""Of more parameters in a number of runs not all ends of their ranges are tried."""


class RepeatedStep(Struct, frozen=True, kw_only=True):
    """A step that takes time and is run several times.

    `demand` is how an average demand would be written, with `{}` for the number of runs. Of a step
    that `is_split` the rest of a number of runs is a chance; of another one it is whole. A flow
    `keeps` some of a store as well.
    """

    step: ir.Step
    repeat: ir.Expr
    demand: str
    is_split: bool
    keeps: bool

    def allows(self, runs: Fraction) -> bool:
        """Return whether it may run so often."""
        return not 0 < runs < 1 if self.is_split else runs.denominator == 1

    def wrong_runs(self, users: Iterable[Folder]) -> list[Fraction]:
        """Return how often it would run for some of the users, where it cannot run so often."""
        runs = [(at, at.fold(self.repeat)) for at in users]
        return [
            value
            for at, value in runs
            if value is not None and not self.allows(value) and not is_scaled(self.repeat, at)
        ]

    def report(self, runs: Fraction | None, sink: Sink) -> None:
        """Report that it runs a fraction of a time; None for `runs` where their range allows it."""
        name, written = self.step.component.name, self.step.written
        sink.report(
            codes.PART_OF_A_STEP,
            self.step.span if written is None else written.whole,
            f"`{name}` cannot run a fractional number of times",
            label="this can be between 0 and 1" if runs is None else f"this is {shown(runs)}",
            hint=self._hint(written, runs),
        )

    def _hint(self, written: ir.WrittenRuns | None, runs: Fraction | None) -> str:
        name = self.step.component.name
        if written is None:
            share = "10 %" if runs is None else f"{shown(runs * 100)} %"
            return (
                f"if only some items run `{name}`, run it in the stream: `{share}: {name}`; if "
                "every item runs part of it, state the average in the component"
            )
        amount = amount_written(written)
        average = f"state the average in the component: `{self.demand.format(amount)}`"
        if self.keeps:
            return f"move the memory that a flow keeps to a separate component, or {average}"
        if not self.is_split:
            return average
        chance = f"{amount}: {written.single}"
        return instead(
            written.whole.text,
            chance,
            at=written.whole,
            words=f"if only some items run `{name}`, write `{chance}`; if every item runs part of "
            f"it, {average}",
        )


def amount_written(written: ir.WrittenRuns) -> str:
    """Return how often a step runs as it can stand before a colon or a `*`."""
    amount = " ".join(written.amount.text.split())
    return amount if _ALONE.fullmatch(amount) else f"({amount})"


def repeated_steps(
    stream: ir.Stream, model: ir.Model, configuration: Configuration
) -> Iterator[RepeatedStep]:
    """Yield the steps of a stream that take time and say how often they run."""
    for visit in (leg for leg in stream.legs if isinstance(leg, ir.Visit)):
        machine = machine_at(model, configuration.nodes[visit.node])
        for step in visit.steps:
            if step.repeat is not None and step.repeat != ir.Constant(Fraction(1)):
                found = repeated_step(step, step.repeat, machine)
                if found is not None:
                    yield found


def repeated_step(
    step: ir.Step, repeat: ir.Expr, machine: ir.Machine | None
) -> RepeatedStep | None:
    """Return a step with a number of runs; None where it takes no time."""
    demand, is_retained = "", False
    effects = step.component.effects
    for cost in step.component.costs:
        resource = machine.resource(cost.resource) if machine else None
        for term in cost.terms if resource else ():
            assert resource is not None
            if is_amount_per_flow(term, resource):
                is_retained = True
            elif not demand and item_of(term, resource.work):
                demand = f"{cost.resource} {{}} * {_literal(term.span)}"
    for effect in effects:
        if effect.kind is ir.EffectKind.DELAY and effect.value is not None and not demand:
            demand = f"delay {{}} * {_literal(effect.value.span)}"
    if not demand:
        return None
    is_plain = all(effect.kind is ir.EffectKind.DELAY for effect in effects)
    return RepeatedStep(
        step=step,
        repeat=repeat,
        demand=demand,
        is_split=is_plain and not is_retained and step.spread is None and step.group is None,
        keeps=is_retained,
    )


def is_as_stated(repeat: ir.Expr, model: ir.Model, configuration: Configuration) -> bool:
    """Return whether a number of runs rests on nothing that the configuration changes."""
    named = _named_in(repeat)
    return all(
        configuration.values_from[one.name] is one.value_span
        for one in model.parameters
        if one.name in named
    )


def is_scaled(repeat: ir.Expr, at: Folder) -> bool:
    """Return whether a number of runs is whole at the typical values of uncertain numbers.

    Other values of these scale the demand of each run: `relay * trust.same_load` runs once, and
    what that takes is known up to a factor.
    """
    configuration = with_typical(at.configuration)
    if configuration is at.configuration:
        return False
    typical = Folder(
        configuration=configuration, population=at.population, case=at.case, classes=at.classes
    )
    runs = typical.fold(repeat)
    return runs is not None and runs.denominator == 1


def may_be_fraction(repeat: ir.Expr, model: ir.Model, configuration: Configuration) -> bool:
    """Return whether the ranges of parameters keep a number of runs between 0 and 1."""
    named = _named_in(repeat)
    ends = {
        one.name: (one.low, one.high)
        for one in model.parameters
        if one.name in named and one.low is not None and one.high is not None
    }
    if not ends or len(ends) > _MOST_PARAMETERS:
        return False
    found: list[Fraction] = []
    for corner in product(*ends.values()):
        parameters = {**configuration.parameters, **dict(zip(ends, corner, strict=True))}
        of = replace(configuration, parameters=parameters)
        value = Folder(configuration=of, population=Fraction(of.low)).fold(repeat)
        if value is None:
            return False
        found.append(value)
    return 0 <= min(found) < max(found) <= 1


def _named_in(expr: ir.Expr) -> set[str]:
    return {part.name for part in parts_of(expr) if isinstance(part, ir.ParameterValue)}


def _literal(span: Span) -> str:
    text = " ".join(span.text.split())
    return text.replace("{", "{{").replace("}", "}}")
