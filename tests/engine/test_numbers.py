"""Numbers as people write them, the same on the page and in the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.compiler.quantities.scales import number

CASES = json.loads((Path(__file__).parents[1] / "scripts" / "numbers.json").read_text("utf-8"))
"""The page's script is held to the same: `tests/scripts/format.test.js`."""

_PLAIN = re.compile(r"\d{1,3}(,\d{3})*(\.\d+)?")
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


@pytest.mark.parametrize(("value", "digits", "text"), CASES)
def test_numbers_are_written_as_people_do(value: float, digits: int, text: str) -> None:
    assert number(value, digits) == text


@given(st.floats(1e-30, 1e30), st.integers(2, 6))
def test_a_number_is_read_as_what_it_is_and_has_no_exponent(value: float, digits: int) -> None:
    text = number(value, digits)
    amount, _, power = text.partition(" × ") if "×" in text else ("1", "", text)
    if text[-1].isascii():
        amount, power = text, "10⁰"
    assert _PLAIN.fullmatch(amount)
    read = float(amount.replace(",", "")) * 10.0 ** int(power.removeprefix("10").translate(_RAISED))
    assert read == pytest.approx(value, rel=0.501 * 10.0 ** (1 - digits))
