"""What can stand in the place of a node or a link, and how many there are of it."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.model.hardware.check_machines import MachineChecker
from qps.compiler.check.model.hardware.check_networks import NetworkChecker
from qps.compiler.check.names.declarations import (
    LoadedModule,
    kind_of,
    lookup,
    lookup_as,
)
from qps.compiler.check.names.places import PlacedHardware
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

_NUMBERS = (ast.Users, ast.Param, ast.Let)


class PlaceChecker(DeclarationChecker, frozen=True):
    """Checks the machines and networks that are put in a place."""

    def kind(self, place: PlacedHardware, module: LoadedModule, *, is_node: bool) -> str | None:
        """Return the qualified name of a machine (for a node) or network (for a link)."""
        machine = lookup_as(module, place.name, ast.Machine) if is_node else None
        network = None if is_node else lookup_as(module, place.name, ast.Network)
        found = machine or network
        if found is None:
            word, wanted = ("machine", ast.Machine) if is_node else ("network", ast.Network)
            declared = lookup(module, place.name)
            if declared is not None and isinstance(declared.declaration, _NUMBERS):
                self.sink.report(
                    codes.WRONG_KIND,
                    place.name.span,
                    f"`{place.name.text}` is {kind_of(declared.declaration)}, not a {word}",
                    secondary=[Label(declared.declaration.name.span, "declared here")],
                    hint=f"put the {word} first: `{word} * {place.name.text}`",
                )
            else:
                report_name(self.sink, module, place.name, word, (wanted,))
            return None
        stands = place.stands
        if isinstance(stands, ast.Call) and not found.declaration.formals:
            self._no_arguments(stands, "machine" if is_node else "network")
            return None
        scope = Scope(module, AllowedNames.NOTHING)
        if network is not None:
            laid = NetworkChecker(self.expressions).network(network, stands, scope)
            return None if laid is None else laid.name
        assert machine is not None
        built = MachineChecker(self.expressions).machine(machine, stands, scope)
        return None if built is None else built.name

    def _no_arguments(self, stands: ast.Call, what: str) -> None:
        """Report what is written as a call and takes nothing: most mean how many there are."""
        if len(stands.arguments) == 1 and isinstance(stands.arguments[0], ast.Quantity):
            self.sink.report(
                codes.WRONG_KIND,
                stands.span,
                f"{what} `{stands.name.text}` takes no arguments",
                hint=f"declare its arguments, `{what} {stands.name.text}(value) {{ … }}`",
            )
            return
        count = f" * {stands.arguments[0].span.text}" if len(stands.arguments) == 1 else ""
        self.sink.report(
            codes.WRONG_KIND,
            stands.span,
            f"{what} `{stands.name.text}` takes no arguments",
            hint=instead(stands.span.text, f"{stands.name.text}{count}"),
        )

    def count(self, expr: ast.Expr, module: LoadedModule, *, is_node: bool) -> ir.Expr | None:
        """Return how many there are of a node or link; none of a node that no stream visits."""
        scope = Scope(module, AllowedNames.POPULATION)
        quantity = self.expressions.quantity(expr, scope, DIMENSIONLESS, "a count")
        if quantity is None:
            return None
        if isinstance(quantity.expr, ir.Constant):
            value = quantity.expr.value
            if value < 0 or value.denominator != 1 or (value == 0 and not is_node):
                self.sink.report(
                    codes.OUT_OF_RANGE,
                    expr.span,
                    "a count must be a whole number above zero",
                    hint="write `machine * 4`, or `machine * N` for one per user",
                )
                return None
        return quantity.expr
