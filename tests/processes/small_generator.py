"""A small load generator: so many lines a second, for so many seconds, to a small server.

Arguments: a port, a rate, seconds. It prints how many were answered; with `half` behind, half of
them; with `fail FILE`, it fails where there is such a file; with `end`, it tells the server to.
"""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path


def main(port: int, rate: float, seconds: float, *words: str) -> int:
    """Ask at a rate, and tell how much was answered."""
    if words[:1] == ("fail",) and Path(words[1]).exists():
        print("something is wrong here", file=sys.stderr)
        return 3
    done = 0
    with (
        socket.create_connection(("127.0.0.1", port)) as connection,
        connection.makefile("rw", encoding="ascii") as stream,
    ):
        began = time.monotonic()
        while done / rate < seconds:
            time.sleep(max(0.0, began + done / rate - time.monotonic()))
            stream.write("end\n" if words[:1] == ("end",) else "ask\n")
            stream.flush()
            if not stream.readline():
                return 0
            done += 1
    print(f"requests: {done // 2 if words[:1] == ('half',) else done}")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), *sys.argv[4:]))
