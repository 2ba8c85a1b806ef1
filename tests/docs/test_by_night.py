"""What runs by night alone is named as it is called, and CI runs more than that of each file."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from helpers.nightly import by_night

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("start", by_night())
def test_it_is_a_test(start: str) -> None:
    file, _, name = start.partition("::")
    assert name.partition("[")[0] in names_in(file)
    assert len(names_in(file)) > 1


@cache
def names_in(file: str) -> list[str]:
    return re.findall(r"^def (test_\w+)", TESTS.joinpath(file).read_text("utf-8"), re.MULTILINE)
