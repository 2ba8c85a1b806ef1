"""A server that answers as a Prometheus does, for counters that are functions of time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Counter = Callable[[float], float | None]
MOST_POINTS = 11_000


@dataclass
class Fake:
    """What is counted, by query: a series each by a label; and what was asked."""

    counters: dict[str, dict[str, Counter]]
    url: str = ""
    queried: list[dict[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    reply: tuple[int, dict[str, str], bytes] | None = None
    warnings: list[str] = field(default_factory=list)
    pause: float = 0.0

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        address = urlsplit(path)
        options = {k: v[0] for k, v in parse_qs(address.query).items()}
        self.queried.append(options)
        if self.reply is not None:
            return self.reply
        if address.path != "/api/v1/query_range":
            return 404, {}, b"404 page not found"
        start, end, step = (float(options[word]) for word in ("start", "end", "step"))
        count = int((end - start) / step + 1e-9) + 1
        if count > MOST_POINTS:
            return 400, {}, _error("bad_data", "exceeded maximum resolution of 11,000 points")
        if options["query"] not in self.counters:
            return 400, {}, _error("bad_data", "1:5: parse error: unexpected identifier")
        result: list[dict[str, Any]] = []
        for label, counter in self.counters[options["query"]].items():
            times = [start + i * step for i in range(count)]
            values = [(t, counter(t)) for t in times]
            there = [[t, repr(v)] for t, v in values if v is not None]
            if there:
                result.append({"metric": {"instance": label}, "values": there})
        data = {"resultType": "matrix", "result": result}
        body = {"status": "success", "data": data, "warnings": self.warnings}
        return 200, {}, json.dumps(body).encode()


def _error(kind: str, text: str) -> bytes:
    return json.dumps({"status": "error", "errorType": kind, "error": text}).encode()


@contextmanager
def fake_prometheus(**counters: Counter | dict[str, Counter]) -> Iterator[Fake]:
    """Serve counters on loopback meanwhile."""
    fake = Fake({k: v if isinstance(v, dict) else {"a:80": v} for k, v in counters.items()})

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with suppress(ConnectionError):  # who asked has gone
                self.give()

        def give(self) -> None:
            fake.headers.append(dict(self.headers))
            status, headers, body = fake.answer(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            for place in range(0, len(body), 1000 if fake.pause else len(body) or 1):
                time.sleep(fake.pause)
                self.wfile.write(body[place : place + 1000] if fake.pause else body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
