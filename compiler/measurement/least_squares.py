"""Ordinary least squares, exact: sums of whole numbers, and equations solved in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import isqrt, lcm
from operator import mul

from msgspec import Struct

Rational = int | Fraction

_DIGITS = 64
"""Binary digits of a root that is no whole number."""
_MOST_DIGITS = 192
"""Of weights that make columns orthogonal: of nearly equal columns half of them cancel."""
_UNSEEN = 80
"""Binary digits behind the last one of a measured number."""


class LeastSquares(Struct, frozen=True, dict=True):
    """The numbers that fit `target` best as a sum of multiples of some columns.

    `columns` and `target` are whole numbers, row by row.
    """

    columns: tuple[tuple[int, ...], ...]
    target: tuple[int, ...]

    @cached_property
    def products(self) -> tuple[tuple[int, ...], ...]:
        """The sums of the products of each two columns: the matrix of the normal equations."""
        size = len(self.columns)
        half = {
            (i, j): sum(map(mul, self.columns[i], self.columns[j]))
            for i in range(size)
            for j in range(i + 1)
        }
        return tuple(tuple(half[max(i, j), min(i, j)] for j in range(size)) for i in range(size))

    @cached_property
    def _targets(self) -> tuple[int, ...]:
        return tuple(sum(map(mul, column, self.target)) for column in self.columns)

    @cached_property
    def numbers(self) -> tuple[Fraction, ...] | None:
        """The numbers themselves; None where columns move together, so that there are many."""
        solved = _eliminated(
            [[*row, t] for row, t in zip(self.products, self._targets, strict=True)]
        )
        return None if solved is None else tuple(row[0] for row in solved)

    @cached_property
    def square_error(self) -> Fraction:
        """The sum of the squares of all residuals."""
        assert self.numbers is not None
        whole = sum(map(mul, self.target, self.target))
        explained = sum(map(mul, self.numbers, self._targets), Fraction(0))
        return Fraction(whole - explained)

    def errors(self, columns: Sequence[Sequence[int]], target: Sequence[int]) -> list[float]:
        """Return what the numbers give for rows less what was measured, each rounded once.

        Numbers with many digits are rounded first, to parts of a row too small to be seen.
        """
        assert self.numbers is not None
        largest = max((max(map(abs, column), default=0) for column in columns), default=0)
        parts = 1 << _UNSEEN + largest.bit_length()
        common = min(lcm(*(number.denominator for number in self.numbers)), parts)
        whole = [round(number * common) for number in self.numbers]
        fitted = _combined(whole, columns) if any(whole) else [0] * len(target)
        return [
            (value - common * measured) / common
            for value, measured in zip(fitted, target, strict=True)
        ]

    @cached_property
    def own_errors(self) -> list[float]:
        """What the numbers give for the rows themselves less what was measured."""
        return self.errors(self.columns, self.target)

    @cached_property
    def orthonormal(self) -> tuple[list[list[float]], list[list[float]]]:
        """The columns made orthonormal one by one, and what of each of them makes these.

        Each is rounded once: rows of one that is made, weights of the columns that make it.
        """
        made, weights = [], []
        for row, square in map(_rounded, *zip(*_orthogonal(self.products), strict=True)):
            root = isqrt(square << 2 * _DIGITS)
            made.append([(v << _DIGITS) / root for v in _combined(row, self.columns)])
            weights.append([(weight << _DIGITS) / root for weight in row])
        return made, weights

    def leverages(self) -> list[float]:
        """Return how far each row decides its own fitted value: the diagonal of the hat matrix.

        The columns are made orthogonal one by one (Gram and Schmidt), so that all is a sum of
        squares: nothing cancels.
        """
        made, _ = self.orthonormal
        total = [0.0] * len(self.target)
        for column in made:
            total = [old + value * value for old, value in zip(total, column, strict=True)]
        return total


def _rounded(row: Sequence[int], square: int) -> tuple[list[int], int]:
    """Return weights and the square of a length, in fewer digits where there are very many."""
    shift = max(0, max(map(abs, row)).bit_length() - _MOST_DIGITS)
    return [weight >> shift for weight in row], square >> 2 * shift


def _combined(weights: Sequence[int], columns: Sequence[Sequence[int]]) -> list[int]:
    used = [(w, column) for w, column in zip(weights, columns, strict=True) if w]
    first, column = used[0]
    made = [first * value for value in column]
    for weight, column in used[1:]:
        made = [old + weight * value for old, value in zip(made, column, strict=True)]
    return made


def _orthogonal(products: Sequence[Sequence[int]]) -> list[tuple[list[int], int]]:
    """Return combinations of columns that are orthogonal, and the square of the length of each."""
    size = len(products)
    found: list[tuple[list[int], int]] = []
    for k in range(size):
        weights = [Fraction(int(i == k)) for i in range(size)]
        for other, square in found:
            along = Fraction(sum(map(mul, other, products[k])), square)
            weights = [w - along * o for w, o in zip(weights, other, strict=True)]
        common = lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * common) for weight in weights]
        square = sum(
            a * b * products[i][j] for i, a in enumerate(whole) for j, b in enumerate(whole)
        )
        found.append((whole, square))
    return found


def _eliminated(rows: Sequence[Sequence[Rational]]) -> list[list[Fraction]] | None:
    """Return the solutions of linear equations, by Gauss and Jordan; None where there is no one.

    Each row holds its coefficients, then its right sides.
    """
    matrix = [[Fraction(value) for value in row] for row in rows]
    size = len(matrix)
    for column in range(size):
        pivot = next((i for i in range(column, size) if matrix[i][column]), None)
        if pivot is None:
            return None
        matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
        first = matrix[column][column]
        matrix[column] = [value / first for value in matrix[column]]
        for i in range(size):
            if i != column and matrix[i][column]:
                factor = matrix[i][column]
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[column], strict=True)]
    return [row[size:] for row in matrix]
