"""What all tests share: golden files that `--snapshot-update` rewrites, and a browser."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from browsers.browser import SETTINGS_OPEN, Opened, SharedBrowser
from helpers import run_cache
from helpers.nightly import IS_NIGHT, examples, run_at_night
from helpers.skips import missing_in_ci
from qps.compiler.syntax.nesting import allow_deep_expressions

# Before hypothesis looks at the limit of recursion, which it guards.
allow_deep_expressions()

# Each test checks what it solves: what is kept between runs has tests of its own.
os.environ["QPS_CACHE"] = "off"

# Speed lives in the benchmarks: a busy machine must fail no test.
settings.register_profile(
    "qps",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("qps")


def _draw_no_constants() -> None:
    """Have hypothesis read no constants to draw out of 1,500 modules, which takes it seconds."""
    try:
        from hypothesis.internal.conjecture import providers
    except ImportError:
        return  # older ones read none
    none = getattr(providers, "_local_constants", None)
    if none is not None and hasattr(providers, "_get_local_constants"):
        providers._get_local_constants = lambda: none


if not IS_NIGHT:
    _draw_no_constants()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites golden files."""
    parser.addoption("--snapshot-update", action="store_true", help="rewrite golden files")


def pytest_configure() -> None:
    """Refuse to begin in CI without what many tests would be skipped for."""
    if missing := missing_in_ci():
        raise pytest.UsageError(missing)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of `by_night.txt`, before what is marked `nightly` is left out."""
    names = [item.nodeid.removeprefix("tests/") for item in items]
    for item, is_nightly in zip(items, run_at_night(names), strict=True):
        if is_nightly:
            item.add_marker("nightly")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Where all is new, as in CI, have one process compile what the others import after it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or "CI" not in os.environ:
        return (yield)
    is_compiled = Path(session.config.option.basetemp).parent / "compiled"
    end = time.monotonic() + 300
    while worker != "gw0" and not is_compiled.exists() and time.monotonic() < end:
        time.sleep(0.1)
    try:
        return (yield)
    finally:
        is_compiled.touch()


def pytest_collection_finish() -> None:
    """Never look again for garbage among twelve thousand tests, which stay to the end."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each process tests that follow each other: what a module makes is made once.

    The plain scheduler deals out the last third of all tests by twos.
    """
    from xdist.scheduler import WorkStealingScheduling

    is_plain = config.getoption("dist") == "load"
    return WorkStealingScheduling(config, log) if is_plain else None


@pytest.fixture(scope="session", autouse=True)
def made_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give all processes of this run, and of no other, a place for what they make once."""
    own = tmp_path_factory.getbasetemp()
    run_cache.folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "once"
    run_cache.folder.mkdir(exist_ok=True)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return a comparison of a text with a golden file; a missing one fails."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--snapshot-update"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: run pytest --snapshot-update"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def session_browser() -> Iterator[SharedBrowser]:
    shared = SharedBrowser()
    yield shared
    with shared.lent():
        shared.close()


@pytest.fixture(scope="module")
def shared_browser(session_browser: SharedBrowser) -> Iterator[SharedBrowser]:
    """Give the browser to the tests of a module."""
    with session_browser.lent() as shared:
        yield shared


@pytest.fixture
def open_page(shared_browser: SharedBrowser, tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens a report; it complains of nothing, and asks for nothing."""
    entered = []

    def show(html: str, *, scripts: bool = True, settings: bool = True, **options: Any) -> Opened:
        file = tmp_path / f"page{len(entered)}.html"
        file.write_text(html, encoding="utf-8")
        context = shared_browser.shown(file, scripts=scripts, **options)
        page = context.__enter__()
        entered.append((context, page))
        if scripts and settings:
            page.run(SETTINGS_OPEN)
        return page

    yield show
    for context, _ in entered:
        context.__exit__(None, None, None)
    for _, page in entered:
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(("file:", "blob:"))] == []
