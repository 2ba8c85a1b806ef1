"""Expressions, conditions and the changes they can stand in: exact, without units or open names."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from math import floor

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.distributions import Distribution
from qps.compiler.ir.measure_kinds import Measured
from qps.compiler.ir.measured_values import Recorded, RecordedTable
from qps.compiler.quantities.dimension import Dimension


class Constant(Struct, frozen=True):
    """An exact number in base units."""

    value: Fraction


class Uncertain(Constant, frozen=True):
    """A number that is not known: how likely each value is, and where that is written.

    What is written once is one number, wherever it is used.
    """

    distribution: Distribution
    written: Span


class ParameterValue(Struct, frozen=True):
    """The value of a parameter; an elastic one settles with the loads.

    That of a formal is not known: it stands only while a function is checked that nothing
    calls, never in a model.
    """

    name: str
    is_elastic: bool = False
    is_formal: bool = False


class Population(Struct, frozen=True):
    """The number of users."""


class NodeCount(Struct, frozen=True):
    """How many there are of a node, or of a replicated link."""

    name: str


class Members(Struct, frozen=True):
    """How many users there are in each group of a name."""

    group: str


class GroupCount(Struct, frozen=True):
    """How many groups of a name there are; of users of several kinds, those of all kinds."""

    group: str


class Sum(Struct, frozen=True):
    """The sum of its terms."""

    terms: tuple[Expr, ...]


class Product(Struct, frozen=True):
    """The product of its factors."""

    factors: tuple[Expr, ...]


class Power(Struct, frozen=True):
    """`base ^ exponent`."""

    base: Expr
    exponent: Expr


class Apply(Struct, frozen=True):
    """An operation of the table, by its word, applied to arguments."""

    operation: str
    arguments: tuple[Expr, ...]


class Choice(Struct, frozen=True):
    """One of two values, by a condition on options and parameters."""

    condition: Condition
    then: Expr
    otherwise: Expr


class Lookup(Struct, frozen=True):
    """A number that a recording gives for an argument, which options and parameters settle."""

    table: RecordedTable
    argument: Expr
    span: Span


class Changed(Struct, frozen=True):
    """A value in a changed model."""

    value: Expr
    changes: tuple[Change, ...]


class Chance(Changed, frozen=True):
    """How likely a condition holds: the share of the models that numbers which are not known make.

    As of other changed models a claim alone uses it; the value is all that is compared.
    """

    condition: Condition


class Case(Enum):
    """Which of its values a parameter takes that has several."""

    AVERAGE = "average"
    LEAST = "least"
    LARGEST = "largest"


class CaseValue(Struct, frozen=True):
    """What a parameter is in a case, and where that is stated."""

    case: Case
    value: Expr
    span: Span


class ByCase(Struct, frozen=True):
    """A value by the case in force; a case that is not stated has none."""

    values: tuple[CaseValue, ...]

    def stated(self, case: Case) -> CaseValue | None:
        """Return the value of a case."""
        return next((value for value in self.values if value.case is case), None)


class Class(Struct, frozen=True):
    """A class of users or items: its share, that as it is written, the parameter of its value."""

    name: str
    share: Fraction
    weight: str
    parameter: str


class Mixture(Struct, frozen=True):
    """A value over classes (`kinds` in a spec): on average their mean, else the least or largest.

    `of` names the classes; where these are `of_users`, what a user demands is counted by class.
    `total` is what the weights add up to where they are counts, 1 where they are shares.
    """

    of: str
    of_users: bool
    classes: tuple[Class, ...]
    total: Fraction


class InCase(Struct, frozen=True):
    """`largest(x)`: a value with every parameter in one case, whichever is in force."""

    case: Case
    value: Expr
    span: Span


Expr = (
    Constant
    | ParameterValue
    | Population
    | NodeCount
    | Members
    | GroupCount
    | Sum
    | Product
    | Power
    | Apply
    | Choice
    | Recorded
    | Lookup
    | Measured
    | Changed
    | ByCase
    | Mixture
    | InCase
)


class OptionIs(Struct, frozen=True):
    """True where an option has a choice."""

    option: str
    choice: str


class Compare(Struct, frozen=True):
    """`left operator right`, the operator one of `< <= > >= == !=`; both of one dimension."""

    operator: str
    left: Expr
    right: Expr
    dimension: Dimension


class AllOf(Struct, frozen=True):
    """True where all conditions are."""

    conditions: tuple[Condition, ...]


class AnyOf(Struct, frozen=True):
    """True where one of the conditions is."""

    conditions: tuple[Condition, ...]


class Negated(Struct, frozen=True):
    """True where the condition is not."""

    condition: Condition


class RowIs(Struct, frozen=True):
    """True for a row of a matrix that has a word in one of its columns."""

    column: str
    value: str


Condition = OptionIs | Compare | AllOf | AnyOf | Negated | RowIs


class SetParameter(Struct, frozen=True):
    """A parameter's new value."""

    name: str
    value: Expr
    span: Span


class SetOption(Struct, frozen=True):
    """An option's new choice."""

    name: str
    choice: str
    span: Span


class SetPlace(Struct, frozen=True):
    """Another machine or network for a node or link; the count stays where it is None."""

    name: str
    kind: str
    count: Expr | None
    span: Span


class LoseMachines(Struct, frozen=True, kw_only=True):
    """Fewer machines of a node, or networks of a link, than the configuration says.

    So many (`number`) have failed, or all that stand in one of so many `zones`, rounded up.
    """

    name: str
    number: int
    zones: int | None
    span: Span

    def left(self, count: Expr) -> Expr:
        """Return how many of a count are left; of none there are none to fail."""
        if isinstance(count, Constant) and count.value == 0:
            return count
        if self.zones is None:
            if isinstance(count, Constant):
                return Constant(count.value - self.number)
            return Sum((count, Constant(Fraction(-self.number))))
        share = Fraction(self.zones - self.number, self.zones)
        if isinstance(count, Constant):
            return Constant(Fraction(floor(count.value * share)))
        return Apply("floor", (Product((count, Constant(share))),))


class SetPopulation(Struct, frozen=True):
    """Another range of the population, or one value (`low` = `high`)."""

    low: int
    high: int
    span: Span


class SetMode(Struct, frozen=True):
    """One mode instead of the worst of all, with what it changes."""

    name: str
    changes: tuple[Change, ...]
    span: Span


class SetScenario(Struct, frozen=True):
    """What a scenario changes."""

    name: str
    changes: tuple[Change, ...]
    span: Span


class SetCase(Struct, frozen=True):
    """The case in force for every parameter that has several values."""

    case: Case
    span: Span


Change = (
    SetParameter
    | SetOption
    | SetPlace
    | LoseMachines
    | SetPopulation
    | SetMode
    | SetScenario
    | SetCase
)
