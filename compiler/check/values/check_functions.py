"""Functions: their names, and what can be determined of those that nothing calls.

A function is checked where it is called. One that nothing calls is checked by itself, with
formals that have a dimension but no value: what is wrong then is wrong in every call.
"""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.check.names.declarations import (
    Declared,
    LoadedModule,
    lookup,
    owner_in,
    unit_called,
)
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.check_calls import LANGUAGE_FUNCTIONS
from qps.compiler.check.values.check_traces import trace_of
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.fixits import renaming_hint
from qps.compiler.syntax import ast


class FunctionChecker(DeclarationChecker, frozen=True):
    """Checks the functions of a module, called or not."""

    def function(self, module: LoadedModule, func: ast.Func) -> None:
        """Report a name that is taken, and names that nothing declares."""
        if func.name.text in LANGUAGE_FUNCTIONS:
            self.sink.report(
                codes.DUPLICATE_NAME,
                func.name.span,
                f"`{func.name.text}` is a predefined function",
                hint=renaming_hint(
                    func.name.span, f"rename it, for example to `{func.name.text}_`"
                ),
            )
        if not self.expressions.is_called(func):
            self.expressions.uncalled(Declared(module, func), func)
        if self.expressions.is_unsound(func):
            return
        formals = {formal.name.text for formal in func.formals}
        for reference in _references(func.value, module):
            name = reference.name
            known = name.text in formals or unit_called(module, name) is not None
            owner, _ = owner_in(module, name)
            is_owned = owner is not None and isinstance(owner.declaration, _OWNERS)
            if known or lookup(module, name) or is_owned:
                continue
            if trace_of(module, name) is not None:
                continue
            self.expressions.quantity(reference, Scope(module))


_OWNERS = (ast.Stream, ast.Node, ast.Link)


def _references(expr: ast.Expr, module: LoadedModule) -> Iterator[ast.Reference]:
    """Yield the names of values in an expression; the choices of an option are none."""
    match expr:
        case ast.Reference():
            yield expr
            return
        case ast.Comparison(operands=(ast.Reference(name=name), *_)) if isinstance(
            module.names.get(name.text), ast.Option
        ):
            return
        case ast.Call(name=name) if name.text in ("count", "share", "saturation"):
            return  # these take names, not values
    for part in ast.operands(expr):
        yield from _references(part, module)
