"""The names that a module declares: each in its scope once, and none that the language has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qps.compiler.check.names.declarations import LoadedModule, kind_of
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import (
    numbering_hint,
    of_these,
    removal_hint,
    renaming_hint,
    single_statement_hint,
)
from qps.compiler.quantities import units
from qps.compiler.syntax import ast
from qps.grammar.words import NO_UNITS


def declare_names(module: LoadedModule, sink: Sink) -> set[str]:
    """Put what a module declares in its scope; return the names that mean nothing certain.

    What has a name that it cannot have is reported.
    """
    failed: set[str] = set()
    for declaration in _named(module.syntax):
        _declare(module, declaration, sink, failed)
    return failed


def _declare(module: LoadedModule, declaration: ast.Shared, sink: Sink, failed: set[str]) -> None:
    name = declaration.name
    is_unit = isinstance(declaration, ast.Unit)
    if is_unit and name.text in NO_UNITS:
        sink.report(
            codes.RESERVED_WORD,
            name.span,
            f"`{name.text}` is a reserved word and cannot be a unit",
            hint=renaming_hint(name.span),
        )
        return
    if is_unit and units.is_reserved(name.text):
        sink.report(
            codes.SHADOWED_UNIT,
            name.span,
            f"`{name.text}` is a predefined unit",
            hint=removal_hint(
                declaration.span,
                f"remove this line, or use another name, such as `{name.text}_`",
            ),
        )
        return
    # A unit stands behind numbers, all else where things are named: they are distinguished.
    same_kind: Mapping[str, ast.Shared] = module.units if is_unit else module.names
    earlier = same_kind.get(name.text)
    if not is_unit and isinstance(earlier, ast.Unit):
        earlier = None
    if earlier is not None:
        sink.report(
            codes.DUPLICATE_NAME,
            name.span,
            f"`{name.text}` is declared twice",
            label="declared again here",
            secondary=[Label(earlier.name.span, f"first declared here, as {kind_of(earlier)}")],
            hint=_one_name(declaration, earlier),
        )
        if not isinstance(declaration, type(earlier)):
            failed.add(name.text)  # either may be meant where it is named
        return
    if isinstance(declaration, ast.Unit):
        _report_plural(declaration, module, sink)
        module.units[name.text] = declaration
        module.names.setdefault(name.text, declaration)
    else:
        module.names[name.text] = declaration


def _report_plural(unit: ast.Unit, module: LoadedModule, sink: Sink) -> None:
    """Report a unit that is the plural of one before it, or of which one before it is that."""
    name = unit.name.text
    singulars, plurals = units.singulars(name), units.plurals(name)
    near = [module.units[one] for one in (*singulars, *plurals) if one in module.units]
    if not near:
        return
    earlier = min(near, key=lambda one: one.name.span.start)
    other = earlier.name.text
    plural, one = (name, other) if other in singulars else (other, name)
    sink.report(
        codes.DUPLICATE_NAME,
        unit.name.span,
        f"`{plural}` is the plural of the unit `{one}`",
        secondary=[Label(earlier.name.span, "first declared here")],
        hint=f"keep `unit {one}`; `2 {plural}` works, too",
    )


def _named(syntax: ast.Module) -> Iterator[ast.Shared]:
    for declaration in syntax.declarations:
        if isinstance(declaration, ast.Topology):
            yield from declaration.items
        elif isinstance(declaration, ast.Shared):
            yield declaration


def _one_name(declaration: ast.Shared, earlier: ast.Shared) -> str:
    """Return how to fix two declarations with one name; what says the same twice says it once."""
    hint = "rename one of them"
    if not isinstance(declaration, type(earlier)):
        hint += f": {kind_of(earlier)} and {kind_of(declaration)} cannot share a name"
        return hint
    other = numbering_hint(declaration.name.span, hint)
    if declaration.span == earlier.span:  # `node web, web = pod`
        return of_these(hint, single_statement_hint(declaration.name.span), other)
    if declaration.span.text == earlier.span.text:
        return of_these(hint, removal_hint(declaration.span, hint), other)
    return other
