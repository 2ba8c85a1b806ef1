"""Resources of machines: their capacities and speeds, and what else is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.fits.check_fits import FitChecker
from qps.compiler.check.model.fits.check_scalability import ScalabilityChecker
from qps.compiler.check.model.hardware.check_attributes import AttributeChecker
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.values import multiply
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead, single_statement_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.quantities.dimension import (
    CORE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast

_ATTRIBUTES = (*ast.OF_A_RESOURCE, "queueing")
_ONE = ir.Constant(Fraction(1))

W = TypeVar("W", bound=ast.Written)


class Said(Struct, Generic[W], frozen=True):
    """What is said of a resource, and what it may name; with the capacities it was said of."""

    value: W
    scope: Scope
    capacities: tuple[Said[ast.Expr | ast.Fit], ...] = ()


class ResourceDeclarations(Struct, frozen=True, kw_only=True):
    """All that a machine and those that it is made of state of a resource, the nearest first."""

    name: ast.Name
    capacities: tuple[Said[ast.Expr | ast.Fit], ...]
    attributes: dict[str, Said[ast.Attribute]]
    queueing: Said[ast.Queueing] | None


class _Processor(Struct, frozen=True):
    """The cores and the speed of a processor, None for what is not named; no two are equal."""

    cores: ir.Quantity | None
    speed: ir.Quantity | None


_FAILED = _Processor(None, None)
"""A processor, as far as can be determined of what was reported."""


def merged(
    before: ResourceDeclarations | None, item: ast.ResourceItem, scope: Scope
) -> ResourceDeclarations:
    """Return what is stated of a resource with what one more says of it: that goes before."""
    capacities = (Said(item.capacity, scope), *(before.capacities if before else ()))
    own = {a.name.text: Said(a, scope, capacities) for a in reversed(item.attributes)}
    waits = before.queueing if before else None
    return ResourceDeclarations(
        name=item.name,
        capacities=capacities,
        attributes=(before.attributes if before else {}) | own,
        queueing=waits if item.queueing is None else Said(item.queueing, scope),
    )


class ResourceChecker(AttributeChecker, frozen=True):
    """Checks resources of machines."""

    def resource(self, stated: ResourceDeclarations) -> ir.Resource | None:
        """Return a resource, None where it was reported."""
        first = stated.capacities[0]
        processor = self._processor_of(stated.capacities)
        idle = self._idle(stated)
        jitter = self._resource_jitter(stated, processor.speed if processor else None)
        if processor is None:
            self._no_efficiency(stated)
            return self._plain_resource(stated, idle, jitter)
        if processor is _FAILED:
            return None
        cores = processor.cores or ir.Quantity(
            expr=_ONE, dimension=DIMENSIONLESS, span=first.value.span
        )
        queueing = self._queueing(stated, ir.ResourceKind.PROCESSOR)
        if queueing is not None and queueing.speeds and cores.expr != _ONE:
            self.queueing.report_speeds(queueing, stated.name.text)
        return ir.Resource(
            name=stated.name.text,
            kind=ir.ResourceKind.PROCESSOR,
            capacity=replace(cores, dimension=DIMENSIONLESS, divisors=()),
            speed=processor.speed,
            idle=idle,
            work=DIMENSIONLESS,
            span=stated.name.span,
            jitter=jitter,
            queueing=queueing,
            efficiency=self._efficiency(stated, queueing),
            law_holds_speed=self._law_holds_speed(stated),
        )

    def _processor_of(self, capacities: Sequence[Said[ast.Expr | ast.Fit]]) -> _Processor | None:
        """Return cores and speed as the nearest say that names them; None for no processor."""
        found: _Processor | None = None
        for said in capacities:
            one = self._processor(said.value, said.scope)
            if one is None or one is _FAILED:
                return found or one
            found = _Processor(
                found.cores if found and found.cores else one.cores,
                found.speed if found and found.speed else one.speed,
            )
            if found.cores and found.speed:
                break
        return found

    def _processor(self, capacity: ast.Expr | ast.Fit, scope: Scope) -> _Processor | None:
        """Split `4 core * 92 SPECint92` into cores and speed; None for no processor."""
        if isinstance(capacity, ast.Fit):
            self._not_fitted(capacity, "a capacity", "cpu 2 core")
            return _FAILED
        factors = capacity.factors if isinstance(capacity, ast.Product) else ((False, capacity),)
        cores: list[ir.Quantity] = []
        speeds: list[ir.Quantity] = []
        plain: list[ir.Quantity] = []
        is_rated = False
        for below, factor in factors:
            quantity = self.expressions.quantity(factor, scope)
            if quantity is None:
                return _FAILED
            rated = bool(quantity.dimension.bases & self.program.rating_bases)
            counted = "core" in quantity.dimension.bases
            is_rated = is_rated or rated
            if counted and scope.formals:
                cores, plain = [*cores, *plain], []  # `count * 1 core`: so many cores
            group = speeds if rated else (cores if counted else plain)
            group.append(_inverse(quantity) if below else quantity)
        # A plain factor makes a rated processor faster; only `core` says that there are several.
        (speeds if is_rated else cores).extend(plain)
        count, speed = _product(cores, capacity.span), _product(speeds, capacity.span)
        if count.dimension not in (CORE, DIMENSIONLESS):
            return None
        if speeds and speed.dimension.single_base is None:
            return None
        return _Processor(count if cores else None, speed if speeds else None)

    def _efficiency(
        self, stated: ResourceDeclarations, queueing: ir.Queueing | None
    ) -> ir.Quantity | None:
        """Return what each doubling of the cores keeps, None where nothing is lost."""
        said = stated.attributes.get("efficiency")
        if said is None:
            return None
        value = said.value.value
        if isinstance(value, ast.Fit):
            if value.by is None:
                hint = f'name its column of cores: `efficiency fit "{value.file.value}" by cores`'
                what = "an efficiency is fitted to throughput by the number of cores"
                self.sink.report(codes.MISPLACED, value.span, what, hint=hint)
                return None
            found = ScalabilityChecker(self.expressions).efficiency(value, said.scope.module)
        else:
            found = self.expressions.quantity(value, said.scope, DIMENSIONLESS, "an efficiency")
        if found is None or found.expr == _ONE:
            return None
        if queueing is not None and queueing.has_full_speed:
            word = queueing.discipline.value
            self.sink.report(
                codes.MISPLACED,
                said.value.span,
                f"`{word}` assumes full core speed and cannot be combined with `efficiency`",
                secondary=[Label(queueing.span, "queueing stated here")],
                hint=single_statement_hint(said.value.span, "remove `efficiency`, or use `mm1`"),
            )
        return found

    def _not_fitted(self, fit: ast.Fit, what: str, example: str) -> None:
        self.sink.report(
            codes.MISPLACED,
            fit.span,
            f"only service demands and idle utilization can be fitted, not {what}",
            hint=f"write a number: `{example}`",
        )

    def _plain_resource(
        self, stated: ResourceDeclarations, idle: ir.Quantity | None, jitter: ir.Quantity | None
    ) -> ir.Resource | None:
        said = stated.capacities[0]
        assert not isinstance(said.value, ast.Fit)
        capacity = self.expressions.quantity(said.value, said.scope)
        if capacity is None:
            return None
        kind = _kind(capacity.dimension)
        if kind is None:
            example = (
                f"write `price {said.value.span.text}` for what it costs"
                if capacity.dimension in (MONEY, MONEY / TIME)
                else "write cores (`4 core`), a rate (`10 Gbit/s`, `120 request/s`) "
                "or a size (`8 GB`)"
            )
            advised = advice(capacity, lambda other: _kind(other) is not None, example)
            self.sink.report(
                codes.BAD_HARDWARE,
                said.value.span,
                f"{capacity.dimension.in_words} cannot be the capacity of `{stated.name.text}`",
                hint=advised,
            )
            return None
        return ir.Resource(
            name=stated.name.text,
            kind=kind,
            capacity=capacity,
            idle=idle,
            work=capacity.dimension,
            span=stated.name.span,
            jitter=jitter,
            queueing=self._queueing(stated, kind),
        )

    def _queueing(self, stated: ResourceDeclarations, kind: ir.ResourceKind) -> ir.Queueing | None:
        said = stated.queueing
        if said is None:
            return None
        return self.queueing.of_resource(stated.name, said.value, kind, said.scope)

    def check_attributes(self, item: ast.ResourceItem) -> None:
        """Report what is specified twice of a resource, and what nothing says of one."""
        stated: dict[str, ast.Attribute] = {}
        for attribute in item.attributes:
            word = attribute.name.text
            if stated.setdefault(word, attribute) is not attribute:
                self.sink.report(
                    codes.MISPLACED,
                    attribute.span,
                    f"`{word}` is specified twice",
                    hint=single_statement_hint(attribute.span),
                )
            if word not in ast.OF_A_RESOURCE:
                self.sink.report(
                    codes.UNKNOWN_NAME,
                    attribute.name.span,
                    f"unknown attribute `{word}` of a resource",
                    hint=_attribute_hint(attribute),
                )

    def _no_efficiency(self, stated: ResourceDeclarations) -> None:
        """Report the efficiency of what has no cores."""
        if "efficiency" in stated.attributes:
            self.sink.report(
                codes.MISPLACED,
                stated.attributes["efficiency"].value.span,
                "only a CPU with cores has an efficiency",
                hint="specify the effective capacity",
            )

    def _idle(self, stated: ResourceDeclarations) -> ir.Quantity | None:
        said = stated.attributes.get("idle")
        if said is None:
            return None
        if isinstance(said.value.value, ast.Fit):
            return self._fitted_idle(stated, said, said.value.value)
        return self.expressions.quantity(
            said.value.value, said.scope, DIMENSIONLESS, "the idle utilization"
        )

    def _fitted_idle(
        self, stated: ResourceDeclarations, said: Said[ast.Attribute], fit: ast.Fit
    ) -> ir.Quantity | None:
        """Return the load that measurements show without any work, on the cores measured."""
        if fit.by is not None:
            self._not_fitted(fit, "idle utilization by clients", 'idle fit "runs.csv"')
            return None
        if fit.fixed is not None:
            self._not_fitted(fit, "an idle utilization that is set", "idle 0 %")
            return None
        processor = self._processor_of(said.capacities)
        cores = None if processor is None else processor.cores
        count: ir.Expr | None = _ONE if processor is not None else None
        if cores is not None:
            count = cores.expr
        if count is None:
            self.sink.report(
                codes.BAD_HARDWARE,
                fit.span,
                "idle utilization can be fitted only for a CPU with cores",
                hint="write the number: `idle 8 %`",
            )
            return None
        checker = FitChecker(self.expressions)
        known = count.value if isinstance(count, ir.Constant) else None  # else the table says it
        found = checker.fit(
            fit,
            FitColumns(resource=stated.name.text, cores=known, processors=known),
            said.scope,
        )
        if found is None:
            return None
        idle = checker.idle(found, fit)
        if known is not None:
            return idle
        measured = ir.Product((idle.expr, ir.Constant(found.cores)))
        inverse = ir.Power(count, ir.Constant(Fraction(-1)))
        return replace(idle, expr=ir.Product((measured, inverse)))

    def _law_holds_speed(self, stated: ResourceDeclarations) -> bool:
        """Return whether the jitter law of a processor decides by its speed."""
        said = stated.attributes.get("jitter")
        law = None if said is None else said.value.value
        return (
            law is not None and not isinstance(law, ast.Fit) and self.has_condition(law, "rating")
        )

    def _resource_jitter(
        self, stated: ResourceDeclarations, speed: ir.Quantity | None
    ) -> ir.Quantity | None:
        """Return a resource's jitter law, which may name its `load` and its `rating`."""
        said = stated.attributes.get("jitter")
        if said is None:
            return None
        law = said.value.value
        if isinstance(law, ast.Fit):
            self._not_fitted(law, "a jitter model", "jitter 20 ms^2 * load")
            return None
        return self.jitter(law, "rating", speed, said.scope)


def _inverse(quantity: ir.Quantity) -> ir.Quantity:
    power = Fraction(-1)
    expr = ir.Power(quantity.expr, ir.Constant(power))
    return ir.Quantity(expr=expr, dimension=quantity.dimension**power, span=quantity.span)


def _product(factors: list[ir.Quantity], whole: Span) -> ir.Quantity:
    """Return the product of some factors, 1 for none; it stands where its only factor does."""
    if len(factors) == 1:
        return factors[0]
    dimension = DIMENSIONLESS
    for factor in factors:
        dimension = dimension * factor.dimension
    bounds = dict.fromkeys(factor.bound for factor in factors if factor.bound)
    return ir.Quantity(
        expr=multiply([factor.expr for factor in factors]),
        dimension=dimension,
        span=whole,
        bound=", ".join(bounds),
    )


def _attribute_hint(attribute: ast.Attribute) -> str:
    """Return how to fix a word that says nothing of a resource: most are the next resource."""
    near = closest(attribute.name.text, _ATTRIBUTES)
    if near is not None:
        return instead(attribute.name.text, near, words=f"did you mean `{near}`?")
    written = " ".join(attribute.span.text.split())
    if attribute.name.text in ("room", "cv", "speeds"):
        return f"put it right after the discipline, without a comma: `queueing … {written}`"
    return (
        "attributes are `idle`, `jitter`, `efficiency` and `queueing`; a new resource "
        f"starts after a `;`: `; {written}`"
    )


def _kind(dimension: Dimension) -> ir.ResourceKind | None:
    """Return what kind of resource has a capacity of a dimension."""
    for counted, kind in (
        (dimension * TIME, ir.ResourceKind.RATE),
        (dimension, ir.ResourceKind.STORE),
    ):
        if counted == INFORMATION or counted.is_item:
            return kind
    return None
