"""Dimensions that are not known yet: those of the formals of a function that nothing calls.

A formal without an example takes any dimension. What its function does with it says more: in
`x + 1 ms` it must be a time. Such demands are equations between products of powers, linear in
the exponents; each is solved for one free base as it comes. One that no dimension fulfills is a
mistake whatever the function is called with.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct, field

from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension, free, is_free


class FreeDimensions(Struct, frozen=True):
    """What was found of free dimensions so far."""

    _solved: dict[str, Dimension] = field(default_factory=dict)

    def start(self, formal: str) -> Dimension:
        """Return the dimension of a formal of which nothing is known."""
        dimension = free(formal)
        self._solved.pop(dimension.exponents[0][0], None)
        return dimension

    def agree(self, one: Dimension, other: Dimension) -> bool:
        """Return whether two dimensions can be the same; from then on they are."""
        if one == other:
            return True
        rest = self.resolved(one / other)
        if rest == DIMENSIONLESS:
            return True
        unsolved = next((item for item in rest.exponents if is_free(item[0])), None)
        if unsolved is None:
            return False
        base, exponent = unsolved
        others = rest / Dimension.of(base) ** exponent
        self._solved[base] = others ** Fraction(-1 / exponent)
        return True

    def resolved(self, dimension: Dimension) -> Dimension:
        """Return a dimension with all that was found put in."""
        while True:
            known = next((i for i in dimension.exponents if i[0] in self._solved), None)
            if known is None:
                return dimension
            base, exponent = known
            dimension = dimension * (self._solved[base] / Dimension.of(base)) ** exponent
