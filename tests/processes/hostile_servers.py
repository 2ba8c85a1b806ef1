"""Servers on loopback that never come to an end by themselves, or send those who ask elsewhere.

Each kind goes on until its client has gone, and for `LONGEST` seconds at most, so that a client
without a deadline fails a test rather than hang it.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import repeat

LONGEST = 30.0
_PAUSE = 0.01
_OK = b"HTTP/1.1 200 OK\r\n"
_SERVER_HELLO = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"
"""The head of a TLS record of 16 kB, and of the first message in it."""

Kind = Callable[[], Iterator[bytes]]


def _after(head: bytes, piece: bytes) -> Kind:
    def pieces() -> Iterator[bytes]:
        yield head
        yield from repeat(piece)

    return pieces


KINDS: dict[str, Kind] = {
    "says nothing": _after(b"", b""),
    "100 Continue without end": _after(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "102 Processing without end": _after(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "a status line byte by byte": _after(b"HTTP/1.1 200 ", b"K"),
    "headers byte by byte": _after(_OK + b"X: ", b"y"),
    "a body byte by byte": _after(_OK + b"Content-Length: 100000000\r\n\r\n", b"["),
    "a body without a length": _after(_OK + b"\r\n", b"["),
    "chunks of a byte": _after(_OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n[\r\n"),
    "trailers without end": _after(_OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"y"),
    "an error byte by byte": _after(b"HTTP/1.1 500 No\r\n\r\n", b"["),
    "a redirect byte by byte": _after(b"HTTP/1.1 302 No\r\nLocation: http://", b"x"),
}
TLS: dict[str, Kind] = {
    "says nothing": _after(b"", b""),
    "a handshake byte by byte": _after(_SERVER_HELLO, b"\x00"),
}


@contextmanager
def hostile(kind: Kind, received: list[bytes] | None = None) -> Iterator[int]:
    """Give the port of a server of a kind meanwhile; what it is sent first goes into `received`."""
    is_over = threading.Event()
    threads = []

    def serve(client: socket.socket) -> None:
        until = time.monotonic() + LONGEST
        with client, suppress(OSError):
            first = client.recv(65536)
            if received is not None:
                received.append(first)
            client.settimeout(_PAUSE)
            for piece in kind():
                client.sendall(piece)
                if is_over.wait(_PAUSE) or time.monotonic() > until:
                    return
                with suppress(TimeoutError):
                    if not client.recv(65536):
                        return

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threads.append(threading.Thread(target=serve, args=(client,)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield listening.getsockname()[1]
        finally:
            is_over.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def once(answer: bytes) -> Kind:
    """Return the kind that says one thing, and no more."""
    return lambda: iter([answer])
