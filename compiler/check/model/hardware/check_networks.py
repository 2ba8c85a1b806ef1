"""Networks: their rate and properties, with their dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qps.compiler import ir
from qps.compiler.check.model.hardware.check_attributes import AttributeChecker
from qps.compiler.check.model.hardware.check_families import (
    FamilyChecker,
    Member,
    doc_of,
    origins_of,
    source_of,
)
from qps.compiler.check.names.declarations import DeclaredAs
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import single_statement_hint
from qps.compiler.quantities.dimension import DATA_RATE, DIMENSIONLESS, INFORMATION, TIME, Dimension
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast


class NetworkChecker(AttributeChecker, frozen=True):
    """Checks the networks that a model may use, each once."""

    def network(
        self, declared: DeclaredAs[ast.Network], stands: ast.Reference | ast.Call, scope: Scope
    ) -> ir.Network | None:
        """Return the network that stands somewhere; None where it was reported."""
        return FamilyChecker(self.expressions).standing(declared, stands, scope, self._known)

    def plain(self, declared: DeclaredAs[ast.Network]) -> ir.Network | None:
        """Return a network that takes no arguments, or None where it was reported."""
        return self._known(declared.qualified, declared, {})

    def unused(self, declared: DeclaredAs[ast.Network]) -> None:
        """Check a network with parameters that stands nowhere: the names in it."""
        own = declared.declaration
        formals = self.expressions.unknown(declared, own.formals, own.name.span)
        if formals is None:
            return
        stated = [item.value for item in own.properties if item.kind != "jitter"]
        stated += [] if own.price is None else [own.price]
        stated += [] if own.failing is None else [own.failing.every, own.failing.repair]
        stated += [] if own.parent is None else own.parent.arguments
        scope = Scope(declared.module, AllowedNames.NOTHING, formals)
        for expr in stated:
            self.expressions.quantity(expr, scope)

    def _known(
        self, name: str, declared: DeclaredAs[ast.Network], properties: dict[str, ir.Quantity]
    ) -> ir.Network | None:
        if name not in self.known.networks:
            self.known.networks[name] = self._network(name, declared, properties)
        return self.known.networks[name]

    def _network(
        self, name: str, declared: DeclaredAs[ast.Network], properties: dict[str, ir.Quantity]
    ) -> ir.Network | None:
        line = FamilyChecker(self.expressions).line(declared, AllowedNames.NOTHING, properties)
        if line is None:
            return None
        stated = self._stated_by(line)
        law = stated.pop("jitter", None)
        found = {kind: self._property(*said) for kind, said in stated.items()}
        waiting = [(m.own.queueing, m.scope) for m in line if m.own.queueing is not None]
        if "rate" not in found and not self._is_delay(
            line, stated, needs_load=bool(waiting or law)
        ):
            return None
        price, price_date = self.price_of(line)
        failing = [(m.own.failing, m.scope) for m in line if m.own.failing is not None]
        failures = self.failures(*failing[0]) if failing else None
        if None in found.values():
            return None
        rate = found.get("rate")
        media = [m.own.medium.text for m in line if m.own.medium is not None]
        return ir.Network(
            name=name,
            medium=ir.Medium(media[0] if media else "shared"),
            rate=rate,
            header=found.get("header"),
            cap=found.get("cap"),
            loss=found.get("loss"),
            propagation=found.get("propagation"),
            price=price,
            price_date=price_date,
            failures=failures,
            span=declared.declaration.name.span,
            source=source_of(line),
            doc=doc_of(line),
            jitter=None
            if law is None or rate is None
            else self.jitter(law[0].value, "rate", rate, law[1]),
            queueing=self.queueing.of_network(*waiting[0]) if waiting else None,
            law_holds_rate=law is not None and self.has_condition(law[0].value, "rate"),
            origins=origins_of(line),
        )

    def _is_delay(
        self,
        line: Sequence[Member[ast.Network]],
        stated: Mapping[str, tuple[ast.LinkProperty, Scope]],
        *,
        needs_load: bool,
    ) -> bool:
        """Return whether what has no rate is a delay; report it where it has to have one."""
        root = line[-1].own.name
        loaded = [kind for kind in ("header", "cap") if kind in stated]
        if "propagation" in stated and not loaded and not needs_load:
            return True
        hint = "add one, such as `rate 10 Mbit/s`"
        if "propagation" not in stated:
            hint += "; for a pure delay, `propagation 10 ms`"
        self.sink.report(
            codes.BAD_HARDWARE, root.span, f"network `{root.text}` has no rate", hint=hint
        )
        return False

    def _stated_by(
        self, line: Sequence[Member[ast.Network]]
    ) -> dict[str, tuple[ast.LinkProperty, Scope]]:
        """Return the properties of a network; those of the nearest in its family go before."""
        found: dict[str, tuple[ast.LinkProperty, Scope]] = {}
        for member in reversed(line):
            stated: dict[str, ast.LinkProperty] = {}
            for item in member.own.properties:
                if stated.setdefault(item.kind, item) is not item:
                    self.sink.report(
                        codes.MISPLACED,
                        item.span,
                        f"`{item.kind}` is specified twice",
                        hint=single_statement_hint(item.span),
                    )
            found |= {kind: (item, member.scope) for kind, item in stated.items()}
        return found

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
