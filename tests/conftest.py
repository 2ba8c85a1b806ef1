"""What all tests share: golden files that can be rewritten with `--snapshot-update`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

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
