"""What is tried on more every night (`.ci/nightly`) than before each change lands.

A test marked `nightly`, or named in `tests/by_night.txt`, runs there alone; of a law, a tenth of
the examples is drawn by day, other ones each time.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from msgspec import Struct

IS_NIGHT = os.environ.get("QPS_TESTS") == "nightly"
"""Whether laws are tried on all of their examples."""
_LEAST = 5

nightly = pytest.mark.nightly
"""As `marks` of a parameter, or before a test."""
draws = pytest.mark.hypothesis
"""Before a test that takes so many `examples` by itself: at night it runs as laws do."""


class NightlyEntry(Struct, frozen=True, kw_only=True):
    """How the names of some tests start, and of how many of them one runs by day (0: none)."""

    start: str
    day_share: int


def nightly_entries() -> list[NightlyEntry]:
    """Return the entries of `tests/by_night.txt`."""
    lines = Path(__file__).parents[1].joinpath("by_night.txt").read_text(encoding="utf-8")
    return [_entry(line) for line in lines.splitlines() if line and not line.startswith("#")]


def _entry(line: str) -> NightlyEntry:
    share = re.match(r"1/(\d+) ", line)
    if share is None:
        return NightlyEntry(start=line, day_share=0)
    return NightlyEntry(start=line[share.end() :], day_share=int(share[1]))


def run_at_night(names: Iterable[str]) -> Iterator[bool]:
    """Yield for each name of a test, in the order of collection, if it runs at night alone.

    Of an entry `1/4 START`, the first of each four runs by day: always the same ones.
    """
    by_file: dict[str, list[NightlyEntry]] = {}
    for entry in nightly_entries():
        by_file.setdefault(_file_of(entry.start), []).append(entry)
    seen: Counter[str] = Counter()
    for name in names:
        found = [one for one in by_file.get(_file_of(name), ()) if name.startswith(one.start)]
        is_nightly = False
        for one in found:
            is_nightly |= one.day_share == 0 or seen[one.start] % one.day_share > 0
            seen[one.start] += 1
        yield is_nightly


def _file_of(name: str) -> str:
    return name.partition("::")[0]


def examples(count: int, *, least: int = _LEAST, part: int = 10) -> int:
    """Return how many examples of a law are drawn: at night so many, else one of so many (`part`).

    By day there are at least so many, of what is dear fewer.
    """
    return count if IS_NIGHT else max(count // part, min(count, least))
