"""What would fix a mistake, as edits that an editor makes on request."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.fixits import Fix
from qps.editing.open_documents import OpenDocuments
from qps.editing.published_diagnostics import as_shown


def quick_fixes(documents: OpenDocuments, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Return the fixes of what is wrong within a range; one alone is preferred."""
    wanted = params.context.only
    if wanted and not any(kind == _KIND or _KIND.startswith(f"{kind}.") for kind in wanted):
        return []
    reading = documents.reading(params.text_document.uri)
    places = documents.positions(reading.source)
    start, end = places.offset(params.range.start), places.offset(params.range.end)
    return [
        _action(documents, diagnostic, fix)
        for diagnostic in reading.examined.diagnostics
        if diagnostic.primary is not None
        and diagnostic.primary.span.source is reading.source
        and diagnostic.primary.span.start <= end
        and start <= diagnostic.primary.span.end
        for fix in diagnostic.fixes
    ]


_KIND = types.CodeActionKind.QuickFix.value


def _action(documents: OpenDocuments, diagnostic: Diagnostic, fix: Fix) -> types.CodeAction:
    changes: dict[str, list[types.TextEdit]] = {}
    for uri, edit in _edits(documents, fix):
        changes.setdefault(uri, []).append(edit)
    return types.CodeAction(
        title=fix.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[as_shown(documents, diagnostic)],
        edit=types.WorkspaceEdit(changes=changes),
        is_preferred=len(diagnostic.fixes) == 1,
    )


def _edits(documents: OpenDocuments, fix: Fix) -> Iterator[tuple[str, types.TextEdit]]:
    for edit in fix.edits:
        source = edit.span.source
        yield (
            documents.uri_of(source),
            types.TextEdit(documents.positions(source).range(edit.span), edit.text),
        )
