"""Requests to a traced system: `python traced_load.py SETTINGS` prints what was answered.

With `rate`, they come at random times (a Poisson process), however long answers take; with
`clients`, each client sends the next one as soon as it has an answer. Keys are drawn by Zipf's law.
"""

from __future__ import annotations

import http.client
import json
import random
import sys
import threading
import time
from collections import deque
from pathlib import Path

SETTINGS = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
CHANCE = random.Random(SETTINGS["seed"])
KEYS = range(1, SETTINGS["keys"] + 1)
WEIGHTS = [1 / key for key in KEYS]
PATHS, SHARES = zip(*SETTINGS["mix"].items(), strict=True)
ANSWERED: deque[tuple[float, float, str]] = deque()
FREE: deque[http.client.HTTPConnection] = deque()


def drawn() -> tuple[str, int]:
    """Return a path and a key."""
    return CHANCE.choices(PATHS, SHARES)[0], CHANCE.choices(KEYS, WEIGHTS)[0]


def ask(path: str, key: int) -> None:
    """Send a request, and note when it was answered and how long that took."""
    try:
        one = FREE.pop()
    except IndexError:
        one = http.client.HTTPConnection("127.0.0.1", SETTINGS["port"])
    start = time.time()
    one.request("GET", f"{path}?key={key}")
    one.getresponse().read()
    now = time.time()
    ANSWERED.append((now, now - start, path))
    FREE.append(one)


def _open(rate: float, until: float) -> None:
    at = time.time()
    threads = []
    while (at := at + CHANCE.expovariate(rate)) < until:
        time.sleep(max(0.0, at - time.time()))
        threads.append(threading.Thread(target=ask, args=drawn()))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _closed(clients: int, until: float) -> None:
    def repeat() -> None:
        while time.time() < until:
            ask(*drawn())

    threads = [threading.Thread(target=repeat) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Send requests for some seconds."""
    until = time.time() + SETTINGS["seconds"]
    if "rate" in SETTINGS:
        _open(SETTINGS["rate"], until)
    else:
        _closed(SETTINGS["clients"], until)
    for at, took, path in ANSWERED:
        print(f"{at:.6f} {took:.6f} {path}")


if __name__ == "__main__":
    main()
