"""Units are exact, and dimensions form an algebra."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION, TIME, Dimension
from qps.compiler.quantities.units import BUILT_IN, ambiguity, built_in

dimensions = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 3)), max_size=3).map(
    lambda parts: _product([Dimension.of(base) ** Fraction(power) for base, power in parts])
)


def _product(parts: list[Dimension]) -> Dimension:
    product = DIMENSIONLESS
    for part in parts:
        product = product * part
    return product


@given(dimensions, dimensions, dimensions)
def test_dimensions_are_a_group(a: Dimension, b: Dimension, c: Dimension) -> None:
    assert a * b == b * a
    assert (a * b) * c == a * (b * c)
    assert a * DIMENSIONLESS == a
    assert a / a == DIMENSIONLESS
    assert (a * b) ** Fraction(1, 2) == a ** Fraction(1, 2) * b ** Fraction(1, 2)


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("ms", Fraction(1, 1000)),
        ("us", Fraction(1, 10**6)),
        ("hour", Fraction(3600)),
        ("byte", Fraction(8)),
        ("kB", Fraction(8000)),
        ("KiB", Fraction(8192)),
        ("Mbit", Fraction(10**6)),
        ("Mibit", Fraction(2**20)),
        ("GB", Fraction(8 * 10**9)),
        ("Gbps", Fraction(10**9)),
        ("%", Fraction(1, 100)),
    ],
)
def test_factors_are_exact(name: str, factor: Fraction) -> None:
    assert BUILT_IN[name].factor == factor


@pytest.mark.parametrize("name", ["KB", "Mb", "b", "B", "K", "fps", "Hz", "Kbit", "min", "sec"])
def test_what_is_read_in_two_ways_is_no_unit(name: str) -> None:
    assert built_in(name) is None
    assert ambiguity(name)


def test_bits_are_no_plain_numbers() -> None:
    assert BUILT_IN["bit"].dimension == INFORMATION != DIMENSIONLESS
    assert BUILT_IN["packet"].dimension != BUILT_IN["frame"].dimension
    assert str(BUILT_IN["byte"].dimension / TIME) == "bit/s"


def value_of(text: str) -> Fraction:
    """Return the value of an expression in base units."""
    spec = (
        f"param p = {text}\nusers N in 1..2\nmachine m {{ }}\ntopology {{ node n = m }}\n"
        "stream s1 { traffic 1 packet/s; at n { } }"
    )
    outcome = check_source(Source("s", spec))
    assert outcome.value is not None, outcome.diagnostics
    return outcome.value.model.parameters[0].value.value  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2", Fraction(3, 10)),
        ("0.1 ms + 200 us", Fraction(3, 10_000)),
        ("1 byte / 3 ms", Fraction(8000, 3)),
        ("1 GB / (1 Gbit/s)", Fraction(8)),
        ("3 KiB - 3 kB", Fraction(3 * 192 // 8 * 8)),
        ("(2 ms) ^ 2", Fraction(4, 10**6)),
        ("5.25e-3 ms/ms^2", Fraction(525, 100)),
        ("85 % * 2", Fraction(17, 10)),
        ("-(3 - 5)", Fraction(2)),
        ("1 / 3 + 1 / 3 + 1 / 3", Fraction(1)),
        ("12 month / year", Fraction(1)),
    ],
)
def test_arithmetic_is_exact(text: str, value: Fraction) -> None:
    assert value_of(text) == value


@given(st.integers(-(10**9), 10**9), st.integers(0, 9))
def test_decimals_do_not_drift(digits: int, places: int) -> None:
    text = f"{digits / 10**places:.{places}f}"
    exact = Fraction(text)
    assert value_of(f"({text}) * 10 ms / (10 ms)") == exact
