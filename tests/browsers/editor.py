"""An editor for tests: a real client of the protocol, over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.lsp.client import LanguageClient

from qps.editing.addresses import uri_of_path

T = TypeVar("T")
CURSOR = "‸"
"""Stands in a text where the cursor is."""
_PATIENCE = 200


class Editor:
    """One server, and the documents that are open in it."""

    def __init__(self, runner: asyncio.Runner, folder: Path) -> None:
        self.runner, self.folder = runner, folder
        self.client = LanguageClient("editor", "1")
        self.reported: list[str] = []
        self.shown_documents: list[str] = []
        self.published: dict[str, types.PublishDiagnosticsParams] = {}
        self._versions: dict[str, int] = {}
        self._news = asyncio.Event()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(partial(self._take))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(
            lambda one: self.reported.append(one.message)
        )
        self.client.feature(types.WINDOW_LOG_MESSAGE)(lambda one: self.reported.append(one.message))

    def _take(self, params: types.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = params
        self._news.set()

    def run(self, work: Awaitable[T]) -> T:
        """Wait for an answer."""

        async def waited() -> T:
            return await asyncio.wait_for(work, _PATIENCE)

        return self.runner.run(waited())

    def uri(self, name: str) -> str:
        """Return the URI of a file of the folder."""
        return uri_of_path(self.folder / name)

    def put(self, text: str, name: str = "site.qps") -> str:
        """Open a text, or change it, without saving it; return its URI."""
        uri = self.uri(name)
        version = self._versions[uri] = self._versions.get(uri, 0) + 1
        self.published.pop(uri, None)
        if version == 1:
            item = types.TextDocumentItem(uri, "qps", version, text)
            self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        else:
            self.client.text_document_did_change(
                types.DidChangeTextDocumentParams(
                    types.VersionedTextDocumentIdentifier(version, uri),
                    [types.TextDocumentContentChangeWholeDocument(text)],
                )
            )
        return uri

    def close(self, name: str) -> None:
        """Close a text."""
        uri = self.uri(name)
        del self._versions[uri]
        params = types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        self.client.text_document_did_close(params)

    def wrong(
        self, uri: str, until: Callable[[list[str]], bool] | None = None
    ) -> list[types.Diagnostic]:
        """Return what is told to be wrong with a text as it is, once that is what is waited for."""

        async def waited() -> list[types.Diagnostic]:
            while True:
                found = self.published.get(uri)
                if found is not None:
                    is_new = found.version in (None, self._versions.get(uri))
                    messages = [one.message for one in found.diagnostics]
                    if is_new and (until is None or until(messages)):
                        return list(found.diagnostics)
                self._news.clear()
                await self._news.wait()

        return self.run(waited())

    def ask(self, method: str, params: Any) -> Any:
        """Return what the server answers."""
        return self.run(asyncio.wrap_future(self._sent(method, params)))

    def _sent(self, method: str, params: Any) -> Any:
        return self.client.protocol.send_request(method, params)


def marked(text: str) -> tuple[str, types.Position]:
    """Return a text without its cursor, and where that was, in units of UTF-16."""
    before, _, after = text.partition(CURSOR)
    line = before.rpartition("\n")[2]
    units = len(line.encode("utf-16-le")) // 2
    return before + after, types.Position(before.count("\n"), units)


@contextmanager
def editor(folder: Path, options: object = None) -> Iterator[Editor]:
    """Start a server, and end it."""
    with asyncio.Runner() as runner:
        one = Editor(runner, folder)

        async def begin() -> None:
            await one.client.start_io(sys.executable, "-m", "qps", "lsp", "--stdio")
            requested = types.InitializeParams(
                capabilities=types.ClientCapabilities(), initialization_options=options
            )
            await one.client.initialize_async(requested)
            one.client.initialized(types.InitializedParams())

        async def end() -> None:
            await one.client.shutdown_async(None)
            one.client.exit(None)
            await one.client.stop()

        one.run(begin())
        yield one
        one.run(end())
