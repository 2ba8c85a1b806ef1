"""A text with the current names of measures in place of the former ones: what `qps fmt` writes.

Former names are read for ever, so this changes no answer. A name stays where something of the
spec's own is meant by it, or would be meant by the current one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.compiler.check.names.declarations import (
    IndexedDeclaration,
    LoadedModule,
    named_in,
    owned_in,
)
from qps.compiler.check.names.expression_text import percentile_named
from qps.compiler.check.names.program import Program
from qps.compiler.check.names.resolve import resolve
from qps.compiler.diagnostics.diagnostic import TooManyDiagnosticsError
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.ir.measure_names import (
    CAPACITY,
    FORMER,
    UTILIZATION,
    current_column,
    current_name,
)
from qps.compiler.pipeline import importer_of
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.compiler.syntax.importer import Importer
from qps.compiler.syntax.parse import parse

_OF_PLACES = frozenset(["count", "saturation", "share"])
"""Functions of places and resources: no measure stands in them."""
_LIMITS = ("limit of ", "ideal of ")


def with_current_names(source: Source, importer: Importer | None = None) -> Source:
    """Return a text with the current names of measures; one with syntax errors as it is."""
    parsed = parse(source)
    if parsed.value is None or any(found.is_error for found in parsed.diagnostics):
        return source
    try:
        program = resolve(parsed.value, importer or importer_of(source)).value
    except TooManyDiagnosticsError:
        return source
    if program is None:
        return source
    edits = dict(_Renaming(program=program, names=_names_in(program.main)).every())
    text = source.text
    for span in sorted(edits, key=lambda span: -span.start):
        if span.source is program.main.syntax.source:
            text = text[: span.start] + edits[span] + text[span.end :]
    return source if text == source.text else Source(source.label, text, source.folder)


class _Renaming(Struct, frozen=True, kw_only=True):
    """Finds former names in the main file of a program, of which `names` are its own."""

    program: Program
    names: frozenset[str]

    @property
    def module(self) -> LoadedModule:
        return self.program.main

    def every(self) -> Iterator[tuple[Span, str]]:
        """Yield each former name and the current one."""
        places: set[Span] = set()
        for node in nodes_in(self.module.syntax):
            if isinstance(node, ast.Call):
                if node.name.text in _OF_PLACES:
                    places |= {argument.span for argument in node.arguments}
                yield from self._percentile(node)
            elif isinstance(node, ast.Reference) and node.span not in places:
                yield from self._measure(node.name)
            elif isinstance(node, ast.Matrix):
                for name in (*node.selected, *(key.name for key in node.order)):
                    yield from self._measure(name)
            elif isinstance(node, ast.Change | ast.Axis):
                yield from self._changed_limit(node.name)
            elif isinstance(node, ast.ResourceItem):
                laws = [one.value for one in node.attributes if one.name.text == "jitter"]
                yield from self._laws(laws)
            elif isinstance(node, ast.LinkProperty) and node.kind == "jitter":
                yield from self._laws([node.value])

    def _measure(self, name: ast.Name) -> Iterator[tuple[Span, str]]:
        """Yield the current name of a measure of a place, of the answer, of a column."""
        last = name.written_parts[-1]
        if current_name(last.text) == UTILIZATION != last.text and self._is_of_place(name.parts):
            yield last.span, UTILIZATION
        first = name.written_parts[0]
        answer = current_column(first.text)
        is_own = {first.text, answer} & self.names
        if answer.startswith(CAPACITY) and answer != first.text and not is_own:
            yield first.span, answer

    def _is_of_place(self, parts: tuple[str, ...]) -> bool:
        """Return whether a name is the load of a place."""
        own = self.names | self.program.resources
        if FORMER[UTILIZATION] in own or named_in(self.module, parts) is not None:
            return False
        owner, rest = owned_in(self.module, parts)
        declared = None if owner is None else owner.declaration
        while isinstance(declared, IndexedDeclaration):
            declared = declared.of
        return bool(rest) and isinstance(declared, ast.Node | ast.Link)

    def _percentile(self, call: ast.Call) -> Iterator[tuple[Span, str]]:
        word = percentile_named(call, self.module)
        if word is None or "#" in call.span.text:
            return
        written = call.arguments[0].span.text
        yield call.span, f"{written.rpartition('.')[0]}.{word}"

    def _changed_limit(self, name: ast.Name) -> Iterator[tuple[Span, str]]:
        """Yield the current name of a limit that a change sets."""
        prefix = next((one for one in _LIMITS if name.text.startswith(one)), None)
        if prefix is None or not name.text.endswith(f".{FORMER[UTILIZATION]}"):
            return
        parts = tuple(name.text.removeprefix(prefix).split("."))
        if self._is_of_place(parts):
            end = name.span.end
            start = end - len(FORMER[UTILIZATION])
            yield Span(name.span.source, start, end), UTILIZATION

    def _laws(self, laws: Sequence[ast.Expr | ast.Fit]) -> Iterator[tuple[Span, str]]:
        """Yield the utilization of the resource itself in its jitter law."""
        if {UTILIZATION, FORMER[UTILIZATION]} & self.names:
            return
        for law in laws:
            for node in nodes_in(law):
                if isinstance(node, ast.Reference) and node.name.text == FORMER[UTILIZATION]:
                    yield node.span, UTILIZATION


def _names_in(module: LoadedModule) -> frozenset[str]:
    """Return the names of a file's own that an expression in it may mean."""
    found = {*module.names, *module.units, *module.imports}
    for node in nodes_in(module.syntax):
        match node:
            case ast.Formal() | ast.Derived() | ast.Axis():
                found.add(node.name.text)
    return frozenset(found)
