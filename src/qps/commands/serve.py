"""`qps serve`: the page of a spec in the browser, made anew after each save.

On the loopback address alone, and for requests that name it: no other site can read a page by a
name of its own that leads here.
"""

from __future__ import annotations

import json
import sys
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TypeAlias

from msgspec import Struct

from qps.commands.console import Exit, complain
from qps.commands.kept_specs import load
from qps.commands.progress import Progress
from qps.commands.report import made_page
from qps.compiler.diagnostics.diagnostic import Diagnostic, QpsError
from qps.compiler.diagnostics.render import full, printable
from qps.reports.pages.served import FRAME, PAGE, POLICY, STATE, part_of_frame

_HOST = "127.0.0.1"
_EVERY = 0.2
_NO_PAGE = "<!doctype html><title>qps serve</title><p>There is no page yet."
_Stamps: TypeAlias = dict[Path, tuple[int, int] | None]


class Served(Struct, kw_only=True):
    """What is shown now: the last page that could be made, and what is wrong since.

    `version` counts pages. `files` are those that the spec was read from.
    """

    page: str = _NO_PAGE
    wrong: str = ""
    version: int = 0
    files: frozenset[Path] = frozenset()


def run(arguments: Namespace) -> Exit:
    """Serve the page until it is interrupted."""
    served = Served()
    seen = stamps(_watched(served, arguments.file))
    make(served, arguments)
    try:
        server = listening(served, arguments.port)
    except (OSError, OverflowError) as error:
        raise complain(
            f"port {arguments.port} of {_HOST} cannot be had: {error}",
            "choose another one behind `--port`, or none",
        ) from error
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://{_HOST}:{server.server_port}/"
        print(f"{address} shows {arguments.file} after each save; Ctrl-C ends it")
        _tell(served, arguments)
        sys.stdout.flush()
        if arguments.browser:
            webbrowser.open(address)
        try:
            watch(served, arguments, seen)
        except KeyboardInterrupt:
            return Exit.YES
        finally:
            server.shutdown()
    return Exit.YES


def watch(
    served: Served,
    arguments: Namespace,
    seen: _Stamps,
    wait: Callable[[float], object] = sleep,
) -> None:
    """Make the page anew whenever a file of the spec has changed, until interrupted."""
    while True:
        now = stamps(_watched(served, arguments.file))
        if now != seen:
            make(served, arguments)
            _tell(served, arguments)
            # Files that are new to the spec are as they were read; those read before, as looked at.
            seen = stamps(_watched(served, arguments.file)) | now
        else:
            wait(_EVERY)


def make(served: Served, arguments: Namespace) -> None:
    """Make the page, or keep the last one beside what is wrong."""
    try:
        spec = load(arguments.file)
        served.files = frozenset(Path(file) for file in spec.files)
        with Progress(total=4, quiet=arguments.quiet, unit=None, label="the page") as progress:
            served.page = made_page([spec], arguments, progress)[0]
        served.wrong = ""
        served.version += 1
    except QpsError as error:
        served.files |= _named_in(error.diagnostics)
        served.wrong = full(error.diagnostics)
    except Exception as error:  # noqa: BLE001 - whatever it is, the page says it and the next save may mend it
        told = f"{type(error).__name__}: {error}"
        served.wrong = printable(f"qps failed, which is a fault of qps, not of your spec: {told}")


def _tell(served: Served, arguments: Namespace) -> None:
    """Tell on the terminal, too, what is wrong."""
    if served.wrong and not arguments.quiet:
        sys.stderr.write(served.wrong.rstrip("\n") + "\n")
        sys.stderr.flush()


def _named_in(diagnostics: Iterable[Diagnostic]) -> frozenset[Path]:
    """Return the files that mistakes are in: to mend them, one of these is saved."""
    sources = [one.primary.span.source for one in diagnostics if one.primary is not None]
    return frozenset(one.folder / Path(one.label).name for one in sources if one.folder is not None)


def _watched(served: Served, file: Path) -> frozenset[Path]:
    """Return the files of a spec, and those beside it that it may be about to read."""
    beside = {one for one in file.resolve().parent.glob("*") if one.suffix in (".qps", ".csv")}
    return served.files | beside | {file}


def stamps(files: Iterable[Path]) -> _Stamps:
    """Return when files were written and how long they are, None for those that are not there."""
    found: _Stamps = {}
    for file in files:
        try:
            told = file.stat()
        except OSError:
            found[file] = None
        else:
            found[file] = (told.st_mtime_ns, told.st_size)
    return found


def listening(served: Served, port: int) -> ThreadingHTTPServer:
    """Return a server of what is served, at a port of the loopback address; 0 for any free one."""

    class Handler(BaseHTTPRequestHandler):
        """Answers what the frame asks, and nothing to who calls this machine by another name."""

        def do_GET(self) -> None:
            """Send the frame, the page or which version that is."""
            names = {f"{host}:{server.server_port}" for host in (_HOST, "localhost")}
            path = self.path.partition("?")[0]
            if self.headers.get("Host") not in names:
                self._send(403, "text/plain", "only for this machine")
            elif path == PAGE:
                self._send(200, "text/html", served.page)
            elif path == STATE:
                state = {"version": served.version, "wrong": served.wrong}
                self._send(200, "application/json", json.dumps(state))
            elif (found := part_of_frame(path)) is not None:
                text = found[0].replace('data-version="0"', f'data-version="{served.version}"')
                self._send(200, found[1], text, POLICY if path == FRAME else None)
            else:
                self._send(404, "text/plain", "there is nothing here")

        def _send(self, status: int, kind: str, text: str, policy: str | None = None) -> None:
            body = text.encode()
            self.send_response(status)
            headers = {
                "Content-Type": f"{kind}; charset=utf-8",
                "Content-Length": str(len(body)),
                "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
                "Cross-Origin-Resource-Policy": "same-origin",
            }
            if policy is not None:
                headers["Content-Security-Policy"] = policy
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - its name there
            """Keep the terminal for what is wrong with the spec."""

    server = ThreadingHTTPServer((_HOST, port), Handler)
    server.daemon_threads = True
    return server
