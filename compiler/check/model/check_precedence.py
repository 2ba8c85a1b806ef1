"""Changes that another change always beats: what a scenario changes and its own mode, too."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.ir.changes import flattened


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


def _name(change: ir.Change) -> str | None:
    """Return the option, parameter or place that is changed."""
    if isinstance(change, ir.SetOption | ir.SetParameter | ir.SetPlace):
        return change.name
    return None
