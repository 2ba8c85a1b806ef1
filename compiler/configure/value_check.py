"""Values of a configuration at several populations: computed, or reported where they cannot be."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.bound_hints import hint_for, shown
from qps.compiler.configure.bounded_value import Bounded, varies
from qps.compiler.configure.cases import report_unstated
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import (
    TOLERANCE,
    CircleError,
    Folder,
    UnstatedCaseError,
    ValueTooLargeError,
)
from qps.compiler.configure.values_in_use import points_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.allowed_values import Bound
from qps.engine.exact_algebra.exact_values import NoValueError


class ValueCheck:
    """Looks at one value after the other of one configuration, at several populations."""

    def __init__(self, model: ir.Model, configuration: Configuration, sink: Sink) -> None:
        self._model = model
        self._configuration = configuration
        self._sink = sink
        self._folders = [
            Folder(configuration=configuration, population=Fraction(at))
            for at in points_of(configuration)
        ]
        self._has_kinds = any(
            isinstance(value, ir.Mixture) and value.of_users
            for value in configuration.parameters.values()
        )

    def value(self, bounded: Bounded) -> None:
        """Report a value that is not what it may be."""
        finding_count = len(self._sink.found)
        for folder in self._folders_for(bounded):
            try:
                value = self._folded(bounded, folder)
            except UnstatedCaseError as error:
                report_unstated(error.unstated, self._model, self._sink)
                return
            if len(self._sink.found) > finding_count:
                return  # once is enough, however many populations it is so at
            if value is None:
                if not self._is_nearly(bounded, folder):
                    return
            elif not bounded.bound.allows(value):
                self._out_of_bounds(bounded, folder, value)
                return

    def _folders_for(self, bounded: Bounded) -> list[Folder]:
        """Return the populations at which a value is looked at, for each kind of users."""
        populations = self._folders if bounded.varies else self._folders[:1]
        return self._of_users(bounded.expr, populations)

    def _of_users(self, expr: ir.Expr, populations: list[Folder]) -> list[Folder]:
        """Return folders for each kind of users that an expression rests on."""
        if not (self._has_kinds and self._folders[0].rests_on_kinds(expr)):
            return populations
        return [one for at in populations for _, one in at.each_class(expr)]

    def _is_nearly(self, bounded: Bounded, folder: Folder) -> bool:
        """Return whether a value that is not rational is in bounds, as far as that is decidable."""
        near = None if bounded.bound is Bound.ANY else folder.nearly(bounded.expr)
        if near is None or bounded.bound.nearly_allows(near, TOLERANCE):
            return True
        self._out_of_bounds(bounded, folder, near)
        return False

    def _folded(self, bounded: Bounded, folder: Folder) -> Fraction | None:
        """Return a value at a population; what cannot be computed is reported."""
        try:
            return folder.fold(bounded.expr)
        except CircleError as circle:
            self._sink.report(
                codes.DEFINITION_CYCLE,
                self._configuration.values_from[circle.name],
                f"`{circle.name}` is set to a value that depends on itself",
                hint="set it to an independent value",
            )
        except ValueTooLargeError:
            self._sink.report(
                codes.NUMBER_SIZE,
                bounded.span,
                f"{bounded.what} is out of the supported number range{self._at(bounded, folder)}",
                hint="use smaller exponents, or a smaller range of the population",
            )
        except NoValueError as reason:
            if bounded.bound is Bound.ANY and varies(bounded.expr):
                return None  # a measure may have a pole: it has no value there
            self._sink.report(
                codes.NUMBER_SIZE,
                bounded.span,
                f"{bounded.what} {reason}{self._at(bounded, folder)}",
                secondary=self._causes(bounded),
                hint="narrow the range of the population, or bound it with `max(…)`"
                if varies(bounded.expr)
                else "correct the numbers it depends on",
            )
        return None

    def _at(self, bounded: Bounded, folder: Folder) -> str:
        """Return for how many users, where that matters."""
        name = self._model.population.name
        return f" at {name} = {folder.population}" if varies(bounded.expr) else ""

    def _causes(self, bounded: Bounded) -> list[Label]:
        """Return where the parameters stand that a value rests on."""
        found = sorted(
            {part.name for part in parts_of(bounded.expr) if isinstance(part, ir.ParameterValue)}
        )
        spans = self._configuration.values_from
        return [Label(spans[name], f"`{name}` is this") for name in found]

    def _out_of_bounds(self, bounded: Bounded, folder: Folder, value: Fraction) -> None:
        kinds = "".join(f" for `{of}.{kind}`" for of, kind in folder.classes.items())
        stated = (
            f"{shown(-value, bounded.dimension)} too few"
            if bounded.needs
            else f"this is {shown(value, bounded.dimension)}"
        )
        self._sink.report(
            bounded.code,
            bounded.span,
            bounded.requirement,
            label=f"{stated}{kinds}{self._at(bounded, folder)}",
            secondary=[
                *self._causes(bounded),
                *([bounded.because] if bounded.because and value == 0 else []),
            ],
            hint=hint_for(bounded, value),
        )
