"""Declarations that nothing uses: what is wrong in them is reported all the same."""

from __future__ import annotations

from collections.abc import Collection

from qps.compiler.check.model.components.check_components import ComponentChecker
from qps.compiler.check.model.hardware.check_machines import MachineChecker
from qps.compiler.check.model.hardware.check_networks import NetworkChecker
from qps.compiler.check.names.declarations import Declared
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.check_functions import FunctionChecker
from qps.compiler.check.values.definitions import EVERYTHING
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import removal_hint
from qps.compiler.syntax import ast


class UnusedChecker(DeclarationChecker, frozen=True):
    """Checks what may be unused; the checks of all else have said by then what they use."""

    def definitions(self) -> None:
        """Check what nothing may use: `let`s, units, traces, whose files may not be there.

        What is not known is no part of the model by this: what was met for it is forgotten.
        """
        values, uncertain = self.known.values, self.known.uncertain
        units = self.program.everywhere(ast.Unit)
        named: list[Declared] = [unit for unit in units if unit.declaration.value is not None]
        for declared in [*self.program.everywhere(ast.Let), *named]:
            name, scope = declared.declaration.name, Scope(declared.module, EVERYTHING)
            is_unit = isinstance(declared.declaration, ast.Unit)
            met, made = len(values), len(uncertain)
            self.expressions.quantity(ast.Reference(name.span, name, is_unit), scope)
            if len(uncertain) > made:
                for forgotten in list(values)[met:]:
                    del values[forgotten]
                for forgotten in list(uncertain)[made:]:
                    del uncertain[forgotten]
        for trace in self.program.everywhere(ast.Trace):
            self.expressions.traces.recording(trace)

    def components(self, components: ComponentChecker, used: Collection[str]) -> None:
        """Check the components that no stream uses, and say that none does."""
        declared = self.program.everywhere(ast.Component)
        needed = {*used, *components.run}
        unused = [one for one in declared if one.qualified not in needed]
        for one in unused:
            components.unused(one)
        for one in unused:
            if one.qualified in components.run:
                continue  # it is reported at what it runs in
            if one.module is self.main and not self.program.is_module:
                name = one.declaration.name
                self.sink.report(
                    codes.UNUSED,
                    name.span,
                    f"component `{name.text}` is never used",
                    hint=removal_hint(
                        one.declaration.span, "use it in a stream at a node, or remove it"
                    ),
                )

    def hardware(self) -> None:
        """Check the machines and networks with parameters that stand nowhere."""
        used = {
            name for machine in self.known.machines.values() if machine for name in machine.family
        }
        for machine in self.program.everywhere(ast.Machine):
            if machine.declaration.formals and machine.qualified not in used:
                MachineChecker(self.expressions).unused(machine)
        laid = {name.partition("(")[0] for name in self.known.networks}
        for network in self.program.everywhere(ast.Network):
            if network.declaration.formals and network.qualified not in laid:
                NetworkChecker(self.expressions).unused(network)

    def parameters(self) -> None:
        """Say which parameters of the spec no formula names; to set them changes nothing."""
        params = self.main.syntax.every(ast.Param)
        named = {p.name.text for p in params if self.expressions.is_named(Declared(self.main, p))}
        tables = {p.table.text for p in params if p.table is not None and p.name.text in named}
        has_forecast = any(self.main.syntax.every(ast.Forecast))
        for param in params:
            if param.is_calendar and has_forecast:
                continue  # its months are those of the forecast, also of a table
            # Of a table some values may be left: which are used is another matter.
            is_of_one = param.table is not None and param.table.text in tables
            if not (self.program.is_module or param.name.text in named or is_of_one):
                self.sink.report(
                    codes.UNUSED,
                    param.name.span,
                    f"parameter `{param.name.text}` is never used",
                    hint=removal_hint(param.span, "use it, or remove it"),
                )

    def functions(self) -> None:
        """Check the functions; it must be known by now which are called."""
        checker = FunctionChecker(self.expressions)
        for function in self.program.everywhere(ast.Func):
            checker.function(function.module, function.declaration)
