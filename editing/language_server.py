"""The language server: requests of an editor on standard input, answered on standard output."""

from __future__ import annotations

import logging
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from qps.editing.addresses import library_text, path_of
from qps.editing.background_process import (
    AnswerTimeoutError,
    FaultError,
    OutdatedError,
    RefusedError,
)
from qps.editing.features import FEATURES, Feature
from qps.editing.message_reader import Incoming
from qps.editing.messages import OpenText, PlaceLoad, Setting
from qps.editing.session import Session
from qps.version import __version__

if TYPE_CHECKING:
    from qps.compiler.pipeline import Spec

PAGE_COMMAND = "qps.page"
"""Takes the URI of a spec, and returns `{"address": …}` of its page."""

_READ = ("**/*.qps", "**/*.csv", "**/qps.toml", "**/pyproject.toml")
"""What specs are read from, and what says how."""


class QpsServer(LanguageServer):
    """A server of one editor, with its initial options."""

    def __init__(self, page_of: Callable[[Spec], str]) -> None:
        # Whole texts: how editors and Python split lines differs, and a spec is short.
        super().__init__("qps", __version__, types.TextDocumentSyncKind.Full)
        self.session = Session(self, page_of, self.refresh)
        self.options: dict[str, Any] = {}
        self.library: str | None = None

    def begin(self, params: types.InitializeParams) -> None:
        """Take note of what the editor can do, and of what it requests."""
        given = params.initialization_options
        self.options = given if isinstance(given, dict) else {}
        if not self.options.get("virtualDocuments"):
            self.library = tempfile.mkdtemp(prefix="qps-std-")
        encoding = self.workspace.position_encoding
        encoding = getattr(encoding, "value", encoding) or "utf-16"
        opened = [path_of(uri) for uri in self.workspace.folders] or [
            path_of(params.root_uri or "")
        ]
        self.session.begin(
            Setting(
                encoding=str(encoding),
                library=self.library,
                folders=tuple(str(path) for path in opened if path is not None),
            )
        )

    @property
    def can_refresh(self) -> bool:
        """Whether the editor requests hints again when it learns that there are others."""
        hints = getattr(self.client_capabilities.workspace, "inlay_hint", None)
        return bool(hints is not None and hints.refresh_support)

    def watch(self) -> None:
        """Have the editor report files that others change, where it can."""
        files = getattr(self.client_capabilities.workspace, "did_change_watched_files", None)
        if files is None or not files.dynamic_registration:
            return
        patterns = [types.FileSystemWatcher(glob) for glob in _READ]
        registration = types.Registration(
            "files",
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            types.DidChangeWatchedFilesRegistrationOptions(patterns),
        )
        self.client_register_capability(types.RegistrationParams([registration]))

    def refresh(self) -> None:
        """Have the editor request hints again, where it can."""
        if self.can_refresh:
            self.workspace_inlay_hint_refresh(None)

    def end(self) -> None:
        """Put everything away."""
        self.session.end()
        if self.library is not None:
            shutil.rmtree(self.library, ignore_errors=True)


def serve(page_of: Callable[[Spec], str], reader: BinaryIO, writer: BinaryIO) -> None:
    """Serve one editor until it goes away; `page_of` makes the page of a spec.

    TooLargeError where it sends a message that is too large.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.CRITICAL)
    server = QpsServer(page_of)
    _follow_texts(server)
    _answer_of_spec(server)
    for feature in FEATURES:
        _answer_in_process(server, feature)
    try:
        server.start_io(cast("BinaryIO", Incoming(reader)), writer)
    finally:
        server.end()


def _follow_texts(server: QpsServer) -> None:
    """Have the session know of every change."""

    @server.feature(types.INITIALIZE)
    def begin(params: types.InitializeParams) -> None:
        server.begin(params)

    @server.feature(types.INITIALIZED)
    def watch(_: types.InitializedParams) -> None:
        server.watch()

    @server.feature(types.SHUTDOWN)
    def end(_: None) -> None:
        server.end()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        one = params.text_document
        server.session.put(OpenText(one.uri, one.version, one.text))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        text = server.workspace.get_text_document(uri).source
        server.session.put(OpenText(uri, params.text_document.version, text))

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.session.take(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def saved(params: types.DidChangeWatchedFilesParams) -> None:
        server.session.saved([change.uri for change in params.changes])

    @server.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT)
    def library(params: types.TextDocumentContentParams) -> types.TextDocumentContentResult:
        return types.TextDocumentContentResult(library_text(params.uri) or "")


def _answer_in_process(server: QpsServer, feature: Feature) -> None:
    """Have a process answer a request for one text."""

    async def answer(params: Any) -> object:
        uri = params.text_document.uri
        return await _answer_or_fail(
            server, server.session.looking.ask(feature.method, uri, params)
        )

    server.feature(feature.method, feature.options)(answer)


def _answer_of_spec(server: QpsServer) -> None:
    """Answer what needs the spec solved, in its own time."""

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        found = await _answer_or_fail(server, server.session.answer(uri))
        if found is None:
            return []
        name = server.options.get("pageCommand", PAGE_COMMAND)
        command = types.Command(title=found.title, command=name, arguments=[uri])
        return [types.CodeLens(range=found.range, command=command)]

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def hints(params: types.InlayHintParams) -> list[types.InlayHint]:
        uri = params.text_document.uri
        hints = server.session.looking.ask(types.TEXT_DOCUMENT_INLAY_HINT, uri, params)
        found: list[types.InlayHint] = await _answer_or_fail(server, hints) or []
        answer = await _answer_or_fail(
            server, server.session.answer_so_far(uri, wait=not server.can_refresh)
        )
        return [*found, *(_load_hint(one) for one in (() if answer is None else answer.loads))]

    @server.command(PAGE_COMMAND)
    async def page(*uris: str) -> dict[str, str] | None:
        # An editor that lists commands calls them with nothing (Helix): of what is at hand, then.
        uri = uris[0] if uris else server.session.at_hand()
        address = None if uri is None else await _answer_or_fail(server, server.session.page(uri))
        if address is None:
            return None
        shows = server.client_capabilities.window
        if shows is not None and shows.show_document and not server.options.get("pageCommand"):
            document = types.ShowDocumentParams(uri=address, external=True)
            server.window_show_document(document)
        return {"address": address}


def _load_hint(one: PlaceLoad) -> types.InlayHint:
    return types.InlayHint(one.at, one.label, tooltip=one.tooltip, padding_left=True)


async def _answer_or_fail(server: QpsServer, work: Awaitable[Any]) -> Any:
    """Return what is found, or fail in the words of the protocol."""
    try:
        return await work
    except OutdatedError:
        code = types.LSPErrorCodes.ContentModified.value
        raise JsonRpcException("the text has changed", code) from None
    except AnswerTimeoutError as error:
        code = types.LSPErrorCodes.RequestFailed.value
        raise JsonRpcException(f"this takes too long: {error}", code) from None
    except RefusedError as error:
        code = types.LSPErrorCodes.RequestFailed.value
        raise JsonRpcException(str(error), code) from None
    except FaultError as error:
        server.session.fault(error)
        code = types.ErrorCodes.InternalError.value
        last = str(error).strip().splitlines()[-1]
        raise JsonRpcException(f"qps failed: {last}", code) from None
