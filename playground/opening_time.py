"""How long a playground takes to open: `python playground/opening_time.py FOLDER [TIMES]`.

Each time it is opened in a browser of its own, which has nothing of it yet. Seconds since it was
opened; least and most of all times.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MARKS = """() => performance.getEntriesByType("mark").map(
    (one) => [one.name, (performance.timeOrigin + one.startTime) / 1000])"""
LONGEST = 120_000


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Print when the text stood there, Python had started, the answer and the live page came."""
    folder, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3  # noqa: PLR2004
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    taken: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        for _ in range(times):
            for name, seconds in _opened(chromium, server.server_port).items():
                taken.setdefault(name, []).append(seconds)
        chromium.close()
    for name, seconds in taken.items():
        print(f"{name:24} {min(seconds):6.2f} {max(seconds):6.2f} s")


def _opened(chromium: Any, port: int) -> dict[str, float]:
    """Return the seconds from a first opening to each of what follows."""
    context = chromium.new_context()
    page = context.new_page()
    start = time.time()
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.wait_for_selector("#told.answer", timeout=LONGEST)
    page.frame_locator("#page").locator("#population").wait_for(state="attached", timeout=LONGEST)
    live = time.time()
    marks = dict(page.evaluate(MARKS)) | dict(page.workers[0].evaluate(MARKS))
    context.close()
    found = {name: at - start for name, at in sorted(marks.items(), key=lambda one: one[1])}
    return found | {"live page": live - start}


if __name__ == "__main__":
    main()
