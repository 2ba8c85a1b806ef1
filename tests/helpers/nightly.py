"""What is tried on more every night (`.ci/nightly`) than before each change lands.

A test marked `nightly`, or named in `tests/by_night.txt`, runs there alone; of a law, a fifth of
the examples is drawn by day, other ones each time.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

_IS_NIGHT = os.environ.get("QPS_TESTS") == "nightly"
_LEAST = 8

nightly = pytest.mark.nightly
"""As `marks` of a parameter, or before a test."""


def by_night() -> list[str]:
    """Return how the names of tests start that are run at night for the time they take."""
    lines = Path(__file__).parents[1].joinpath("by_night.txt").read_text(encoding="utf-8")
    return [line for line in lines.splitlines() if line and not line.startswith("#")]


def examples(count: int) -> int:
    """Return how many examples of a law are drawn: at night so many, else a part of them."""
    return count if _IS_NIGHT else max(count // 5, min(count, _LEAST))
