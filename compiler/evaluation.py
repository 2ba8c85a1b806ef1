"""What expressions of a text come to, by the places where they stand: for editors.

    value = examined.values.at(span)         # a KnownValue, None where nothing is known of it
    value.text(), value.at(200)              # "3.2 ms", Fraction(2, 625) in base units
    value.dimension, value.sources, value.is_uncertain, value.varies

What was checked while the model was made is reported; nothing is checked anew. A value holds for
the spec as it is stated: in no scenario, with the first choice of each option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.check.names.scope import AllowedNames
from qps.compiler.check.values.values import Value
from qps.compiler.configure.configuration import Configuration, base_configuration
from qps.compiler.configure.fold import CircleError, Folder, UnstatedCaseError, ValueTooLargeError
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.quantities.scales import quantity
from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.exact_algebra.exact_values import NoValueError, as_float

ValuesByPlace = dict[Span, dict[str, Value]]
"""Checked expressions by their places, each by the prefixes of the modules that it stands in."""


class PlacedValue(Struct, frozen=True, kw_only=True):
    """What is known of an expression that stands at a place, in one instance of its file.

    `sources` are what is cited for the numbers in it. `within` is what the spec calls the module,
    empty for its own. `varies` with the population; what `is_query`, of a measure or of what is
    left, is known only when the spec is solved, and has no value here.
    """

    span: Span
    expr: ir.Expr
    dimension: Dimension
    sources: tuple[str, ...]
    within: str
    varies: bool
    is_query: bool
    is_uncertain: bool
    configuration: Configuration

    def at(self, users: int) -> Fraction | None:
        """Return the value for so many users in base units; None for none that is rational."""
        if self.is_query:
            return None
        folder = Folder(configuration=self.configuration, population=Fraction(users))
        try:
            return folder.fold(self.expr)
        except (
            CircleError, KeyError, NoValueError, PowerTooLongError, UnstatedCaseError,
            ValueTooLargeError,
        ):  # fmt: skip
            return None

    @property
    def value(self) -> Fraction | None:
        """The value in base units that holds for any number of users; None where it varies."""
        return None if self.varies else self.at(self.configuration.low)

    def text(self) -> str:
        """Return the value as people read it, at both ends of the population where it varies.

        Empty where none is known here.
        """
        points = (self.configuration.low, self.configuration.high)
        found = [self.at(users) for users in (points if self.varies else points[:1])]
        share = "%" in self.span.text
        texts = [
            quantity(as_float(one), self.dimension, share=share) for one in found if one is not None
        ]
        return " … ".join(dict.fromkeys(texts)) if len(texts) == len(found) else ""


class KnownValues(Struct, frozen=True, dict=True):
    """Values by place of a model that was checked; the model may lack what is wrong."""

    values_by_place: ValuesByPlace
    model: ir.Model

    @cached_property
    def _configuration(self) -> Configuration:
        return base_configuration(self.model)

    @cached_property
    def _uncertain(self) -> frozenset[str]:
        """The parameters that are not known, and those that rest on one."""
        rests = {p.name: set(_parameters_in(p.value)) for p in self.model.parameters}
        found = {p.name for p in self.model.parameters if isinstance(p.value, ir.Uncertain)}
        while more := {name for name, on in rests.items() if on & found} - found:
            found |= more
        return frozenset(found)

    @cached_property
    def _by_source(self) -> Mapping[Source, list[Span]]:
        found: dict[Source, list[Span]] = {}
        for span in sorted(self.values_by_place, key=lambda span: (span.start, -span.end)):
            found.setdefault(span.source, []).append(span)
        return found

    def at(self, span: Span) -> PlacedValue | None:
        """Return what is known of the expression of just this stretch of a text.

        Where its file has several instances in which it is not the same, nothing is.
        """
        met = self.values_by_place.get(span)
        if not met:
            return None
        placed = [self._placed(value, within) for within, value in met.items()]
        first = placed[0]
        is_one = all((one.expr, one.dimension) == (first.expr, first.dimension) for one in placed)
        return first if is_one else None

    def around(self, source: Source, offset: int) -> tuple[PlacedValue, ...]:
        """Return the expressions around a place of a text, the innermost first."""
        spans = [s for s in self._by_source.get(source, ()) if s.start <= offset <= s.end]
        found = (self.at(span) for span in sorted(spans, key=lambda s: s.end - s.start))
        return tuple(value for value in found if value is not None)

    def in_file(self, source: Source) -> Iterator[PlacedValue]:
        """Yield what is known of the expressions of a file, in the order of its text."""
        for span in self._by_source.get(source, ()):
            value = self.at(span)
            if value is not None:
                yield value

    def _placed(self, value: Value, within: str) -> PlacedValue:
        parameters = set(_parameters_in(value.expr))
        mentions = value.mentions
        stated = {p.name: p for p in self.model.parameters if p.name in parameters}
        return PlacedValue(
            span=value.span,
            expr=value.expr,
            dimension=value.dimension,
            sources=value.sources,
            within=within,
            varies=AllowedNames.POPULATION in mentions or any(map(self._varies, stated.values())),
            is_query=bool(
                mentions & (AllowedNames.MODEL & ~AllowedNames.POPULATION | AllowedNames.ANSWERS)
            ),
            is_uncertain=bool(parameters & self._uncertain),
            configuration=self._configuration,
        )

    def _varies(self, parameter: ir.Parameter) -> bool:
        return any(isinstance(part, ir.Population) for part in parts_of(parameter.value))


def _parameters_in(expr: ir.Expr) -> Iterator[str]:
    return (part.name for part in parts_of(expr) if isinstance(part, ir.ParameterValue))
