"""Numbers of a spec that formulas rest on: as symbols, with what their values show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeGuard, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.own_numbers import distinct_names
from qps.compiler.lower.expressions.item_kinds import Mixed, averaged, averaged_by, largest
from qps.compiler.lower.load_graph import Assumption, Cited
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.engine.expressions.formulas import Formula, number, symbol
from qps.engine.expressions.signs import range_of_constant
from qps.engine.expressions.substitution import substituted
from qps.engine.numerics.value_ranges import ANY, NOT_NEGATIVE, ValueRange

Result = TypeVar("Result")

Moving = Mapping[str, bool | ValueRange]
"""Numbers that take other values with the formulas as they are; whether of other signs, too.

Or between which ends they lie, where that is known.
"""


class Assuming(Struct, kw_only=True):
    """Keeps the assumptions that formulas rest on, and symbols of `mixtures` for kinds.

    What counts as known of a formula must hold for all values of the numbers that are `moving`,
    and where `sizes_move` for all sizes of visits. `weighed` are the other numbers whose values
    were looked at for it, and whether nothing but their signs.
    """

    assumptions: dict[str, Assumption] = field(default_factory=dict)
    cited: dict[str, Cited] = field(default_factory=dict)
    mixtures: dict[Formula, Mixed] = field(default_factory=dict)
    keeps_classes: bool = False
    moving: Moving = field(default_factory=dict)
    sizes_move: bool = False
    weighed: dict[str, bool] = field(default_factory=dict)
    structural: set[str] = field(default_factory=set)
    """Of these, those whose values decided on a formula: where they move there is another."""
    evaluated: set[str] = field(default_factory=set)
    """Numbers whose values were requested: with other values there may be other formulas."""
    supposed: dict[Formula, bool] | None = None
    """Of what rests on numbers that are moving: whether it is at most 1 with those at hand.

    None where nothing is to follow from these: then it must hold whatever they come to.
    """
    counts: set[Formula] = field(default_factory=set)
    """Symbols of numbers of machines and networks."""

    def averaged(self, lowered: Formula) -> Formula:
        """Return what was lowered with kinds kept as a mean over all of them."""
        return averaged(lowered, self.mixtures)

    def averaged_by(self, lowered: Formula, weight: Formula) -> Formula:
        """Return what was lowered as a mean over what comes: kinds of users by a weight."""
        return averaged_by(lowered, weight, self.mixtures)

    def largest(self, lowered: Formula) -> Formula | None:
        """Return the most that it is for any kind; None where kinds make no difference."""
        return largest(lowered, self.mixtures)

    def mark_capacity(self, lowered: Formula) -> None:
        """Remember that the numbers of an expression say how much hardware can do."""
        for known in self.assumed_in(lowered):
            self.assumptions[known.name] = replace(known, is_capacity=True)

    def assume(
        self,
        name: str,
        value: Formula,
        dimension: Dimension,
        text: str,
        span: Span,
        source: str | None,
        *,
        is_capacity: bool = False,
        where: Sequence[str] = (),
    ) -> Formula:
        """Return the symbol of a number; one name that stands for another number is distinguished.

        That is by `where` it is, such as `at auth` and then `in orders`, else by counting.
        """
        for distinct in distinct_names(name, where):
            known = self.assumptions.get(distinct)
            if known is None:
                known = self.assumptions[distinct] = Assumption(
                    name=distinct,
                    symbol=symbol(distinct),
                    value=value,
                    dimension=dimension,
                    text=" ".join(text.split()),
                    span=span,
                    source=source,
                    is_capacity=is_capacity,
                )
            elif known.span is not span or known.value is not value:
                self.evaluated.add(distinct)
            if known.value is value:
                return known.symbol
        raise AssertionError("names by counting do not end")

    def cite(self, name: str, text: str, span: Span, source: str | None, lowered: Formula) -> None:
        """Note what is cited for what is made of other numbers."""
        if source is not None and name not in self.cited:
            self.cited[name] = Cited(
                name=name,
                text=" ".join(text.split()),
                span=span,
                source=source,
                symbols=lowered.symbols,
            )

    def assume_count(self, place: str, value: Fraction, span: Span) -> Formula:
        """Return the symbol of a number of machines or networks."""
        name = count_of(place)
        moving = self.assume(name, number(value), DIMENSIONLESS, str(value), span, None)
        self.counts.add(moving)
        return moving

    def with_counts(self, formula: Formula) -> Formula:
        """Return a formula that is looked at, with the numbers of machines put in."""
        found = formula.symbols & self.counts
        self.evaluated.update(one.name for one in found)
        values = {one: self.assumptions[one.name].value for one in found}
        return substituted(formula, values) if found else formula

    def assumed_in(self, lowered: Formula) -> list[Assumption]:
        """Return the assumptions that a formula rests on, in the order of their names."""
        named = sorted(one.name for one in lowered.symbols)
        return [self.assumptions[name] for name in named if name in self.assumptions]

    def values_in(self, *formulas: Formula) -> dict[Formula, Formula]:
        """Return the values of the assumptions that formulas rest on: they are looked at."""
        known = [one for formula in formulas for one in self.assumed_in(formula)]
        self.evaluated.update(one.name for one in known)
        return {one.symbol: one.value for one in known}

    def valued(self, lowered: Formula) -> Formula:
        """Return a formula with the values of its assumptions put in."""
        return substituted(lowered, self.values_in(lowered))

    def put_in(self, lowered: Formula) -> Formula:
        """Return what was lowered with the values of the assumptions."""
        if lowered.is_constant:
            return lowered
        return self.valued(self.averaged(lowered))

    def of_what_stays(
        self, lowered: Formula, evaluate: Callable[[Formula, Mapping[Formula, ValueRange]], Result]
    ) -> Result:
        """Return what is known of what was lowered, whatever the numbers that are moving come to.

        It is known of a formula, and of ranges of the numbers in it.
        """
        formula = self.averaged(lowered)
        numbers = self.assumed_in(formula)
        values = self.values_in(formula)
        stays = {a.symbol: values[a.symbol] for a in numbers if a.name not in self.moving}
        signs = {a.symbol: _sign(a, self.moving.get(a.name, False)) for a in numbers}
        found = evaluate(substituted(formula, stays), signs)
        self.weigh([formula], by_sign=evaluate(formula, signs) == found)
        return found

    def structure_of(
        self, lowered: Formula, evaluate: Callable[[Formula, Mapping[Formula, ValueRange]], Result]
    ) -> Result:
        """Return the same where formulas, not labels alone, follow from what is known."""
        found = self.of_what_stays(lowered, evaluate)
        self.structural |= {one.name for one in self.assumed_in(self.averaged(lowered))}
        return found

    def is_supposed_a_share(self, lowered: Formula) -> bool:
        """Return whether a value is at most 1, by the numbers at hand where that is noted."""
        if self.supposed is None:
            return False
        value = self.put_in(lowered).value
        if not isinstance(value, Fraction):
            return False
        self.supposed[self.averaged(lowered)] = value <= 1
        return value <= 1

    def weigh(self, formulas: Iterable[Formula], *, by_sign: bool = False) -> None:
        """Note that what counts as known rests on the values of the numbers in formulas."""
        for formula in formulas:
            for known in self.assumed_in(self.averaged(formula)):
                if known.name not in self.moving:
                    self.weighed[known.name] = by_sign and self.weighed.get(known.name, True)


def count_of(place: str) -> str:
    """Return what the number of machines or networks in a place is called."""
    return f"count of {place}"


def is_some(count: ir.Expr) -> TypeGuard[ir.Constant]:
    """Return whether a count is a number above zero."""
    return isinstance(count, ir.Constant) and count.value > 0


def _sign(assumed: Assumption, may_turn: bool | ValueRange) -> ValueRange:  # noqa: FBT001 - as in `moving`
    """Return the range of any number of the sign that a number has, of any sign, or that it has."""
    if isinstance(may_turn, ValueRange):
        return may_turn
    value = range_of_constant(assumed.value)
    return NOT_NEGATIVE if value.above and not value.below and not may_turn else ANY
