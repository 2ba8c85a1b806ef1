"""What may vary: units, the population, groups, options, parameters, definitions."""

from __future__ import annotations

from typing import ClassVar

from qps.compiler.syntax.ast.base_node import (
    Declaration,
    Index,
    Name,
    Presentation,
    Shared,
    Written,
)
from qps.compiler.syntax.ast.expressions import Change, Expr, Number, Range, Text


class Edition(Declaration, frozen=True):
    """`edition 2026`: of which edition of the language the text is."""

    year: Number


class Use(Declaration, frozen=True, kw_only=True):
    """`use std.net as net`, or `use "file.qps" as f with …`: an instance of a file, as changed.

    With `for each place` there is an instance for each of the kinds of that name.
    """

    module: Name | Text
    alias: Name | None
    each: Name | None = None
    changes: tuple[Change, ...] = ()


class Unit(Shared, frozen=True, kw_only=True):
    """A unit: an item (no value), a rating, or a multiple of another unit."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a unit", symbol_kind="TypeParameter", completion_kind="Unit", color="type"
    )

    is_rating: bool = False
    value: Expr | None = None

    @property
    def is_item(self) -> bool:
        """True for what is counted."""
        return not self.is_rating and self.value is None


class Users(Shared, frozen=True):
    """The population and its range."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="the population",
        symbol="population",
        symbol_kind="Variable",
        color="variable",
        tag="constant",
    )
    is_of_system: ClassVar[bool] = True
    needs_solution: ClassVar[bool] = True

    range: Range
    source: Text | None = None


class Group(Shared, frozen=True, kw_only=True):
    """`group room of 12 users`: into which the users are divided, or a `share` of them."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a group", symbol_kind="Array", color="enum"
    )

    size: Expr
    source: Text | None = None
    index: Index | None = None
    share: Expr | None = None


class Correlation(Declaration, frozen=True, kw_only=True):
    """`correlation reply, seek = 0.8`: how two numbers that nobody knows go together."""

    one: Name
    other: Name
    value: Expr
    source: Text | None = None


class Option(Shared, frozen=True, kw_only=True):
    """A choice among names; the first one is in force."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="an option", symbol_kind="Enum", color="enum", tag="constant"
    )

    choices: tuple[Name, ...]
    source: Text | None


class ClockTime(Written, frozen=True):
    """`09:00`: a time of the day, up to `24:00`."""

    text: str


class Hours(Written, frozen=True, kw_only=True):
    """`weekday 09:00..17:00 = 1`: what a profile is on some days, between two times."""

    value: Expr
    days: tuple[Name, ...] = ()
    start: ClockTime | None = None
    end: ClockTime | None = None
    is_rest: bool = False


class Profile(Written, frozen=True, kw_only=True):
    """The values of a profile over its `cycle`, a day or a week: `hours`, or a `file`."""

    cycle: Name
    hours: tuple[Hours, ...]
    file: Text | None


class NamedSetting(Written, frozen=True):
    """`timeout 2 s`: one of the numbers that a declaration states by their names."""

    name: Name
    value: Expr


class CacheShape(Written, frozen=True, kw_only=True):
    """`items 1_000_000; zipf 0.8; size 50_000`: what is requested of a cache, and its size."""

    settings: tuple[NamedSetting, ...] = ()


class Param(Shared, frozen=True, kw_only=True):
    """A number that a scenario may change; an elastic one takes what capacity is left.

    The value of an elastic one is the most that it takes; the one of the smallest priority is
    served first.
    """

    presentation: ClassVar[Presentation] = Presentation(
        noun="a parameter",
        symbol="parameter",
        symbol_kind="Variable",
        color="variable",
        tag="constant",
    )

    value: Expr
    range: Range | None = None
    source: Text | None = None
    is_elastic: bool = False
    priority: Expr | None = None
    fitted: Text | None = None
    table: Name | None = None
    """The table that this is one value of."""
    is_calendar: bool = False
    """It is the date of a plan, in months since its first one; its value is the first."""
    shape: Profile | None = None
    """Its values over a day or a week, where it has them: it is a profile."""
    cache: CacheShape | None = None
    """What its value follows from where it is the hit rate of a cache."""


class Forecast(Declaration, frozen=True, kw_only=True):
    """`forecast N = 20_000 * 1.06 ^ date`, or `forecast N "plan.csv"`: users at each date."""

    is_of_main_file: ClassVar[bool] = True

    name: Name
    value: Expr | Text
    source: Text | None = None


class Weight(Written, frozen=True):
    """`I 30`: how many are of a kind, or `I 60 %`: which share."""

    name: Name
    value: Expr


class Kinds(Shared, frozen=True, kw_only=True):
    """The kinds that items or users are divided into: by weights, or by a pattern of letters."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a set of kinds", symbol_kind="Enum", color="enum", tag="type"
    )

    of_users: bool
    weights: tuple[Weight, ...] = ()
    pattern: Text | None = None
    source: Text | None = None


class Let(Shared, frozen=True):
    """A name for an expression."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a `let`", symbol_kind="Constant", color="variable", tag="constant"
    )

    value: Expr
    source: Text | None = None


class Formal(Written, frozen=True):
    """A parameter of a function or component, with its dimension by example."""

    name: Name
    example: Expr | None


class Func(Shared, frozen=True, kw_only=True):
    """A function."""

    presentation: ClassVar[Presentation] = Presentation(
        noun="a function",
        symbol="function",
        symbol_kind="Function",
        color="function",
        tag="function",
    )

    formals: tuple[Formal, ...]
    value: Expr
