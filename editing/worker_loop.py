"""A process that answers requests of editors, one thing after the other, of the newest texts."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections import deque
from collections.abc import Callable
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from qps.editing.features import FUNCTIONS, OF_TEXTS
from qps.editing.messages import (
    CloseText,
    FeatureRequest,
    PartialResult,
    RequestResult,
    RequestStart,
    Setting,
    TextAnswer,
    TextUpdate,
)
from qps.editing.released_memory import release_memory

if TYPE_CHECKING:
    from qps.compiler.pipeline import Spec
    from qps.editing.open_documents import OpenDocuments

_NEW_VALUES = 500_000
"""Between two looks for circles of garbage: most of what a check makes lives until the next one."""


def at_work(connection: Connection, page_of: Callable[[Spec], str]) -> None:
    """Answer until the other end is closed."""
    # Standard output belongs to the protocol: nothing that is printed by chance may reach it.
    os.dup2(sys.stderr.fileno(), 1)
    from qps.editing.open_documents import OpenDocuments  # noqa: PLC0415 - the server itself needs no compiler

    documents = OpenDocuments(page_of=page_of)
    gc.set_threshold(_NEW_VALUES, 20, 10)
    gc.freeze()  # what is imported stays
    requests: deque[FeatureRequest] = deque()
    try:
        while True:
            receive(connection, documents, requests)
            one = requests.popleft()
            connection.send(RequestStart(one.number))
            documents.notify = partial(_report, connection, one.number)
            connection.send(answered(documents, one))
    except (EOFError, OSError):
        return


def receive(
    connection: Connection, documents: OpenDocuments, requests: deque[FeatureRequest]
) -> None:
    """Take all that was sent, and wait where nothing is requested, without what is not needed."""
    while not requests or connection.poll():
        if not connection.poll():
            release_memory()
        _close_text(connection.recv(), documents, requests)


def _report(connection: Connection, number: int, found: object) -> None:
    connection.send(PartialResult(number, found))


def _close_text(message: object, documents: OpenDocuments, request: deque[FeatureRequest]) -> None:
    match message:
        case Setting():
            documents.set(message)
        case TextUpdate(text=text):
            documents.put(text)
        case CloseText(uri=uri):
            documents.take(uri)
        case TextAnswer(uri=uri, answer=answer):
            documents.answers[uri] = answer
        case FeatureRequest():
            request.append(message)


def answered(documents: OpenDocuments, request: FeatureRequest) -> RequestResult:
    """Return the answer; whatever goes wrong is reported, and ends nothing."""
    from qps.compiler.diagnostics.diagnostic import QpsError  # noqa: PLC0415 - as above
    from qps.compiler.diagnostics.source import LARGEST_TEXT  # noqa: PLC0415 - as above

    held = documents.texts.get(request.uri)
    if request.version is not None and (held is None or held.version != request.version):
        return RequestResult(number=request.number, outdated=True)
    if request.feature in OF_TEXTS and held is not None and len(held.text) > LARGEST_TEXT:
        return RequestResult(number=request.number)  # its errors are reported
    try:
        module, _, name = FUNCTIONS[request.feature].partition(":")
        found = getattr(import_module(module), name)(documents, request.params)
    except QpsError as error:
        return RequestResult(number=request.number, refused=str(error))
    except Exception:  # noqa: BLE001 - a fault is reported, the next question answered
        return RequestResult(number=request.number, fault=traceback.format_exc())
    return RequestResult(number=request.number, result=found)
