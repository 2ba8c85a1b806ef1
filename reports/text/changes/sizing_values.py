"""The capacities that a population requires, as plain values: the output of `qps solve --users`."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.former_names import former
from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.changes.sizing_sentences import by_shortage, sizing_answer
from qps.solver.what_if.growth import Growth
from qps.solver.what_if.sizing_result import (
    FailingThere,
    Machines,
    ResourceNeed,
    Sizing,
    SizingFix,
    SizingReliability,
)


class NeededView(Struct, frozen=True, kw_only=True):
    """A resource with its utilization, target, and current and required capacity in `unit`.

    `takes` is the required capacity: null if no capacity is enough, 0 if any capacity is. `exact`
    is the value before rounding up to whole cores. `machines` is null if their number is fixed.
    """

    name: str
    utilization: float
    target: float
    unit: str
    has: float
    takes: float | None
    exact: float | None
    suffices: bool
    machines: Machines | None
    mode: str | None
    known: Certainty


class UnmetRequirementView(Struct, frozen=True, kw_only=True):
    """A requirement that is not met at this population, with its mode, value and limit."""

    requirement: str
    mode: str | None
    value: float
    limit: float
    unit: str
    known: Certainty


class SizingFixView(Struct, frozen=True):
    """The capacity of these resources that alone resolves the remaining failures."""

    resources: tuple[str, ...]
    takes: float
    unit: str
    known: Certainty


class SizingView(Struct, frozen=True, kw_only=True):
    """Required size of each resource for a population, in base units.

    `known` is the certainty of the result: an upper bound if the population may not be supported,
    and a lower bound if it may be supported although a requirement fails. `fixes_known` is the
    certainty that no other capacity fixes the remaining failures.
    """

    schema: str
    file: str
    population: dict[str, int]
    answer: str
    supported: bool
    resources: tuple[NeededView, ...]
    fails_whatever: tuple[UnmetRequirementView, ...]
    fails_still: tuple[UnmetRequirementView, ...]
    fixes: tuple[SizingFixView, ...]
    fixes_known: Certainty
    growth: Growth | None
    known: Certainty
    reliability: SizingReliability | None
    """Whether the proposal holds with model errors; null without a proposal."""
    nominal_inputs: tuple[str, ...]

    given = former("given", "population")
    mends = former("mends", "fixes")
    mends_known = former("mends_known", "fixes_known")


def sizing_view(sizing: Sizing, file: str) -> SizingView:
    """Return the answer as plain values."""
    return SizingView(
        schema="qps/sizing/4",
        file=file,
        population={sizing.population: sizing.at},
        answer=sizing_answer(sizing),
        supported=sizing.is_possible,
        resources=tuple(_needed(one) for one in by_shortage(sizing)),
        fails_whatever=tuple(_failing_view(one) for one in sizing.fails_whatever),
        fails_still=tuple(_failing_view(one) for one in sizing.fails_still),
        fixes=tuple(_fix_view(mend) for mend in sizing.fixes),
        fixes_known=sizing.fixes_known,
        growth=sizing.growth,
        known=sizing.known,
        reliability=sizing.reliability,
        nominal_inputs=sizing.nominal_inputs,
    )


def _fix_view(fix: SizingFix) -> SizingFixView:
    unit = str(fix.capacity.dimension)
    return SizingFixView(fix.resources, fix.takes, unit, fix.known)


def _needed(one: ResourceNeed) -> NeededView:
    return NeededView(
        name=one.resource,
        utilization=one.load,
        target=one.target,
        unit=str(one.capacity.dimension),
        has=one.capacity.has,
        takes=one.takes,
        exact=one.exact,
        suffices=one.suffices,
        machines=one.machines,
        mode=one.mode,
        known=one.known,
    )


def _failing_view(one: FailingThere) -> UnmetRequirementView:
    unit, known = str(one.criterion.dimension), one.known
    return UnmetRequirementView(
        requirement=one.criterion.name,
        mode=one.mode,
        value=one.value,
        limit=one.limit,
        unit=unit,
        known=known,
    )
