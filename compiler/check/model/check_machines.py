"""Machines: capacities and ratings of their resources, with their dimensions."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.model.check_attributes import AttributeChecker
from qps.compiler.check.model.check_fits import FitChecker, fitted_idle
from qps.compiler.check.names.declarations import DeclaredAs
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.values import multiply
from qps.compiler.data.fit_columns import Reading
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import closest
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

_ATTRIBUTES = ("idle", "jitter", "efficiency", "queueing")
_ONE = ir.Constant(Fraction(1))


class MachineChecker(AttributeChecker, frozen=True):
    """Checks the machines that a model may use, each once."""

    def machine(self, declared: DeclaredAs[ast.Machine]) -> ir.Machine | None:
        """Return a machine, or None where it was reported."""
        name = declared.qualified
        if name not in self.known.machines:
            self.known.machines[name] = self._machine(declared)
        return self.known.machines[name]

    def _machine(self, declared: DeclaredAs[ast.Machine]) -> ir.Machine | None:
        scope, declaration = Scope(declared.module, Allowed.NOTHING), declared.declaration
        items = declaration.resources
        self.are_distinct(items, "resource {} is declared twice", "first declared here", "keep one")
        built = {item.name.text: self._resource(item, scope) for item in items}
        resources = {name: resource for name, resource in built.items() if resource is not None}
        ratings = self._ratings(declaration, resources, scope)
        price = self.price(declaration.price, scope)
        if len(resources) < len(built) or ratings is None:
            return None
        return ir.Machine(
            name=declared.qualified,
            resources=tuple(resources.values()),
            ratings=ratings,
            price=price,
            span=declaration.name.span,
            source=declaration.source.value if declaration.source else None,
            doc=declaration.doc,
        )

    def _resource(self, item: ast.ResourceItem, scope: Scope) -> ir.Resource | None:
        cores, speed = self._cores_and_speed(item.capacity, scope)
        stated = self._stated(item, is_processor=cores is not None)
        idle = self._idle(item, stated.get("idle"), cores, scope)
        jitter = self._resource_jitter(stated.get("jitter"), speed, scope)
        if cores is None and speed is None:
            return self._plain_resource(item, scope, idle, jitter)
        if cores is not None and speed is None and cores.dimension not in (CORE, DIMENSIONLESS):
            return None
        count = cores.expr if cores is not None else _ONE
        counted_at = cores.span if cores is not None else item.capacity.span
        capacity = ir.Quantity(expr=count, dimension=DIMENSIONLESS, span=counted_at)
        queueing = self.queueing.of_resource(item, ir.ResourceKind.PROCESSOR, scope)
        efficiency = self._efficiency(stated.get("efficiency"), queueing, scope)
        return ir.Resource(
            name=item.name.text,
            kind=ir.ResourceKind.PROCESSOR,
            capacity=capacity,
            speed=speed,
            idle=idle,
            work=DIMENSIONLESS,
            span=item.name.span,
            jitter=jitter,
            queueing=queueing,
            efficiency=efficiency,
        )

    def _cores_and_speed(
        self, capacity: ast.Expr, scope: Scope
    ) -> tuple[ir.Quantity | None, ir.Quantity | None]:
        """Split `4 core * 92 SPECint92` into cores and speed; both None for no processor."""
        factors = capacity.factors if isinstance(capacity, ast.Product) else ((False, capacity),)
        cores: list[ir.Quantity] = []
        speeds: list[ir.Quantity] = []
        plain: list[ir.Quantity] = []
        is_rated = False
        for below, factor in factors:
            quantity = self.expressions.quantity(factor, scope)
            if quantity is None:
                # It is reported; say that it is a processor so that nothing else is said.
                return ir.Quantity(expr=_ONE, dimension=MONEY, span=capacity.span), None
            rated = bool(quantity.dimension.bases & self.program.rating_bases)
            counted = "core" in quantity.dimension.bases
            is_rated = is_rated or rated
            group = speeds if rated else (cores if counted else plain)
            group.append(_inverse(quantity) if below else quantity)
        # A plain factor makes a rated processor faster; only `core` says that there are several.
        (speeds if is_rated else cores).extend(plain)
        count, speed = _product(cores, capacity.span), _product(speeds, capacity.span)
        if count.dimension not in (CORE, DIMENSIONLESS):
            return None, None
        if speeds and speed.dimension.single_base is None:
            return None, None
        return count, speed if speeds else None

    def _efficiency(
        self, stated: ast.Attribute | None, queueing: ir.Queueing | None, scope: Scope
    ) -> ir.Quantity | None:
        """Return what each doubling of the cores keeps, None where nothing is lost."""
        if stated is None:
            return None
        if isinstance(stated.value, ast.Fit):
            self._not_fitted(stated.value, "an efficiency", "efficiency 95 %")
            return None
        found = self.expressions.quantity(stated.value, scope, DIMENSIONLESS, "an efficiency")
        if found is None or found.expr == _ONE:
            return None
        if queueing is not None and queueing.discipline is ir.Discipline.MMC:
            self.sink.report(
                codes.MISPLACED,
                stated.span,
                "`mmc` takes each core to be as fast beside others as alone",
                secondary=[Label(queueing.span, "waiting is stated here")],
                hint="take `efficiency` out, or write `mm1`",
            )
        return found

    def _not_fitted(self, fit: ast.Fit, what: str, example: str) -> None:
        self.sink.report(
            codes.MISPLACED,
            fit.span,
            f"costs and the idle load can be fitted, {what} cannot",
            hint=f"write it: `{example}`",
        )

    def _plain_resource(
        self,
        item: ast.ResourceItem,
        scope: Scope,
        idle: ir.Quantity | None,
        jitter: ir.Quantity | None,
    ) -> ir.Resource | None:
        capacity = self.expressions.quantity(item.capacity, scope)
        if capacity is None:
            return None
        kind = _kind(capacity.dimension)
        if kind is None:
            advised = advice(
                capacity,
                lambda other: _kind(other) is not None,
                "give a speed (`4 core * 92 SPECint92`), a rate (`10 Gbit/s`, "
                "`120 request/s`) or a room (`8 GB`)",
            )
            self.sink.report(
                codes.BAD_HARDWARE,
                item.capacity.span,
                f"`{item.name.text}` has a capacity of {capacity.dimension.in_words}, "
                "which is no capacity",
                hint=advised,
            )
            return None
        return ir.Resource(
            name=item.name.text,
            kind=kind,
            capacity=capacity,
            idle=idle,
            work=capacity.dimension,
            span=item.name.span,
            jitter=jitter,
            queueing=self.queueing.of_resource(item, kind, scope),
        )

    def _stated(self, item: ast.ResourceItem, *, is_processor: bool) -> dict[str, ast.Attribute]:
        """Return what is stated of a resource; what is out of place is reported."""
        stated: dict[str, ast.Attribute] = {}
        for attribute in item.attributes:
            word = attribute.name.text
            if stated.setdefault(word, attribute) is not attribute:
                self.sink.report(
                    codes.MISPLACED, attribute.span, f"`{word}` is stated twice", hint="keep one"
                )
            if word == "efficiency" and not is_processor:
                self.sink.report(
                    codes.MISPLACED,
                    attribute.span,
                    "only the cores of a processor have an efficiency",
                    hint="state the capacity that there is",
                )
            if word not in ("idle", "jitter", "efficiency"):
                self.sink.report(
                    codes.UNKNOWN_NAME,
                    attribute.name.span,
                    f"a resource has no `{word}`",
                    hint=_attribute_hint(attribute),
                )
        return stated

    def _idle(
        self,
        item: ast.ResourceItem,
        stated: ast.Attribute | None,
        cores: ir.Quantity | None,
        scope: Scope,
    ) -> ir.Quantity | None:
        if stated is None:
            return None
        if isinstance(stated.value, ast.Fit):
            return self._fitted_idle(item, stated.value, cores, scope)
        return self.expressions.quantity(stated.value, scope, DIMENSIONLESS, "the idle load")

    def _fitted_idle(
        self, item: ast.ResourceItem, fit: ast.Fit, cores: ir.Quantity | None, scope: Scope
    ) -> ir.Quantity | None:
        """Return the load that measurements show without any work."""
        if cores is None or not isinstance(cores.expr, ir.Constant):
            self.sink.report(
                codes.BAD_HARDWARE,
                fit.span,
                "only the idle load of a processor with a fixed number of cores can be fitted",
                hint="write the number: `idle 8 %`",
            )
            return None
        count = cores.expr.value
        found = FitChecker(self.expressions).fit(
            fit, Reading(resource=item.name.text, cores=count, processors=count), scope.module
        )
        return None if found is None else fitted_idle(found, fit.span)

    def _resource_jitter(
        self, stated: ast.Attribute | None, speed: ir.Quantity | None, scope: Scope
    ) -> ir.Quantity | None:
        """Return a resource's jitter law, which may name its `load` and its `rating`."""
        if stated is None:
            return None
        law = stated.value
        if isinstance(law, ast.Fit):
            self._not_fitted(law, "a jitter law", "jitter 20 ms^2 * load")
            return None
        return self.jitter(law, {} if speed is None else {"rating": speed}, scope)

    def _ratings(
        self, declaration: ast.Machine, resources: dict[str, ir.Resource], scope: Scope
    ) -> tuple[tuple[str, ir.Quantity], ...] | None:
        ratings: dict[str, ir.Quantity] = {}
        for resource in resources.values():
            base = resource.speed.dimension.single_base if resource.speed else None
            if base is not None and resource.speed is not None:
                ratings[base] = resource.speed
        for expr in declaration.ratings:
            rating = self.expressions.quantity(expr, scope)
            if rating is None:
                return None
            base = rating.dimension.single_base
            if base not in self.program.rating_bases:
                advised = advice(
                    rating,
                    lambda other: other.single_base in self.program.rating_bases,
                    "declare one with `unit SPECint92 of rating`",
                )
                self.sink.report(
                    codes.WRONG_DIMENSION,
                    expr.span,
                    f"a rating is counted in a unit of rating, not in {rating.dimension.in_words}",
                    hint=advised,
                )
                return None
            assert base is not None
            ratings[base] = rating
        return tuple(ratings.items())


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
    return ir.Quantity(
        expr=multiply([factor.expr for factor in factors]), dimension=dimension, span=whole
    )


def _attribute_hint(attribute: ast.Attribute) -> str:
    """Return how to mend a word that says nothing of a resource: most are the next resource."""
    near = closest(attribute.name.text, _ATTRIBUTES)
    if near is not None:
        return f"did you mean `{near}`?"
    written = " ".join(attribute.span.text.split())
    return (
        "of a resource there is `idle`, `jitter`, `efficiency` and `queueing`; one of its own "
        f"starts behind a `;`: `; {written}`"
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
