"""What runs by night alone is named as it is called, and CI runs more than that of each file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from helpers.nightly import NightlyEntry, nightly_entries, run_at_night

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("entry", nightly_entries(), ids=lambda entry: entry.start)
def test_it_is_a_test(entry: NightlyEntry) -> None:
    file, _, name = entry.start.partition("::")
    assert name.partition("[")[0] in names_in(file)
    assert entry.day_share or len(names_in(file)) > 1


def test_of_each_so_many_one_runs_by_day() -> None:
    (entry, *_) = (one for one in nightly_entries() if one.day_share == 3)
    names = [f"{entry.start}{number}]" for number in range(7)]
    assert list(run_at_night(names)) == [False, True, True, False, True, True, False]
    assert list(run_at_night(["docs/test_by_night.py::test_it_is_a_test[x]"])) == [False]


@cache
def names_in(file: str) -> list[str]:
    return re.findall(r"^def (test_\w+)", TESTS.joinpath(file).read_text("utf-8"), re.MULTILINE)
