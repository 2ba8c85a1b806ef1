"""What is tried on more every night (`.ci/nightly`) than before each change lands.

A test marked `nightly`, or named in `tests/by_night.txt`, runs there alone; of a law, a tenth of
the examples is drawn by day, other ones each time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

_IS_NIGHT = os.environ.get("QPS_TESTS") == "nightly"
_LEAST = 5

nightly = pytest.mark.nightly
"""As `marks` of a parameter, or before a test."""
draws = pytest.mark.hypothesis
"""Before a test that takes so many `examples` by itself: at night it runs as laws do."""


def by_night() -> list[str]:
    """Return how the names of tests start that are run at night for the time they take."""
    lines = Path(__file__).parents[1].joinpath("by_night.txt").read_text(encoding="utf-8")
    return [line for line in lines.splitlines() if line and not line.startswith("#")]


def examples(count: int, *, least: int = _LEAST) -> int:
    """Return how many examples of a law are drawn: at night so many, else a part of them.

    By day there are at least so many, of what is dear fewer.
    """
    return count if _IS_NIGHT else max(count // 10, min(count, least))


def some(cases: Iterable[object], *, every: int) -> list[object]:
    """Return cases as parameters: by day the first of each so many, always the same; at night all.

    For many that take long and tell alike, such as all specs; `cases` are values of one parameter.
    """
    return [
        case if place % every == 0 else pytest.param(case, marks=nightly)
        for place, case in enumerate(cases)
    ]
