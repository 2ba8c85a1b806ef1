"""Settings that select a time of a profile as a mode: `mode = 18:00 on Friday`."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Source, Span

_MOST_NAMED = 6


def selects_a_time(text: str) -> bool:
    """Return whether a setting selects a time; its name has a colon, which no other mode has.

    >>> selects_a_time("mode = 18:00 on Friday"), selects_a_time("mode=night")
    (True, False)
    """
    name, _, value = text.partition("=")
    return name.strip() == "mode" and ":" in value


def check_time_setting(text: str, label: str, model: ir.Model, sink: Sink) -> ir.SetMode | None:
    """Return the mode of a time that can limit capacity; others are reported."""
    wanted = " ".join(text.partition("=")[2].split())
    for mode in model.modes:
        if mode.name == wanted:
            return ir.SetMode(mode.name, mode.changes, mode.span)
    times = [f"`{mode.name}`" for mode in model.modes if ":" in mode.name]
    named = ", ".join(times[:_MOST_NAMED]) + ", …" * (len(times) > _MOST_NAMED)
    profiles = " ".join(f"--set {one.name}=…" for one in model.profiles)
    if times:
        hint = f"times that can limit capacity: {named}; for another one, use `{profiles}`"
    elif model.profiles:
        hint = f"only one time can limit capacity; for another one, use `{profiles}`"
    else:
        hint = "declare a `profile` to have times"
    span = Span(Source(label, text), 0, len(text))
    sink.report(codes.BAD_SETTING, span, f"unknown time `{wanted}`", hint=hint)
    return None
