"""What all tests share: golden files that `--snapshot-update` rewrites, and a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from helpers.browser import Opened, browser, opened
from qps.compiler.pipeline import allow_deep_expressions

# Before hypothesis looks at the limit of recursion, which it guards.
allow_deep_expressions()

# Speed lives in the benchmarks: a busy machine must fail no test.
settings.register_profile("qps", deadline=None)
settings.load_profile("qps")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites golden files."""
    parser.addoption("--snapshot-update", action="store_true", help="rewrite golden files")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return a comparison of a text with a golden file; a missing one fails."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--snapshot-update"):
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: run pytest --snapshot-update"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture
def chromium() -> Iterator[Any]:
    # One for each test: a browser that dies must not take the others with it.
    with browser() as started:
        yield started


@pytest.fixture
def open_page(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens a report; it complains of nothing, and asks for nothing."""
    entered = []

    def show(html: str, **options: Any) -> Opened:
        file = tmp_path / f"page{len(entered)}.html"
        file.write_text(html, encoding="utf-8")
        context = opened(chromium, file, **options)
        page = context.__enter__()
        entered.append((context, page))
        return page

    yield show
    for context, page in entered:
        urls = [url for url in page.requests if not url.startswith(("file:", "blob:"))]
        context.__exit__(None, None, None)
        assert page.complaints == []
        assert urls == []
