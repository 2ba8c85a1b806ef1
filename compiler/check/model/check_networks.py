"""Networks: their rate and properties, with their dimensions."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.model.check_attributes import AttributeChecker
from qps.compiler.check.names.declarations import DeclaredAs
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.diagnostics import codes
from qps.compiler.quantities.dimension import DATA_RATE, DIMENSIONLESS, INFORMATION, TIME, Dimension
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast


class NetworkChecker(AttributeChecker, frozen=True):
    """Checks the networks that a model may use, each once."""

    def network(self, declared: DeclaredAs[ast.Network]) -> ir.Network | None:
        """Return a network, or None where it was reported."""
        name = declared.qualified
        if name not in self.known.networks:
            self.known.networks[name] = self._network(declared)
        return self.known.networks[name]

    def _network(self, declared: DeclaredAs[ast.Network]) -> ir.Network | None:
        scope, declaration = Scope(declared.module, Allowed.NOTHING), declared.declaration
        found: dict[str, ir.Quantity] = {}
        whole = True
        stated: set[str] = set()
        for item in declaration.properties:
            if item.kind in stated:
                self.sink.report(
                    codes.MISPLACED, item.span, f"`{item.kind}` is stated twice", hint="keep one"
                )
            stated.add(item.kind)
            if item.kind == "jitter":
                continue
            quantity = self._property(item, scope)
            if quantity is None:
                whole = False
            else:
                found[item.kind] = quantity
        if whole and "rate" not in found:
            self.sink.report(
                codes.BAD_HARDWARE,
                declaration.name.span,
                f"network `{declaration.name.text}` has no rate",
                hint="add one, such as `rate 10 Mbit/s`",
            )
            whole = False
        price = self.price(declaration.price, scope)
        if not whole:
            return None
        medium = declaration.medium.text if declaration.medium else "shared"
        return ir.Network(
            name=declared.qualified,
            medium=ir.Medium(medium),
            rate=found["rate"],
            header=found.get("header"),
            cap=found.get("cap"),
            loss=found.get("loss"),
            propagation=found.get("propagation"),
            price=price,
            span=declaration.name.span,
            source=declaration.source.value if declaration.source else None,
            doc=declaration.doc,
            jitter=self._network_jitter(declaration, found["rate"], scope),
            queueing=self.queueing.of_network(declaration, scope),
        )

    def _network_jitter(
        self, declaration: ast.Network, rate: ir.Quantity, scope: Scope
    ) -> ir.Quantity | None:
        """Return a network's jitter law, which may name its `load` and its `rate`."""
        laws = [item for item in declaration.properties if item.kind == "jitter"]
        return self.jitter(laws[0].value, {"rate": rate}, scope) if laws else None

    def _property(self, item: ast.LinkProperty, scope: Scope) -> ir.Quantity | None:
        fixed = {"rate": DATA_RATE, "loss": DIMENSIONLESS, "propagation": TIME}
        if item.kind in fixed:
            return self.expressions.quantity(item.value, scope, fixed[item.kind], f"`{item.kind}`")
        quantity = self.expressions.quantity(item.value, scope)
        if quantity is None:
            return None
        is_wanted = _is_header if item.kind == "header" else _is_cap
        if is_wanted(quantity.dimension):
            return quantity
        example = "38 byte/packet" if item.kind == "header" else "800_000 packet/s"
        advised = advice(quantity, is_wanted, f"write it like `{item.kind} {example}`")
        self.sink.report(
            codes.WRONG_DIMENSION,
            item.value.span,
            f"`{item.kind}` cannot be {quantity.dimension.in_words}",
            hint=advised,
        )
        return None


def _is_header(dimension: Dimension) -> bool:
    return (INFORMATION / dimension).is_item


def _is_cap(dimension: Dimension) -> bool:
    return (dimension * TIME).is_item
