"""What an editor and the server have together: open documents, what is known of each, its page.

An answer is given for the text as it is, or not at all: each change makes what is on its way void.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from http.server import ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

from lsprotocol import types
from msgspec import Struct, field
from pygls.lsp.server import LanguageServer

from qps.editing.background_process import (
    AnswerTimeoutError,
    Background,
    FaultError,
    OutdatedError,
    RefusedError,
)
from qps.editing.features import ANSWER, MISTAKES, PAGE
from qps.editing.messages import AnswerLine, OpenText, PageResult, Setting, TextDiagnostics
from qps.reports.pages.page_server import HOST, Served, listening

if TYPE_CHECKING:
    from qps.compiler.pipeline import Spec

_LONGEST_LOOK = 10.0
"""Seconds after which requests while somebody types is given up."""
_LONGEST_ANSWER = 120.0
"""Seconds after which an answer, or a page, is given up."""
_GRACE = 1.0
"""Seconds that work on a text goes on that has changed meanwhile: to begin anew takes as long."""
_PAUSE = 0.3
"""Seconds without a keystroke before a spec is solved."""


class Document(Struct, kw_only=True, eq=False):
    """An open text: `turn` counts what has changed in it and in what it uses.

    What was `found` is that of the turn in which it was `examined_version` at.
    """

    uri: str
    turn: int = 0
    examined_version: int = -1
    files: frozenset[str] = frozenset()
    found: dict[str, list[types.Diagnostic]] = field(default_factory=dict)
    answer: asyncio.Task[AnswerLine | None] | None = None
    known: AnswerLine | None = None
    page: Served | None = None
    server: ThreadingHTTPServer | None = None

    @property
    def is_examined(self) -> bool:
        """Whether what was found is that of the text as it is."""
        return self.examined_version == self.turn


class Session:
    """The open documents of one editor, and the processes that work on them."""

    def __init__(
        self,
        server: LanguageServer,
        page_of: Callable[[Spec], str],
        refresh: Callable[[], None],
    ) -> None:
        self.server, self._refresh = server, refresh
        self.looking = Background(page_of, limit=_LONGEST_LOOK)
        self.solving = Background(page_of, limit=_LONGEST_ANSWER, grace=_GRACE)
        self.documents: dict[str, Document] = {}
        self._published: dict[str, types.PublishDiagnosticsParams] = {}
        self._reported: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, setting: Setting) -> None:
        """Start to work for an editor."""
        for process in (self.looking, self.solving):
            process.set(setting)

    def end(self) -> None:
        """Stop all that is at work."""
        for document in self.documents.values():
            self._put_away(document)
        self.documents.clear()
        self.looking.stop()
        self.solving.stop()

    # -- texts -----------------------------------------------------------------------------

    def put(self, text: OpenText) -> None:
        """Take note of a text that was opened, or has changed."""
        document = self.documents.pop(text.uri, None) or Document(uri=text.uri)
        self.documents[text.uri] = document  # last, as `at_hand` wants
        for process in (self.looking, self.solving):
            process.put(text)
        self._changed(text.uri)

    def take(self, uri: str) -> None:
        """Take note of a text that was closed."""
        document = self.documents.pop(uri, None)
        if document is not None:
            self._put_away(document)
        for process in (self.looking, self.solving):
            process.take(uri)
        self._changed(uri)
        self._publish()

    def saved(self, uris: list[str]) -> None:
        """Take note of files that others have changed."""
        for uri in uris:
            if uri.endswith(".toml"):  # of a project: it says what any of them may read
                for document in list(self.documents):
                    self._changed(document)
            elif uri not in self.documents:
                self._changed(uri)

    def _changed(self, uri: str) -> None:
        """Look again at a text, and at all that use it."""
        for document in self.documents.values():
            if uri == document.uri or uri in document.files:
                document.turn += 1
                document.known = None
                if document.answer is not None:
                    document.answer.cancel()
                    document.answer = None
                if uri != document.uri:
                    self.looking.drop(document.uri)
                    self.solving.drop(document.uri)
                self._go_on(self._look(document))
                if document.page is not None:
                    self._go_on(self._make_page(document, _PAUSE))

    def _put_away(self, document: Document) -> None:
        if document.answer is not None:
            document.answer.cancel()
        if document.server is not None:
            Thread(target=document.server.shutdown, daemon=True).start()
            document.server.server_close()

    # -- what is wrong ---------------------------------------------------------------------

    async def _look(self, document: Document) -> None:
        turn = document.turn

        def partly(result: object) -> None:
            if document.turn == turn and isinstance(result, TextDiagnostics):
                document.found, document.examined_version = result.found, turn
                self._publish()

        try:
            diagnostics = await self.looking.ask(MISTAKES, document.uri, document.uri, partly)
        except AnswerTimeoutError as error:
            diagnostics = _too_long(document.uri, error)
        except FaultError as error:
            self.fault(error)
            diagnostics = TextDiagnostics({document.uri: []}, list(document.files))
        if document.turn != turn or not isinstance(diagnostics, TextDiagnostics):
            return
        document.files = frozenset(diagnostics.files)
        document.found, document.examined_version = diagnostics.found, turn
        self._publish()

    def _publish(self) -> None:
        """Tell what is wrong in each document, once, whoever uses it.

        What was found in an older text is not reported, and nothing of one that is being looked at.
        """
        found: dict[str, dict[str, types.Diagnostic]] = {uri: {} for uri in self._published}
        for document in self.documents.values():
            for uri, diagnostics in document.found.items() if document.is_examined else ():
                of = found.setdefault(uri, {})
                of.update({f"{one.range} {one.code} {one.message}": one for one in diagnostics})
        for uri, distinct in found.items():
            own = self.documents.get(uri)
            if own is not None and not own.is_examined:
                continue
            held = self.server.workspace.text_documents.get(uri)
            params = types.PublishDiagnosticsParams(
                uri, list(distinct.values()), None if held is None else held.version
            )
            if self._published.get(uri) != params:
                self.server.text_document_publish_diagnostics(params)
                self._published[uri] = params
        for uri in [uri for uri, params in self._published.items() if not params.diagnostics]:
            if uri not in self.documents:
                del self._published[uri]

    # -- the answer ------------------------------------------------------------------------

    async def answer(self, uri: str) -> AnswerLine | None:
        """Return the answer of a spec, once it is known; OutdatedError where the text changes."""
        document = self.documents.get(uri)
        if document is None:
            return None
        if document.answer is None:
            document.answer = asyncio.create_task(self._solve(document))
        try:
            found = await asyncio.shield(document.answer)
            return document.known or found
        except asyncio.CancelledError:
            if document.answer is not None and not document.answer.cancelled():
                raise  # the caller does not wait any more, others may
            raise OutdatedError from None

    async def answer_so_far(self, uri: str, *, wait: bool) -> AnswerLine | None:
        """Return the answer if it is known or waited for; else find it, and have hints renewed.

        Of a text that is solved already nothing is solved.
        """
        document = self.documents.get(uri)
        if wait or document is None:
            return await self.answer(uri)
        if document.known is None and (document.answer is None or not document.answer.done()):
            self._go_on(self._refreshed(document))
        return document.known

    async def _refreshed(self, document: Document) -> None:
        if await self.answer(document.uri) is not None:
            self._refresh()

    async def _solve(self, document: Document) -> AnswerLine | None:
        await asyncio.sleep(_PAUSE)
        first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def partly(found: object) -> None:
            self._know(document, found)
            if not first.done():
                first.set_result(None)

        whole = asyncio.create_task(self._solve_whole(document, partly))
        try:
            await asyncio.wait((first, whole), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            whole.cancel()
            raise
        if whole.done():
            whole.result()
        else:
            self._go_on(self._sampled(whole))
        return document.known

    async def _solve_whole(self, document: Document, partly: Callable[[object], None]) -> None:
        try:
            found = await self.solving.ask(ANSWER, document.uri, document.uri, partly)
        except RefusedError:
            found = None  # what stands in the way is among the diagnostics, or on the page
        self._know(document, found)

    def _know(self, document: Document, found: object) -> None:
        document.known = found if isinstance(found, AnswerLine) else None
        if document.known is not None:
            self.looking.know(document.uri, document.known)

    async def _sampled(self, whole: asyncio.Task[None]) -> None:
        """Have the answer asked again when samples of uncertain inputs are solved."""
        try:
            await whole
        except (OutdatedError, AnswerTimeoutError):
            return
        except FaultError as error:
            self.fault(error)
        self._refresh()

    # -- the page --------------------------------------------------------------------------

    def at_hand(self) -> str | None:
        """Return which open text was opened or changed last. None where none is open."""
        return next(reversed(self.documents), None)

    async def page(self, uri: str) -> str | None:
        """Return where the page of an open spec is served; it follows the text. None if closed."""
        document = self.documents.get(uri)
        if document is None:
            return None
        if document.server is None:
            document.page = Served()
            document.server = listening(document.page, 0)
            Thread(target=document.server.serve_forever, daemon=True).start()
            await self._make_page(document, 0)
        return f"http://{HOST}:{document.server.server_port}/"

    async def _make_page(self, document: Document, pause: float) -> None:
        turn = document.turn
        await asyncio.sleep(pause)
        if document.turn != turn or document.page is None:
            return
        try:
            page = await self.solving.ask(PAGE, document.uri, document.uri)
        except AnswerTimeoutError as error:
            page = PageResult(None, f"making the page took too long: {error}")
        if document.turn != turn or not isinstance(page, PageResult):
            return
        document.page.wrong = page.wrong
        if page.page is not None:
            document.page.page = page.page
            document.page.version += 1

    # -- what goes on by itself --------------------------------------------------------------

    def _go_on(self, work: Coroutine[None, None, None]) -> None:
        """Do something without waiting for it; what goes wrong is reported."""
        task = asyncio.get_running_loop().create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Coroutine[None, None, None]) -> None:
        with suppress(OutdatedError, RefusedError, asyncio.CancelledError):
            try:
                await work
            except FaultError as error:
                self.fault(error)

    def fault(self, error: FaultError) -> None:
        """Tell the editor of a fault of ours: once in sight, each time in the log."""
        text = str(error)
        log = types.LogMessageParams(types.MessageType.Error, f"qps lsp failed:\n{text}")
        self.server.window_log_message(log)
        last = text.strip().splitlines()[-1]
        if last in self._reported:
            return
        self._reported.add(last)
        message = (
            f"qps failed: {last}. This is a fault of qps, not of your spec; its log shows where. "
            "Please report it with the spec."
        )
        shown = types.ShowMessageParams(types.MessageType.Error, message)
        self.server.window_show_message(shown)


def _too_long(uri: str, error: AnswerTimeoutError) -> TextDiagnostics:
    """Return the note that a text was not looked at to its end."""
    start = types.Position(0, 0)
    message = f"checking this text was {error}: no further diagnostics until it changes"
    warning = types.DiagnosticSeverity.Warning
    one = types.Diagnostic(types.Range(start, start), message, severity=warning, source="qps")
    return TextDiagnostics({uri: [one]}, [])
