"""Diagnostics as an editor shows them, of a text as it is and of the files that it uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lsprotocol import types

from qps.compiler.diagnostics.diagnostic import Diagnostic, Label
from qps.editing.messages import TextDiagnostics
from qps.editing.open_documents import OpenDocuments

_UNUSED = frozenset(["unused", "unused-rate"])


def text_diagnostics(documents: OpenDocuments, uri: str) -> TextDiagnostics:
    """Return what is wrong with an open text and with what it uses.

    Errors of what is declared are reported as soon as they are found. That nothing is wrong is
    reported at the end alone.
    """

    def errors_first(errors: Sequence[Diagnostic]) -> None:
        documents.notify(TextDiagnostics(_by_document(documents, uri, errors), []))

    reading = documents.reading(uri, errors_first)
    found = _by_document(documents, uri, reading.examined.diagnostics)
    return TextDiagnostics(found, [documents.uri_of_file(path) for path in reading.files])


def _by_document(
    documents: OpenDocuments, uri: str, diagnostics: Iterable[Diagnostic]
) -> dict[str, list[types.Diagnostic]]:
    """Return diagnostics by the documents that they are in."""
    found: dict[str, list[types.Diagnostic]] = {uri: []}
    for one in diagnostics:
        place = uri if one.primary is None else documents.uri_of(one.primary.span.source)
        found.setdefault(place, []).append(as_shown(documents, one))
    return found


def as_shown(documents: OpenDocuments, diagnostic: Diagnostic) -> types.Diagnostic:
    """Return a diagnostic with its place, its notes and hints, and what it clashes with."""
    lines = [diagnostic.message]
    if diagnostic.primary is not None and diagnostic.primary.message:
        lines[0] += f": {diagnostic.primary.message}"
    lines += [f"note: {note}" for note in diagnostic.notes]
    lines += [f"help: {hint}" for hint in diagnostic.hints]
    is_unused = diagnostic.code.slug in _UNUSED
    return types.Diagnostic(
        range=_range(documents, diagnostic.primary),
        message="\n".join(lines),
        severity=types.DiagnosticSeverity.Error
        if diagnostic.is_error
        else types.DiagnosticSeverity.Warning,
        code=diagnostic.code.id,
        source="qps",
        tags=[types.DiagnosticTag.Unnecessary] if is_unused else None,
        related_information=[_related(documents, label) for label in diagnostic.secondary] or None,
    )


def _range(documents: OpenDocuments, label: Label | None) -> types.Range:
    if label is None:
        start = types.Position(0, 0)
        return types.Range(start, start)
    return documents.positions(label.span.source).range(label.span)


def _related(documents: OpenDocuments, label: Label) -> types.DiagnosticRelatedInformation:
    span = label.span
    place = documents.location(span.source, span.start, span.end)
    return types.DiagnosticRelatedInformation(place, label.message or "see here")
