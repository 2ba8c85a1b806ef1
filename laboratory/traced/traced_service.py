"""A service of a traced system: a server of threads, with spans of the OpenTelemetry SDK.

`python traced_service.py SETTINGS` reads one object of JSON: `name`, `port`, `folder` for spans and
the access log, `others` (the port of each service), `pool` (a connection string and places, where
it has a database) and `routes`, each with the steps that it takes:

- `["burn", MS]` uses that much processor time
- `["call", SERVICE, PATH]`, and `["together", [SERVICE, PATH], …]` at the same time
- `["query", SQL…]` takes a connection of the pool, and runs one query after the other on it
"""

from __future__ import annotations

import http.client
import json
import signal
import sys
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opentelemetry import context, propagate
from opentelemetry.trace import SpanKind
from otlp_file import tracer_of

SETTINGS = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
NAME, FOLDER = SETTINGS["name"], Path(SETTINGS["folder"])
TRACER, PROVIDER = tracer_of(NAME, FOLDER)
SERVED: deque[tuple[float, str]] = deque()
FORKS = ThreadPoolExecutor(16)
IDLE: dict[str, deque[http.client.HTTPConnection]] = {}
POOL: Any = None
if "pool" in SETTINGS:
    from psycopg_pool import ConnectionPool

    where, places = SETTINGS["pool"]
    POOL = ConnectionPool(
        where, min_size=places, max_size=places, kwargs={"autocommit": True}, timeout=600
    )
    POOL.wait()


def burn(milliseconds: float) -> None:
    """Use processor time; the interpreter's lock is held meanwhile."""
    until = time.thread_time() + milliseconds / 1000
    value = 1
    while time.thread_time() < until:
        for _ in range(50):
            value = value * 48271 % 2147483647


def call(service: str, path: str, query: str) -> None:
    """Ask another service, on a connection that is left over or a new one."""
    attributes = {"http.request.method": "GET", "server.address": service}
    with TRACER.start_as_current_span("GET", kind=SpanKind.CLIENT, attributes=attributes):
        headers: dict[str, str] = {}
        propagate.inject(headers)
        free = IDLE.setdefault(service, deque())
        try:
            one = free.pop()
        except IndexError:
            one = http.client.HTTPConnection("127.0.0.1", SETTINGS["others"][service])
        one.request("GET", f"{path}?{query}", headers=headers)
        answer = one.getresponse()
        answer.read()
        free.append(one)


def _together(calls: list[list[str]], query: str) -> None:
    here = context.get_current()

    def within(service: str, path: str) -> None:
        token = context.attach(here)
        call(service, path, query)
        context.detach(token)

    for one in [FORKS.submit(within, *pair) for pair in calls]:
        one.result()


def _query(statements: list[str]) -> None:
    attributes = {"db.system.name": "postgresql", "db.namespace": "shop"}
    with POOL.connection() as connection:
        for statement in statements:
            with TRACER.start_as_current_span(
                "SELECT", kind=SpanKind.CLIENT, attributes=attributes
            ):
                connection.execute(statement).fetchall()
                SERVED.append((time.time(), "database"))


def take(steps: list[list[Any]], query: str) -> None:
    """Do what a route does."""
    for kind, *rest in steps:
        if kind == "burn":
            burn(rest[0])
        elif kind == "call":
            call(*rest, query)
        elif kind == "together":
            _together(rest, query)
        else:
            _query(rest)


class RouteHandler(BaseHTTPRequestHandler):
    """Answers requests, on connections that stay open."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        """Take the steps of the route, within the span of a server."""
        where = urlsplit(self.path)
        route = SETTINGS["routes"][where.path]
        attributes = {"http.request.method": "GET", "http.route": where.path}
        with TRACER.start_as_current_span(
            f"GET {where.path}",
            context=propagate.extract(
                {name.lower(): value for name, value in self.headers.items()}
            ),
            kind=SpanKind.SERVER,
            attributes=attributes,
        ):
            take(route, where.query)
        SERVED.append((time.time(), where.path))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        """Print nothing: what was served is written at the end."""


class ThreadServer(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 256


def main() -> None:
    """Serve until a signal to end; then write what was served."""
    server = ThreadServer(("127.0.0.1", SETTINGS["port"]), RouteHandler)

    def end(*_: object) -> None:
        threading.Thread(target=server.shutdown).start()

    signal.signal(signal.SIGTERM, end)
    server.serve_forever()
    PROVIDER.shutdown()
    lines = "".join(f"{at:.6f} {path}\n" for at, path in SERVED)
    (FOLDER / f"{NAME}.access.log").write_text(lines, encoding="utf-8")


if __name__ == "__main__":
    main()
