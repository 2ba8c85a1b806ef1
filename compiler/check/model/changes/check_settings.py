"""Settings: what two of them set, and scenarios that are requested beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from qps.compiler import ir
from qps.compiler.check.model.changes.check_precedence import (
    report_contradictions,
    report_several,
    report_without_effect,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.ir.changes import what_is_set


def check_unique_settings(changes: Iterable[ir.Change], sink: Sink) -> None:
    """Report what two settings set: neither of them would be guessed to be meant."""
    seen: dict[str, ir.Change] = {}
    for change in changes:
        name = what_is_set(change)
        earlier = seen.setdefault(name, change)
        if earlier is not change:
            sink.report(
                codes.BAD_SETTING,
                change.span,
                f"{name} is set twice",
                secondary=[Label(earlier.span, "first set here")],
                hint="remove one of them",
            )
    for name, change in seen.items():
        whole = seen.get(f"{name.rpartition('.')[0]}`")
        if whole is not None:
            sink.report(
                codes.BAD_SETTING,
                change.span,
                f"{name} is a kind of a value that is also set as a whole",
                secondary=[Label(whole.span, "set here")],
                hint="remove one of them",
            )


def check_one_scenario(scenarios: Sequence[str], changes: Iterable[ir.Change], sink: Sink) -> None:
    """Report a scenario that is set beside the one that was requested."""
    for change in changes:
        if scenarios and isinstance(change, ir.SetScenario):
            sink.report(
                codes.BAD_SETTING,
                change.span,
                f"scenario `{scenarios[0]}` is already applied",
                hint="remove one of them"
                if change.name in scenarios
                else f"apply both: `--scenario {scenarios[-1]} --scenario {change.name}`",
            )


def check_consistent(
    model: ir.Model, scenarios: Sequence[str], changes: Iterable[ir.Change], sink: Sink
) -> None:
    """Report what scenarios that are requested together change to different values."""
    together = [
        ir.SetScenario(scenario.name, scenario.changes, scenario.span)
        for name in dict.fromkeys(scenarios)
        for scenario in model.scenarios
        if scenario.name == name
    ]
    beside = [change for change in changes if not isinstance(change, ir.SetScenario)]
    for change in changes:
        if isinstance(change, ir.SetScenario):
            report_several(change, beside, sink)
    report_contradictions(together, beside, sink)
    if not any(isinstance(change, ir.SetMode) for change in beside):
        report_without_effect(together, sink)
