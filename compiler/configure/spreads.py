"""Can a number that is not known be what it is said to be? Each is tried at both of its ends."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in, with_drawn
from qps.compiler.configure.placement import Placement
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, Sink
from qps.compiler.quantities.scales import quantity


def check_spreads(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report each spread that crosses what cannot be: between its ends 95 % of the values lie.

    The configuration itself must be sound: what is wrong with it is reported by others. A fit says
    nothing beyond its table: what of it cannot be is left out of samples.
    """
    placement = model.derived(Placement)
    parameters = {parameter.name: parameter for parameter in model.parameters}
    for name, value in uncertain_in(configuration).items():
        if isinstance(value.distribution, ir.Fitted):
            continue
        for end, side in zip(value.distribution.ends, ("lower", "upper"), strict=True):
            found = Sink()
            placement.check(with_drawn(configuration, {name: end}), found)
            wrong = next((one for one in found.found if one.is_error), None)
            if wrong is None:
                continue
            dimension = parameters[name].dimension
            end_text = quantity(float(end), dimension)
            sink.report(
                codes.SPREAD,
                value.written,
                f"the {side} end of this distribution, {end_text}, is invalid: {wrong.message}",
                secondary=_where(wrong, value),
                hint="narrow it, or use `lognormal(…)` or `between … and …`, which stay above zero"
                if side == "lower"
                else "narrow it, or bound it: `uniform(…)`, `triangular(…)`",
            )
            break


def _where(wrong: Diagnostic, value: ir.Uncertain) -> tuple[Label, ...]:
    """Return where a number cannot be what it may be, unless that is where it is stated."""
    place = wrong.primary
    if place is None or place.span == value.written:
        return ()
    return (Label(place.span, "used for this"),)
