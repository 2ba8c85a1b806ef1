"""Texts of the first edition of the language, rewritten to mean the same in this one.

The first edition called traffic `source`; a stream that did not say whose it was had a flow of
each machine of its first node; unless a spec said so the metric of quality was Euclidean; a unit
belonged to the number before it, whatever divided that; cases stood without braces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Outcome
from qps.compiler.diagnostics.source import Source
from qps.compiler.measure_renaming import with_current_names
from qps.compiler.pipeline import check_source
from qps.compiler.step_upgrade import RewrittenStep, UpgradedSteps, with_upgraded_steps
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.compiler.syntax.editions import EDITION
from qps.compiler.syntax.format import formatted
from qps.compiler.syntax.parse import parse
from qps.compiler.syntax.spelling import in_one_spelling
from qps.compiler.syntax.text_edits import TextEdit, edited

_COMMENT = re.compile(r"#[^\n]*")
_DOC = re.compile(r'(?:\s|#[^\n]*\n)*"""[\s\S]*?"""')
_IN = re.compile(r"\s*\bin\b")


class Upgrade(Struct, frozen=True):
    """A text in this edition, and its steps that an older one read otherwise."""

    text: str
    steps: tuple[RewrittenStep, ...] = ()


def upgraded(source: Source, *, by_chance: bool = False) -> Outcome[Upgrade]:
    """Return a text in this edition and in the canonical layout, or its syntax errors.

    A text with a stream shows its edition; one of this edition is laid out and no more, but for
    steps that run a fraction of a time, which this edition refuses. Where they are meant
    `by_chance`, some of the items run them. A text without a stream, such as a module or a spec of
    instances, is taken for one of the first.
    """
    as_given, source = source, in_one_spelling(source)
    parsed = parse(source)
    if parsed.value is None or any(found.is_error for found in parsed.diagnostics):
        return Outcome(None, parse(as_given).diagnostics)
    module = parsed.value
    streams = module.every(ast.Stream)
    is_first = any(_old_emissions(stream) for stream in streams) or not streams
    if module.every(ast.Edition) or not is_first:
        steps = with_upgraded_steps(
            _edited(source, list(_named(module))), is_first=False, by_chance=by_chance
        )
        return _laid_out(steps, steps.source)
    edits = [*_renamed(module), *_whose(module), *_bracketed(module), *_named(module)]
    steps = with_upgraded_steps(_edited(source, edits), is_first=True, by_chance=by_chance)
    again = parse(steps.source).value
    assert again is not None
    return _laid_out(steps, _edited(steps.source, _euclidean(again)))


def _laid_out(steps: UpgradedSteps, new: Source) -> Outcome[Upgrade]:
    laid_out = formatted(with_current_names(new))
    if laid_out.value is None:
        return Outcome(None, laid_out.diagnostics)
    found = (*laid_out.diagnostics, *steps.left)
    return Outcome(Upgrade(laid_out.value, steps.rewritten), found)


def _named(module: ast.Module) -> Iterator[TextEdit]:
    """Yield the edition for a text that names none: at its top, or behind what describes it."""
    if not module.every(ast.Edition):
        doc = _DOC.match(module.source.text)
        at = 0 if doc is None else doc.end()
        yield TextEdit(at, at, f"edition {EDITION}\n" if doc is None else f"\nedition {EDITION}")


def _renamed(module: ast.Module) -> Iterator[TextEdit]:
    """Yield what makes traffic of each `source` of a stream, with commas before its sizes."""
    for stream in module.every(ast.Stream):
        for old in _old_emissions(stream):
            yield TextEdit(old.span.start, old.span.start + len("source"), "traffic")
            for value, size in pairwise(old.values):
                end = value.span.end
                between = value.span.source.text[end : size.span.start]
                word = _IN.search(_COMMENT.sub(lambda match: " " * len(match[0]), between))
                if word is not None:
                    yield TextEdit(end + word.start(), end + word.end(), ",")


def _whose(module: ast.Module) -> Iterator[TextEdit]:
    """Yield whose a stream is that did not say so: each machine's of its first node.

    Also where that is one machine: a scenario, a setting or a spec that uses this one may put
    several in its place.
    """
    for stream in module.every(ast.Stream):
        first = next((item for item in stream.items if isinstance(item, ast.At)), None)
        if stream.whose is None and first is not None:
            end = stream.name.span.end
            yield TextEdit(end, end, f" for each {first.node.text}")


def _bracketed(module: ast.Module) -> Iterator[TextEdit]:
    """Yield brackets around a unit and the number before it that divided with it: `1/(20 s)`."""
    for part in nodes_in(module):
        if isinstance(part, ast.Product):
            for before, number, unit in part.quotients:
                between = before.span.source.text[before.span.end : number.span.start]
                opened = f"{between}(" if "#" in between else " / ("
                yield TextEdit(before.span.end, number.span.start, opened)
                yield TextEdit(unit.span.end, unit.span.end, ")")


def _edited(source: Source, edits: list[TextEdit]) -> Source:
    return Source(source.label, edited(source.text, edits), source.folder)


def _old_emissions(stream: ast.Stream) -> list[ast.Emission]:
    emissions = [item for item in stream.items if isinstance(item, ast.Emission)]
    return [emission for emission in emissions if emission.is_first_edition]


def _euclidean(module: ast.Module) -> list[TextEdit]:
    """Return what keeps the metric of a spec that states none, where it joins several axes."""
    is_spec = bool(module.every(ast.Stream) or module.every(ast.Users))
    if module.every(ast.Quality) or not is_spec:
        return []
    blocks = [one for one in module.declarations if isinstance(one, ast.Require | ast.Mode)]
    checked = check_source(module.source)
    if checked.value is None:  # such as with modules that are still to be upgraded
        joins = bool(blocks or module.every(ast.Use))
    else:
        model = checked.value.model
        needs = sum(requirement.is_axis for requirement in model.requirements)
        modes = [sum(one.is_axis for one in mode.requirements) for mode in model.modes]
        joins = model.quality.span is None and needs + max(modes, default=0) > 1
    if not joins:
        return []
    end = (blocks or module.declarations)[-1].span.end
    return [TextEdit(end, end, f"\nquality {ir.Metric.EUCLIDEAN.value}")]
