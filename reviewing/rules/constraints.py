"""Conditions as constraints: a linear form of measures, and between which numbers it must lie.

`a <= b` is `a - b <= 0`: whatever names no measure is a number, put on one side, so that 5,000 and
a parameter of this value are the same bound. A form is divided by its first coefficient: `2 * a <=
10` and `a <= 5` are the same constraint. What is not linear is an atom of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension

Context: TypeAlias = frozenset[tuple[Hashable, Hashable]]
"""What changes a model, and to what."""


class Atom(Struct, frozen=True, kw_only=True):
    """What a form is made of: a measure in a changed model, or what is not linear in measures.

    `level` is that of a quantile, a mean is taken for the median; None of what has none.
    """

    key: Hashable
    level: Fraction | None = None
    context: Context = frozenset()
    kind: ir.MeasureKind | None = None
    inner: tuple[Constraint, ...] = ()


class End(Struct, frozen=True):
    """An end of an interval; what is `strict` is not part of it."""

    value: Fraction
    strict: bool = False


class Constraint(Struct, frozen=True, kw_only=True):
    """A form, the sum of atoms times coefficients, that lies between two ends.

    `tag` is what else it says, such as that the form is to be near a simulation; constraints of
    other tags are others. What is no comparison has no terms, and says all by its `tag`;
    `alternatives` are those of which one must hold.
    """

    terms: tuple[tuple[Atom, Fraction], ...]
    low: End | None = None
    high: End | None = None
    tag: Hashable = None
    dimension: Dimension = DIMENSIONLESS
    alternatives: tuple[tuple[Constraint, ...], ...] = ()
    tolerance: ir.Tolerance | None = None

    @property
    def exact(self) -> Hashable:
        """What is the same for constraints of the same form in the same model."""
        terms = tuple((a.key, a.level, a.context, _keys(a.inner), c) for a, c in self.terms)
        return (terms, self.tag, tuple(map(_keys, self.alternatives)))

    @property
    def shape(self) -> Hashable:
        """What is the same for constraints on the same measures, in whatever model and number."""
        return (tuple(atom.key for atom, _ in self.terms), self.tag)

    @property
    def is_always_so(self) -> bool:
        """Whether it compares plain numbers, and rightly: so it claims nothing of a model."""
        if self.terms or self.alternatives or self.tag is not None:
            return False
        low, high = self.low, self.high
        is_above = low is None or low.value < 0 or (low.value == 0 and not low.strict)
        is_below = high is None or high.value > 0 or (high.value == 0 and not high.strict)
        return is_above and is_below


def _keys(constraints: Sequence[Constraint]) -> Hashable:
    return frozenset((one.exact, one.low, one.high) for one in constraints)


def normal(
    terms: Mapping[Atom, Fraction],
    low: End | None,
    high: End | None,
    tag: Hashable,
    dimension: Dimension,
) -> Constraint:
    """Return a constraint whose first coefficient is 1."""
    sorted_terms = sorted(((a, c) for a, c in terms.items() if c), key=lambda term: repr(term[0]))
    if not sorted_terms:
        return Constraint(terms=(), low=low, high=high, tag=tag, dimension=dimension)
    first = sorted_terms[0][1]
    ends = [end and End(end.value / first, end.strict) for end in (low, high)]
    if first < 0:
        ends.reverse()
    scaled = tuple((atom, c / first) for atom, c in sorted_terms)
    is_plain = len(scaled) == 1 and abs(first) == 1
    return Constraint(
        terms=scaled,
        low=ends[0],
        high=ends[1],
        tag=tag,
        dimension=dimension if is_plain else DIMENSIONLESS,
    )
