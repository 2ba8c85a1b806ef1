"""Programs: the main module of a spec and all modules that it uses, itself or through others."""

from __future__ import annotations

from functools import cached_property
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.check.names.declarations import DeclaredAs, LoadedModule, keyword
from qps.compiler.syntax import ast

N = TypeVar("N", bound=ast.Shared)


class Program(Struct, frozen=True, dict=True):
    """The main module and, in the order of loading, all modules.

    `failed_names` are names that something would declare, had it not failed.
    """

    main: LoadedModule
    modules: tuple[LoadedModule, ...]
    failed_names: frozenset[str] = frozenset()

    @cached_property
    def is_module(self) -> bool:
        """True for a file that only declares what others use: it has nothing to solve.

        It may claim what its functions and numbers come to. What could not be parsed counts as
        what it was meant to be; where that is not known it may be anything.
        """
        syntax = self.main.syntax
        has_system = any(item.needs_solution for item in syntax.declarations)
        has_system |= any(used.is_system for used in self.main.imports.values())
        solved = (kind for kind in ast.declaration_kinds() if kind.needs_solution)
        meant = syntax.failed_kinds & {"", *map(keyword, solved)}
        return bool(syntax.declarations or syntax.failed_kinds) and not (has_system or meant)

    @cached_property
    def lacks_parts(self) -> bool:
        """True where the spec has parts that are not known, since they could not be read."""
        return bool(self.main.syntax.failed_kinds) or any(
            len(module.syntax.every(ast.Use)) > len(module.imports) for module in self.systems
        )

    @cached_property
    def systems(self) -> tuple[LoadedModule, ...]:
        """The main module, and all instances: whose places and streams are those of the model."""
        return (self.main, *(m for m in self.modules if m is not self.main and m.is_system))

    def system_of(self, module: LoadedModule) -> LoadedModule:
        """Return the instance with users of its own that a module belongs to, else the main one."""
        around = [
            system
            for system in self.systems
            if f"{module.prefix}.".startswith(f"{system.prefix}.")
            and any(isinstance(declared, ast.Users) for declared in system.names.values())
        ]
        return max(around, key=lambda system: len(system.prefix), default=self.main)

    @cached_property
    def for_settings(self) -> Program:
        """The program as settings see it: answers call units of all modules by their bare names."""
        units = {u.declaration.name.text: u.declaration for u in self.everywhere(ast.Unit)}
        main = replace(self.main, units=units | self.main.units)
        modules = tuple(main if module is self.main else module for module in self.modules)
        return replace(self, main=main, modules=modules)

    @cached_property
    def rating_bases(self) -> frozenset[str]:
        """The units in which machines are rated."""
        units = [declared.declaration for declared in self.everywhere(ast.Unit)]
        return frozenset(unit.name.text for unit in units if unit.is_rating)

    @cached_property
    def resources(self) -> frozenset[str]:
        """The names of everything that a machine has."""
        machines = self.everywhere(ast.Machine)
        return frozenset(item.name.text for m in machines for item in m.declaration.resources)

    def everywhere(self, kind: type[N]) -> list[DeclaredAs[N]]:
        """Return the declarations of a kind in every module, with their modules."""
        return [
            DeclaredAs(module, declaration)
            for module in self.modules
            for declaration in (module.units if kind is ast.Unit else module.names).values()
            if isinstance(declaration, kind)
        ]
