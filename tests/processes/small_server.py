"""A small server: each line that it is sent is an item, worked on and answered.

Arguments: a port, and a file to write the count of items to. It ends when it is told `end`.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

STEPS = 20_000


def main(port: int, counts: Path) -> None:
    """Serve one connection after the other."""
    done = 0
    tell(done, counts)
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            connection, _ = server.accept()
            with connection, connection.makefile("rw", encoding="ascii") as stream:
                for line in stream:
                    if line == "end\n":
                        return
                    sum(range(STEPS))
                    done += 1
                    tell(done, counts)
                    stream.write("x\n")
                    stream.flush()


def tell(done: int, counts: Path) -> None:
    """Write the count, so that whoever reads it finds it whole."""
    new = counts.with_suffix(".new")
    new.write_text(f"done {done}\n", encoding="ascii")
    new.replace(counts)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
