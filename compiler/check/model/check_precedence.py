"""Changes that another change beats, or contradicts: of modes, of scenarios made together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.changes import flattened, what_is_set


def report_without_effect(changes: tuple[ir.Change, ...], sink: Sink) -> None:
    """Report what a scenario changes without effect: the mode that it takes changes it too."""
    every = list(flattened(changes))
    taken = [change for change in every if isinstance(change, ir.SetMode)][-1:]
    beaten = {_name(own): (mode.name, own) for mode in taken for own in mode.changes}
    for change in every:
        name = _name(change)
        if name is None or name not in beaten:
            continue
        mode, own = beaten[name]
        sink.report(
            codes.BAD_SETTING,
            change.span,
            f"`{name}` has no effect here: mode `{mode}` changes it too, and comes after scenarios",
            secondary=[Label(own.span, "this is what counts")],
            hint="take one of them away; only what is set beside a scenario, behind `with` or "
            "`--set`, wins over a mode",
        )


def report_contradictions(
    together: Sequence[ir.SetScenario],
    beside: Iterable[ir.Change],
    sink: Sink,
    listed: Span | None = None,
) -> None:
    """Report what scenarios that are made together, where they are listed, change differently.

    What is changed `beside` them is so decided. The order in which they are named decides nothing.
    """
    decided = {what_is_set(change) for change in beside}
    place = [] if listed is None else [Label(listed, "together here")]
    seen: dict[str, tuple[str, ir.Change]] = {}
    for scenario in together:
        own = {what_is_set(change): change for change in flattened(scenario.changes)}
        for told, change in own.items():
            for first, earlier in _against(told, change, seen):
                if decided & {told, what_is_set(earlier)}:
                    continue
                sink.report(
                    codes.BAD_SETTING,
                    change.span,
                    f"scenarios `{first}` and `{scenario.name}` are made together, and each "
                    f"changes {told} to another value",
                    label=f"by `{scenario.name}`",
                    secondary=[Label(earlier.span, f"by `{first}`"), *place],
                    hint="leave one of them out, or say beside them what holds",
                )
        seen = {told: (scenario.name, change) for told, change in own.items()} | seen


def report_several(chosen: ir.SetScenario, beside: Iterable[ir.Change], sink: Sink) -> None:
    """Report contradictions in `scenario = [one, other]`, if it is such a list."""
    together = [inner for inner in chosen.changes if isinstance(inner, ir.SetScenario)]
    report_contradictions(together, (*beside, *chosen.changes[len(together) :]), sink, chosen.span)


def _against(
    told: str, change: ir.Change, seen: dict[str, tuple[str, ir.Change]]
) -> Iterator[tuple[str, ir.Change]]:
    """Yield what was changed before otherwise: the same, all of its kinds, one of its kinds."""
    same = seen.get(told)
    if same is not None and replace(change, span=same[1].span) != same[1]:
        yield same
    if not isinstance(change, ir.SetParameter):
        return
    for first, earlier in seen.values():
        if isinstance(earlier, ir.SetParameter) and (
            earlier.name == change.name.rpartition(".")[0]
            or change.name == earlier.name.rpartition(".")[0]
        ):
            yield first, earlier


def _name(change: ir.Change) -> str | None:
    """Return the option, parameter or place that is changed."""
    if isinstance(change, ir.SetOption | ir.SetParameter | ir.SetPlace):
        return change.name
    return None
