"""Formulas at single points: what is exact, and what balls tell."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from flint import arb

from helpers.formulas import R, ceil, exp, floor, log
from qps.engine.evaluators.ball_arithmetic import by_floats
from qps.engine.expressions.formulas import (
    ZERO,
    Formula,
    maximum,
    minimum,
    number,
    population,
    power,
    square_root,
)
from qps.engine.expressions.point_values import BITS, EvaluationPoint, NoSignError, sign

N = population("N")


@pytest.mark.parametrize(
    ("formula", "at", "value"),
    [
        # what is rounded is a fraction, whatever it is made of
        (ceil(power(number(2), N) / 20) / 100, Fraction(109513, 10_000), Fraction(1)),
        (floor(exp(N)), 3, Fraction(20)),
        (floor(square_root(N)) / 3, 17, Fraction(4, 3)),
        (ceil(exp(N) * -1), 3, Fraction(-20)),
        (floor(power(number(10), N / 2)), 61, Fraction(3162277660168379331998893544432)),
        # and so is what is chosen, if it is one
        (maximum(exp(-N), R(1, 3)), 2, Fraction(1, 3)),
        (minimum(exp(-N), R(1, 3), square_root(N)), 1, Fraction(1, 3)),
        (maximum(exp(-N), R(1, 3)), 1, None),
        # equal numbers are not told apart, and may be no fraction
        (maximum(log(N) + exp(N), exp(N) + log(N)), 2, None),
        (floor(log(N) / log(number(2))), 8, None),
    ],
)
def test_what_rounds_or_chooses_is_exact(
    formula: Formula, at: Fraction | int, value: Fraction | None
) -> None:
    assert EvaluationPoint({N: Fraction(at)}).exact(formula) == value


def test_a_tie_of_what_is_rounded_is_a_tie() -> None:
    step = ceil(power(number(2), N) / 20)
    assert EvaluationPoint({N: Fraction(109513, 10_000)}).sign(step / 100 - 1) == 0
    assert EvaluationPoint({N: Fraction(109512, 10_000)}).sign(step / 100 - 1) == -1
    assert EvaluationPoint({N: Fraction(1)}).sign(maximum(exp(-N), R(1, 3)) - R(1, 3) + ZERO) == 1
    assert EvaluationPoint({N: Fraction(2)}).sign(maximum(exp(-N), R(1, 3)) - R(1, 3)) == 0


def test_numbers_too_large_for_floats_have_a_sign() -> None:
    assert EvaluationPoint({N: Fraction(10**400)}).sign(N - 10**399) == 1
    assert EvaluationPoint({N: Fraction(10**400)}).sign(10**399 - N) == -1


def test_a_power_that_is_too_long_to_be_exact_has_its_digits() -> None:
    power = (1 + N / 10**6) ** (N * N)  # at 10,000 it has millions of digits
    at = EvaluationPoint({N: Fraction(10_000)})
    assert at.exact(power) is None
    assert at.sign(power - 10) == 1
    assert at.sign(10 - power) == -1
    assert at.sign(1 / power - 1) == -1
    assert at.number(power) == inf
    assert EvaluationPoint({N: Fraction(132)}).number(power) == pytest.approx(
        9.97234952280651, rel=1e-12
    )


def test_the_logarithm_of_a_long_number_has_its_sign_at_once() -> None:
    # Its primes, which algebra would ask for, take for ever.
    assert sign(log(number(1 + Fraction(1, 2**1074)))) == 1
    assert sign(log(number(6)) - log(number(2)) - log(number(3))) == 0


def test_a_sign_that_bounds_decide_takes_no_more_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EvaluationPoint({N: Fraction(3)})
    options = []
    monkeypatch.setattr(point, "_ball", lambda formula, bits: options.append((formula, bits)))
    over = maximum(exp(-N), R(1, 3)) * log(N) - R(2, 5)
    assert point.sign(over) == -1
    assert not options


def test_digits_are_not_sought_where_they_are_those_of_floats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options: list[int] = []

    def result(_: Formula, bits: int) -> arb:
        options.append(bits)
        return arb(0, 1e-12)  # as wide, however many digits are asked for

    monkeypatch.setattr(
        EvaluationPoint, "_ball", lambda _self, formula, bits: result(formula, bits)
    )
    with pytest.raises(NoSignError):
        EvaluationPoint({}).sign(log(number(3)) - R(10986122886681098, 10**16))
    assert max(options) <= BITS[1]


@pytest.mark.parametrize("noise", [1e-12, 1e-8, 1e-5])
def test_bounds_from_floats_hold_where_a_number_moves_less_than_it_is_off(noise: float) -> None:
    """Its ends crossed, of which nothing was known; what stood beside it was the smallest then."""

    def number(value: float) -> float:
        return 7 + (noise if value < 2 else -noise)

    found = by_floats(number, (1,), arb(2, 1e-15))
    assert 7 in found
    assert float(found.rad()) < 1e-8 + 4 * noise
    assert by_floats(lambda value: 1 / value, (1,), arb(2, 1)).is_nan()


@pytest.mark.parametrize("noise", [1e-16, 1e-12])
def test_a_number_takes_few_digits_where_some_of_it_is_known_as_floats(
    noise: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 64 digits it is rounded off besides, so that 128 make it a little smaller."""
    used: list[int] = []

    def result(_point: EvaluationPoint, _formula: Formula, bits: int) -> arb:
        used.append(bits)
        return arb(1, noise * (100 if bits == 64 else 1))

    monkeypatch.setattr(EvaluationPoint, "_ball", result)
    assert EvaluationPoint({}).number(log(number(3))) == 1
    assert used == [64, 128]
