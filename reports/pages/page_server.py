"""A page that is served while it changes: made anew, it is shown in the place of the one before.

On the loopback address alone, and for requests that name it: no other site can read a page by a
name of its own that leads here.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from msgspec import Struct

from qps.reports.pages.served_frame import FRAME, PAGE, POLICY, STATE, part_of_frame

HOST = "127.0.0.1"
_NO_PAGE = "<!doctype html><title>qps serve</title><p>No page yet."


class Served(Struct, kw_only=True):
    """What is shown now: the last page that could be made, and what is wrong since.

    `version` counts pages. `files` are those that the spec was read from.
    """

    page: str = _NO_PAGE
    wrong: str = ""
    version: int = 0
    files: frozenset[Path] = frozenset()


def listening(served: Served, port: int) -> ThreadingHTTPServer:
    """Return a server of what is served, at a port of the loopback address; 0 for any free one."""

    class Handler(BaseHTTPRequestHandler):
        """Answers requests of the frame, and none that call this machine by another name."""

        def do_GET(self) -> None:
            """Send the frame, the page or which version that is."""
            names = {f"{host}:{server.server_port}" for host in (HOST, "localhost")}
            path = self.path.partition("?")[0]
            if self.headers.get("Host") not in names:
                self._send(403, "text/plain", "only requests from this machine are allowed")
            elif path == PAGE:
                self._send(200, "text/html", served.page)
            elif path == STATE:
                state = {"version": served.version, "wrong": served.wrong}
                self._send(200, "application/json", json.dumps(state))
            elif (found := part_of_frame(path)) is not None:
                text = found[0].replace('data-version="0"', f'data-version="{served.version}"')
                self._send(200, found[1], text, POLICY if path == FRAME else None)
            else:
                self._send(404, "text/plain", "not found")

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

    server = ThreadingHTTPServer((HOST, port), Handler)
    server.daemon_threads = True
    return server
