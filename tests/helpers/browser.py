"""Drive headless Chromium: open a page, count what it complains of and what it asks for."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "Chromium is not installed: apt-get install chromium"


@dataclass
class Opened:
    """A page in the browser, with what it wrote to the console and what it requested."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def run(self, script: str, argument: object = None) -> Any:
        """Run a script in the page and return what it returns."""
        return self.page.evaluate(script, argument)


@contextmanager
def browser() -> Iterator[Any]:
    """Start Debian's Chromium; nothing is downloaded."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield started
        started.close()


class SharedBrowser:
    """A browser for many tests, as its start costs more than most of them.

    Each test has a context of its own, so that nothing of it is left to the next; where the
    browser has died, the next test has a new one.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._started: Any = None

    def running(self) -> Any:
        """Return the browser; it opens pages."""
        if not self._answers():
            with contextlib.suppress(Exception):  # it is dead already
                self.close()
            self._stack = ExitStack()
            self._started = self._stack.enter_context(browser())
        return self._started

    def _answers(self) -> bool:
        from playwright.sync_api import Error

        try:
            if self._started is not None:
                self._started.new_context().close()
        except Error:
            return False
        return self._started is not None

    def close(self) -> None:
        """End the browser."""
        self._started = None
        self._stack.close()


@contextmanager
def opened(
    started: Any, file: Path, *, width: int = 1280, scheme: str = "light", scripts: bool = True
) -> Iterator[Opened]:
    """Open a file in a context of its own."""
    context = started.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        java_script_enabled=scripts,
        reduced_motion="reduce",
    )
    page = context.new_page()
    found = Opened(page)
    page.on("console", lambda message: found.complaints.append(message.text))
    page.on("pageerror", lambda error: found.complaints.append(f"{error}\n{error.stack}"))
    page.on("request", lambda request: found.requests.append(request.url))
    page.goto(file.as_uri())
    yield found
    context.close()
