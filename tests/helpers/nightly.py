"""What is tried on more every night (`.ci/nightly`) than before each change lands.

A test marked `nightly` runs there alone; of a law, a quarter of the examples is drawn by day, other
ones each time.
"""

from __future__ import annotations

import os

import pytest

_IS_NIGHT = os.environ.get("QPS_TESTS") == "nightly"
_LEAST = 8

nightly = pytest.mark.nightly
"""As `marks` of a parameter, or before a test."""


def examples(count: int) -> int:
    """Return how many examples of a law are drawn: at night so many, else a part of them."""
    return count if _IS_NIGHT else max(count // 4, min(count, _LEAST))
