"""Drive headless Chromium: open a page, count what it complains of and what it asks for."""

from __future__ import annotations

import contextlib
import shutil
from asyncio import events
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from browsers import page_idle

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
MISSING = "Chromium is not installed: apt-get install chromium"
SETTINGS_OPEN = """() => {
  for (const one of document.querySelectorAll(".part")) one.open = true;
  if (document.body.classList.contains("live")) globalThis.qps?.openSettings?.(true);
}"""
"""Most tests change settings and look at parts; `settings=False` leaves a page as it comes."""
LONGEST = 200_000
"""How long tests wait for what comes, in ms: many times what it takes a busy machine."""


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

    Tests share contexts, and tabs that no test shows anything in any more: the start of one costs
    more than to open most of our pages, which keep nothing there. Where the browser has died, the
    next test has a new one.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._started: Any = None
        self._contexts: dict[bool, Any] = {}
        self._free: dict[bool, list[Any]] = {True: [], False: []}
        self._loop: Any = None

    @contextmanager
    def lent(self) -> Iterator[SharedBrowser]:
        """Let some tests use it.

        While it is there its thread is inside a loop of asyncio, over which all that start loops of
        their own would fall: only those who use it may know.
        """
        events._set_running_loop(self._loop)
        try:
            yield self
        finally:
            self._loop = events._get_running_loop()
            events._set_running_loop(None)

    def running(self) -> Any:
        """Return the browser; it opens pages."""
        if not self._answers():
            with contextlib.suppress(Exception):  # it is dead already
                self.close()
            self._stack = ExitStack()
            self._started = self._stack.enter_context(browser())
        return self._started

    def context(self, *, scripts: bool) -> Any:
        """Return where pages are opened, with scripts or without, in a browser that answers."""
        started = self.running()
        if scripts not in self._contexts:
            self._contexts[scripts] = _context(started, scripts=scripts)
        return self._contexts[scripts]

    @contextmanager
    def shown(self, file: Path, *, scripts: bool = True, **options: Any) -> Iterator[Opened]:
        """Open a file in a tab that nobody uses; afterwards others may."""
        context, free = self.context(scripts=scripts), self._free[scripts]
        tab = free.pop() if free else context.new_page()
        with in_tab(tab, file, scripts=scripts, **options) as found:
            yield found
            left(tab)
        free.append(tab)

    def _answers(self) -> bool:
        from playwright.sync_api import Error

        try:
            for context in self._contexts.values():
                context.cookies()
        except Error:
            return False
        return self._started is not None and self._started.is_connected()

    def close(self) -> None:
        """End the browser."""
        self._started = None
        self._contexts = {}
        self._free = {True: [], False: []}
        self._stack.close()


def _context(started: Any, *, scripts: bool, patient: bool = True) -> Any:
    context = started.new_context(java_script_enabled=scripts, reduced_motion="reduce")
    context.set_default_timeout(LONGEST)
    if patient:
        context.add_init_script("globalThis.qpsPatience = Infinity")
        context.add_init_script(page_idle.SCRIPT)
    return context


@contextmanager
def opened(
    started: Any,
    file: Path,
    *,
    width: int = 1280,
    scheme: str = "light",
    scripts: bool = True,
    patient: bool = True,
) -> Iterator[Opened]:
    """Open a file in a context of its own.

    Pages work in slices at what takes long; where a test is `patient`, a change is whole at once.
    """
    context = _context(started, scripts=scripts, patient=patient)
    page = context.new_page()
    with in_tab(page, file, width=width, scheme=scheme, scripts=scripts) as found:
        yield found
    context.close()


@contextmanager
def in_tab(
    page: Any, file: Path, *, width: int = 1280, scheme: str = "light", scripts: bool = True
) -> Iterator[Opened]:
    """Open a file in a tab; where it runs scripts, they have begun with its data."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="null", color_scheme=scheme, reduced_motion="reduce")
    found = Opened(page_idle.Quiet(page, lambda: _rest(page)) if scripts else page)
    heard = {
        "console": lambda message: found.complaints.append(message.text),
        "pageerror": lambda error: found.complaints.append(f"{error}\n{error.stack}"),
        "request": lambda request: found.requests.append(request.url),
    }
    for event, hear in heard.items():
        page.on(event, hear)
    page.goto(file.as_uri())
    if scripts:
        page.wait_for_selector("#model:not(:empty)", state="detached")
    yield found
    for event, hear in heard.items():
        page.remove_listener(event, hear)


def _rest(page: Any) -> None:
    # Behind other tabs a browser draws once a second, and tells of what it drew as seldom.
    page.bring_to_front()
    page.evaluate(page_idle.ASK)


def left(tab: Any) -> None:
    """Leave what a tab shows, so that it is as if it were new; what comes meanwhile is heard."""
    tab.mouse.move(-1, -1)
    tab.goto("about:blank")
