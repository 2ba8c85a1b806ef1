"""What a name means where an expression stands."""

from __future__ import annotations

from enum import Flag, auto

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.check.names.declarations import LoadedModule
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir import Quantity


class AllowedNames(Flag):
    """What an expression may mention, besides numbers, parameters and functions."""

    NOTHING = 0
    POPULATION = auto()
    MEASURES = auto()
    ANSWERS = auto()  # saturation points, the largest acceptable population
    ELASTIC = auto()  # parameters that take what capacity is left
    QUALITY = auto()  # the metric over all requirements
    HORIZON = auto()  # until when a forecast is supported, how often requirements are met
    FORMALS = auto()  # formals without a value: of a function that nothing calls
    FLOWS = POPULATION | ELASTIC
    MODEL = POPULATION | ELASTIC | MEASURES


_NOT_ALLOWED = (
    (
        AllowedNames.POPULATION,
        "must not depend on the population",
        (
            "use the population in traffic, counts, repetitions (`step * (N - 1)`), or "
            "with `max` and `min`"
        ),
    ),
    (
        AllowedNames.MEASURES,
        "is an input of the model and cannot use a measure",
        "use a number, or declare it as a `measure`",
    ),
    (
        AllowedNames.QUALITY,
        "cannot use the quality",
        "use quality in claims and figures; to limit it, tighten the requirements",
    ),
    (
        AllowedNames.ELASTIC,
        "must not depend on an elastic parameter",
        (
            "use it in traffic, service demands, repetitions, measures or claims; or fix it "
            "with `param x = …`"
        ),
    ),
    (
        AllowedNames.HORIZON,
        "cannot use `holds_until` or `availability`",
        (
            "use it in an `expect`: `holds_until >= 2028-06`, or `availability >= 99.9 % with "
            "web = vm * 3` for each configuration"
        ),
    ),
    (
        AllowedNames.ANSWERS,
        "cannot use a result of solving",
        "use it in an `expect` or a `matrix`",
    ),
)


class Scope(Struct, frozen=True):
    """A module, the values of the formals in force, and what may be spoken of."""

    module: LoadedModule
    allowed: AllowedNames = AllowedNames.POPULATION
    formals: dict[str, Quantity] = field(default_factory=dict)

    def within(self, module: LoadedModule, formals: dict[str, Quantity] | None = None) -> Scope:
        """Return the scope of a definition that stands in a module."""
        return replace(self, module=module, formals=formals or {})

    def allows(
        self, mentions: AllowedNames, span: Span, sink: Sink, instead: str | None = None
    ) -> bool:
        """Return whether a value may mention what it does; else it is reported.

        `instead` is the hint where it may not depend on the population or on what is elastic.
        """
        for flag, message, usual in _NOT_ALLOWED:
            if flag in mentions and flag not in self.allowed:
                hint = instead if instead and flag in AllowedNames.FLOWS else usual
                sink.report(codes.VARIES, span, f"this value {message}", hint=hint)
                return False
        return True
