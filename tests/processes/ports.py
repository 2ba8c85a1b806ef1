"""Ports for tests: two workers are never given the same, nor does the system give one away."""

from __future__ import annotations

import os
import socket
from itertools import count

_FIRST, _EACH = 10_000, 1_000
"""Below all that systems give to who asks for any port, or connects: 32,768 on Linux."""
_WORKERS = 20
_given = count(os.getpid())  # other runs on this machine begin elsewhere


def free_port() -> int:
    """Return a port at which nobody listens, and which this worker alone gives away."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _WORKERS
    while True:
        port = _FIRST + worker * _EACH + next(_given) % _EACH
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:  # somebody has it
            continue
