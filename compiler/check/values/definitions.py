"""Definitions that are being followed: each is checked once, and none may need itself."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.names.declarations import Declared
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.values import Value
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.syntax import ast

ValueOf = Callable[[ast.Expr, Scope], Value | None]
DEEPEST_DEFINITIONS = 250
"""Definitions that rest on each other, beyond which they are refused."""

EVERYTHING = AllowedNames.MODEL | AllowedNames.ANSWERS | AllowedNames.QUALITY


class Definitions(Struct, kw_only=True):
    """The definitions that were checked, and those that are being followed right now."""

    sink: Sink
    known: dict[str, Value | None]
    open: list[Declared] = field(default_factory=list)
    called: set[int] = field(default_factory=set)
    """Functions whose bodies were put in somewhere."""
    also_units: set[str] = field(default_factory=set)
    """Values with the name of a unit for which that was reported."""
    unsound: set[int] = field(default_factory=set)
    """Functions that nothing called yet and that are reported already."""

    def is_unsound(self, func: ast.Func) -> bool:
        """Return whether a function is reported already; what is open calls it, and is too."""
        if id(func) not in self.unsound:
            return False
        self.unsound.update(id(found.declaration) for found in self.open)
        return True

    def give_up(self) -> None:
        """Leave the definitions that are being followed without a value: they are reported."""
        for found in self.open:
            self.known[key_of(found)] = None
        self.open.clear()

    def is_too_deep(self, declared: Declared) -> bool:
        """Return whether definitions rest on each other too deeply; then it is reported."""
        if len(self.open) < DEEPEST_DEFINITIONS:
            return False
        self.sink.report(
            codes.TOO_DEEP,
            declared.declaration.name.span,
            f"definitions depend on each other more than {DEEPEST_DEFINITIONS} levels deep",
            hint="define some of them with plain numbers",
        )
        return True

    def report_circle(self, declared: Declared) -> None:
        """Report definitions that need each other."""
        start = next(i for i, open_ in enumerate(self.open) if open_.is_same(declared))
        circle = [*self.open[start:], declared]
        names = " -> ".join(item.qualified for item in circle)
        self.sink.report(
            codes.DEFINITION_CYCLE,
            declared.stated_at,
            f"definition cycle: {names}",
            hint="define one of them without the others",
            secondary=[Label(item.stated_at, "and here") for item in self.open[start + 1 :]],
        )


def key_of(declared: Declared) -> str:
    """Return by what the value of a definition is known; a unit may be called as a value."""
    is_unit = isinstance(declared.declaration, ast.Unit)
    return f"unit {declared.qualified}" if is_unit else declared.qualified


def bound_arguments(text: str, formals: dict[str, ir.Quantity]) -> str:
    """Return the arguments behind the formals that a text names: `ratio = 70 %`."""
    words = set(re.findall(r"\w+", text)) if formals else set()
    return ", ".join(
        f"{name} = {value.span.text}" for name, value in formals.items() if name in words
    )
