"""Whose is a claim, and does it query a model, or is it arithmetic of what was put in?"""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.check.names.declarations import (
    Declared,
    LoadedModule,
    lookup,
    owner_in,
    unit_meant,
)
from qps.compiler.check.values.check_calls import ARITHMETIC
from qps.compiler.ir.measure_names import CAPACITY, current_name
from qps.compiler.syntax import ast


def origin_of(source: ast.Text | None) -> ir.Origin:
    """Return whose a claim is by its source."""
    match source:
        case ast.OwnSource():
            return ir.Origin.MODEL
        case ast.ArithmeticSource():
            return ir.Origin.ARITHMETIC
    return ir.Origin.PUBLISHED


def queries_model(expr: ast.Expr, module: LoadedModule) -> bool:
    """Return whether an expression names a measure, an answer or a function.

    What names numbers alone is the same whatever the system is like: it may be worth saying, but
    that it holds says nothing of a model.
    """
    open_ = [(expr, module)]
    seen: set[str] = set()
    while open_:
        part, where = open_.pop()
        if isinstance(part, ast.Call) and part.name.text not in ARITHMETIC:
            return True
        if not isinstance(part, ast.Reference):
            # The changes of a model are no part of a value.
            parts = (part.value,) if isinstance(part, ast.Changed) else ast.operands(part)
            open_ += [(inner, where) for inner in parts]
            continue
        if unit_meant(where, part) is not None:
            continue
        declared = lookup(where, part.name)
        if _is_model_name(part.name, declared, where):
            return True
        if declared is None or declared.qualified in seen:
            continue
        seen.add(declared.qualified)
        if isinstance(declared.declaration, ast.Let | ast.Measure):
            open_.append((declared.declaration.value, declared.module))
    return False


def _is_model_name(name: ast.Name, declared: Declared | None, module: LoadedModule) -> bool:
    """Return whether a name stands for what only a model can compute."""
    if declared is None and current_name(name.parts[0]) in ("quality", CAPACITY):
        return True
    if declared is None:
        owner, _ = owner_in(module, name)
        return owner is not None and isinstance(owner.declaration, _OWNERS)
    return isinstance(declared.declaration, ast.Param) and declared.declaration.is_elastic


_OWNERS = (ast.Stream, ast.Node, ast.Link, ast.Trace)
"""What stands before a dot where a measure is named."""
