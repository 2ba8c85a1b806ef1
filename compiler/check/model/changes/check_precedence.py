"""Changes that another change beats, or contradicts: of modes, of scenarios made together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.changes import flattened, is_on_the_same, what_is_set


def report_without_effect(together: Sequence[ir.SetScenario], sink: Sink) -> None:
    """Report what one of several scenarios changes and the mode that another one takes does, too.

    Which of them is named first decides nothing. What one scenario says beside its own mode holds.
    """
    for scenario in together:
        taken = [
            (other.name, change)
            for other in together
            if other is not scenario
            for change in flattened(other.changes)
            if isinstance(change, ir.SetMode)
        ]
        for change in flattened(scenario.changes):
            beaten = [
                (by, mode.name, own)
                for by, mode in taken
                for own in mode.changes
                if not isinstance(change, ir.SetMode) and is_on_the_same(change, own)
            ]
            if not beaten:
                continue
            by, mode, own = beaten[-1]
            sink.report(
                codes.BAD_SETTING,
                change.span,
                f"{what_is_set(change)} has no effect here: mode `{mode}` of scenario "
                f"`{by}` overrides it",
                secondary=[Label(own.span, "this value applies")],
                hint="remove one of them, or set the value next to the scenarios",
            )


def report_contradictions(
    together: Sequence[ir.SetScenario],
    alternatives: Iterable[ir.Change],
    sink: Sink,
    listed: Span | None = None,
) -> None:
    """Report what scenarios that are made together, where they are listed, change differently.

    What is changed `alternatives` them is so decided. The order in which they are named decides
    nothing.
    """
    decided = {what_is_set(change) for change in alternatives}
    place = [] if listed is None else [Label(listed, "combined here")]
    seen: dict[str, tuple[str, ir.Change]] = {}
    for scenario in together:
        own = {what_is_set(change): change for change in flattened(scenario.changes)}
        for number, change in own.items():
            for first, earlier in _against(number, change, seen):
                if decided & {number, what_is_set(earlier)}:
                    continue
                sink.report(
                    codes.BAD_SETTING,
                    change.span,
                    f"scenarios `{first}` and `{scenario.name}` set {number} to different values",
                    label=f"by `{scenario.name}`",
                    secondary=[Label(earlier.span, f"by `{first}`"), *place],
                    hint="remove one of them, or set the value explicitly",
                )
        seen = {number: (scenario.name, change) for number, change in own.items()} | seen


def report_several(chosen: ir.SetScenario, alternatives: Iterable[ir.Change], sink: Sink) -> None:
    """Report contradictions in `scenario = [one, other]`, if it is such a list."""
    together = [inner for inner in chosen.changes if isinstance(inner, ir.SetScenario)]
    alternatives = (*alternatives, *chosen.changes[len(together) :])
    report_contradictions(together, alternatives, sink, chosen.span)
    if not any(isinstance(change, ir.SetMode) for change in alternatives):
        report_without_effect(together, sink)


def _against(
    text: str, change: ir.Change, seen: dict[str, tuple[str, ir.Change]]
) -> Iterator[tuple[str, ir.Change]]:
    """Yield what was changed before otherwise: the same, all of its kinds, one of its kinds."""
    same = seen.get(text)
    if same is not None and _compared(change, same[1].span) != _compared(same[1], same[1].span):
        yield same
    if not isinstance(change, ir.SetParameter):
        return
    for first, earlier in seen.values():
        if isinstance(earlier, ir.SetParameter) and (
            earlier.name == change.name.rpartition(".")[0]
            or change.name == earlier.name.rpartition(".")[0]
        ):
            yield first, earlier


def _compared(change: ir.Change, span: Span) -> ir.Change:
    """Return a change as if it stood in a place; of a mode that is taken, which one it is."""
    if isinstance(change, ir.SetMode):
        return replace(change, changes=(), span=span)
    return replace(change, span=span)
