"""The live page of a text as it is written now, or what is wrong with it."""

from __future__ import annotations

from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.render import full
from qps.editing.messages import PageResult
from qps.editing.open_documents import OpenDocuments


def page_result(documents: OpenDocuments, uri: str) -> PageResult:
    """Return the page of an open text."""
    reading = documents.reading(uri)
    if reading.spec is None:
        return PageResult(None, full([one for one in reading.examined.diagnostics if one.is_error]))
    try:
        return PageResult(documents.page_of(reading.spec))
    except QpsError as error:
        return PageResult(None, full(error.diagnostics))
