"""Expressions as the main spec writes them: with the names and measures that it calls its own."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.check.names.declarations import Declared, LoadedModule, owner_in, unit_meant
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.measure_names import (
    current_name,
    current_text,
    literal_share,
    percentile_level,
    percentile_word,
)
from qps.compiler.syntax import ast


def text_in_model(expr: ast.Expr, module: LoadedModule) -> str:
    """Return how an expression is written, names of an instance as the spec calls them.

    `max(find.latency, browse.latency)` of `eu` is `max(eu.find.latency, eu.browse.latency)`.
    Measures have their current names: `web.cpu.load` is `web.cpu.utilization`.
    """
    text, start = expr.span.text, expr.span.start
    called: dict[Span, list[str]] = {}
    for span, name in _names_in(expr, module):
        called.setdefault(span, []).append(name)
    for span, (name, *others) in sorted(called.items(), key=lambda found: -found[0].start):
        # What stands for one of each kind is called as it is written.
        current = current_text(span.text) if others else name
        text = text[: span.start - start] + current + text[span.end - start :]
    return text


def _names_in(expr: ast.Expr, module: LoadedModule) -> Iterator[tuple[Span, str]]:
    """Yield what an expression names that the spec calls otherwise, and how."""
    percentile = _percentile(expr, module)
    if percentile is not None:
        yield expr.span, percentile
        return
    is_unit = isinstance(expr, ast.Reference) and unit_meant(module, expr) is not None
    if isinstance(expr, ast.Reference | ast.Call) and not is_unit:
        owner, rest = owner_in(module, expr.name)
        if owner is not None and not isinstance(owner.declaration, ast.Unit):
            yield expr.name.span, _called(module, expr.name, owner, rest)
    for part in ast.operands(expr):
        yield from _names_in(part, module)


def _called(module: LoadedModule, name: ast.Name, owner: Declared, rest: tuple[str, ...]) -> str:
    """Return what the spec calls a name, by the current name of the measure in it."""
    *behind, last = rest or ("",)
    if isinstance(owner.declaration, ast.Node | ast.Link):
        last = current_name(last)
    elif isinstance(owner.declaration, ast.Stream):
        level = percentile_level(last)
        last = last if level is None else percentile_word(level) or last
    is_called_otherwise = module.prefix or module.has_indices
    front = name.parts[: len(name.parts) - len(rest)]
    called = (owner.qualified,) if is_called_otherwise else front
    return ".".join((*called, *behind, last)) if rest else ".".join(called)


def _percentile(expr: ast.Expr, module: LoadedModule) -> str | None:
    """Return what the spec calls `quantile(page.latency, 99 %)`; None for all else."""
    word = percentile_named(expr, module)
    if word is None:
        return None
    assert isinstance(expr, ast.Call)
    measure = expr.arguments[0]
    assert isinstance(measure, ast.Reference)
    owner, _ = owner_in(module, measure.name)
    assert owner is not None
    called = ast.Name(measure.name.span, (*measure.name.parts[:-1], word))
    return _called(module, called, owner, (word,))


def percentile_named(expr: ast.Expr, module: LoadedModule) -> str | None:
    """Return the percentile that a call names: `p99` of `quantile(page.latency, 99 %)`.

    None for all else, and for a share that no percentile has a word for.
    """
    match expr:
        case ast.Call(arguments=(ast.Reference(name=measure), share)) if (
            expr.name.text == "quantile"
        ):
            owner, rest = owner_in(module, measure)
            is_stream = owner is not None and isinstance(owner.declaration, ast.Stream)
            level = literal_share(share.span.text)
            if is_stream and rest == ("latency",) and level is not None:
                return percentile_word(level)
    return None
