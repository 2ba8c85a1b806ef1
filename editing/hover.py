"""What is known of a name: what it is, its value and dimension, formula, source, how sure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lsprotocol import types

from qps.compiler.check.names.bindings import Binding
from qps.compiler.check.names.symbols import Symbol
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.visible_text import printable
from qps.compiler.quantities import units
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast
from qps.compiler.syntax.ast.traversal import nodes_in
from qps.editing.messages import AnswerLine
from qps.editing.open_documents import CheckedText, OpenDocuments
from qps.editing.references import name_at
from qps.editing.word_descriptions import word_documentation

_MOST_LINES = 12


def hover(documents: OpenDocuments, params: types.HoverParams) -> types.Hover | None:
    """Return what is known of the name at a place, None where there is none."""
    found = name_at(documents, params.text_document.uri, params.position)
    if found is None:
        return None
    reading = documents.reading(params.text_document.uri)
    parts = list(_hover_parts(reading, found.binding.symbol))
    answer = documents.answers.get(params.text_document.uri)
    if answer is not None:
        parts += _at_the_answer(answer, found.binding)
    if not parts:
        return None
    return types.Hover(
        types.MarkupContent(types.MarkupKind.Markdown, "\n\n".join(parts)),
        documents.positions(reading.source).range(found.binding.span),
    )


def _hover_parts(reading: CheckedText, symbol: Symbol) -> Iterator[str]:
    """Yield what is known of a symbol, part by part."""
    if not symbol.declared:
        yield from _built_in(symbol)
        return
    span = symbol.declared[0]
    declaration = _declaration(reading, span)
    where = "" if span.source is reading.source else f" of {span.source.label}"
    yield f"**{symbol.name}**, {_a(symbol.kind)}{where}"
    if declaration is None:
        return
    yield f"```qps\n{_brief(declaration.span.text)}\n```"
    value = getattr(declaration, "value", None)
    if isinstance(value, ast.Written):
        yield from _value(reading, value.span)
    doc = getattr(declaration, "doc", None)
    if doc:
        yield _plain(doc)
    source = getattr(declaration, "source", None)
    if isinstance(source, ast.Text):
        yield f"source: {_plain(source.value)}"
    fitted = getattr(declaration, "fitted", None)
    if isinstance(fitted, ast.Text):
        yield f"chosen to hit a number that is claimed: {_plain(fitted.value)}"


_DOTTED = re.compile(r"\w+(?:\.\w+)*")
_MOST_VALUES = 8


def _at_the_answer(answer: AnswerLine, binding: Binding) -> Iterator[str]:
    """Yield what a measure comes to at the answer; of a place or a stream, what all of its do."""
    text, span = binding.span.source.text, binding.span
    start = span.start
    while start and (text[start - 1].isalnum() or text[start - 1] in "_."):
        start -= 1
    whole = _DOTTED.match(text, start)
    name = span.text if whole is None else whole[0]
    value = answer.values.get(name)
    if value is not None:
        yield f"at {answer.at}: **{value}**"
        return
    own = text[start : span.end]
    found = [(of, value) for of, value in answer.values.items() if of.startswith(f"{own}.")]
    if found:
        more = "" if len(found) <= _MOST_VALUES else "\n- …"
        listed = "\n".join(f"- {_plain(of)}: {value}" for of, value in found[:_MOST_VALUES])
        yield f"at {answer.at}:\n{listed}{more}"


def _a(kind: str) -> str:
    return f"{'an' if kind[:1] in 'aeio' else 'a'} {kind}"


def _built_in(symbol: Symbol) -> Iterator[str]:
    """Yield what is known of a unit, or of another word of the language."""
    unit = units.built_in(symbol.name) if symbol.kind == "unit" else None
    if unit is not None:
        description = "a number" if unit.dimension == DIMENSIONLESS else str(unit.dimension)
        yield f"**{symbol.name}**, a unit: {description}"
        if unit.factor != 1:
            yield f"{float(unit.factor):g} in the base unit"
    elif symbol.kind == "word":
        description = word_documentation(symbol.name)
        if description:
            yield description


def _declaration(reading: CheckedText, span: Span) -> ast.Written | None:
    """Return what is declared at a name: the innermost node that has it as its name."""
    tree = reading.tree(span.source)
    if tree is None:
        return None
    for declaration in tree.declarations:
        if declaration.span.start <= span.start < declaration.span.end:
            for node in nodes_in(declaration):
                name = getattr(node, "name", None)
                if isinstance(name, ast.Name) and name.span == span:
                    return node
            return declaration
    return None


def _value(reading: CheckedText, span: Span) -> Iterator[str]:
    """Yield what an expression comes to, and how well that is known."""
    values = reading.examined.values
    known = None if values is None else values.at(span)
    if known is None:
        return
    text = known.text()
    if not text:
        yield f"{known.dimension.in_words}, known once the spec is solved"
        return
    varies = ", with the population" if known.varies else ""
    sure = "; it rests on a number that is not known exactly" if known.is_uncertain else ""
    yield f"= **{text}** ({known.dimension.in_words}{varies}){sure}"


def _brief(text: str) -> str:
    """Return the beginning of a declaration, which is shown as code."""
    lines = printable(text).replace("```", "").splitlines()
    more = ["…"] if len(lines) > _MOST_LINES else []
    return "\n".join([*(line[:200] for line in lines[:_MOST_LINES]), *more])


def _plain(text: str) -> str:
    r"""Return a text of the spec as Markdown that shows it as it is.

    >>> print(_plain("a *bold* <b>claim</b>"))
    a \*bold\* \<b\>claim\</b\>
    """
    escaped = "".join(f"\\{one}" if one in r"\`*_{}[]<>#|!" else one for one in printable(text))
    return " ".join(escaped.split())
