"""A server whose work is known to the processor second, and clients who wait for its answers.

`known_work.py serve PORT REQUEST BYTE`: an answer takes REQUEST + BYTE * size seconds of a
processor, by the clock of the process itself, all that handling it takes included. So a cost does
not depend on the machine, its neighbors or its caches. Each connection has a process of its own;
with `alone` behind, one process serves them all in turn, so that nothing but answers is work.

`known_work.py ask PORT CLIENTS THINK SECONDS SIZE`: so many clients ask for so many kB, wait, and
think for so many ms. It prints how many answers there were.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import time

_LONGEST = 60.0


def serve(port: int, request: float, octet: float, *, alone: bool = False) -> None:
    """Serve until it is ended."""
    with socket.create_server(("127.0.0.1", port), backlog=64) as server:
        due = time.process_time()
        while True:
            connection, _ = server.accept()
            if alone:
                with connection:
                    due = _answer(connection, request, octet, due)
            elif os.fork() == 0:
                os.setsid()  # where sessions share the processors, each connection has its own
                server.close()
                with connection:
                    _answer(connection, request, octet, 0.0)
                os._exit(0)
            else:
                connection.close()
                _reap()


def _reap() -> None:
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def _answer(connection: socket.socket, request: float, octet: float, due: float) -> float:
    """Answer each line, a size in bytes: its work is done once so much time was used in all.

    Return how much that is by the end.
    """
    with connection.makefile("rb") as lines:
        for line in lines:
            size = int(line)
            due += request + octet * size
            answer = bytes(size)
            while time.process_time() < due:
                pass
            connection.sendall(answer)
    return due


async def hold(port: int, places: int, seconds: float) -> asyncio.Server:
    """Start a server whose work is time: an answer holds one of some places for so long."""
    free = asyncio.Semaphore(places)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            async with free:
                await asyncio.sleep(seconds)
            writer.write(bytes(int(line)))
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", port)


async def ask(
    port: int, clients: int, think: float, seconds: float, size: int
) -> list[list[float]]:
    """Return when each client's answers came, in s since all were connected; none is left out."""
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(clients)]
    began = time.monotonic()
    found = await asyncio.gather(*(_client(*one, think, began, seconds, size) for one in opened))
    for _, writer in opened:
        writer.close()
    return list(found)


async def _client(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    think: float,
    began: float,
    seconds: float,
    size: int,
) -> list[float]:
    found = []
    while time.monotonic() < began + seconds:
        writer.write(b"%d\n" % size)
        await asyncio.wait_for(reader.readexactly(size), _LONGEST)
        found.append(time.monotonic() - began)
        await asyncio.sleep(think)
    return found


def main(what: str, port: str, *words: str) -> None:
    """Serve or ask, as the words say."""
    if what == "serve":
        request, octet, *more = words
        serve(int(port), float(request), float(octet), alone=more == ["alone"])
        return
    clients, think, seconds, size = map(float, words)
    found = asyncio.run(ask(int(port), int(clients), think / 1000, seconds, int(1000 * size)))
    print(f"requests: {sum(map(len, found))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
