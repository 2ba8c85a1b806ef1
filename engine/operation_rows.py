"""Rows of the table of operations: what a row states, and constructors for families of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from importlib import import_module
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.engine.exact_algebra.exact_values import Exact
from qps.engine.numerics.float_overflow import nan_beyond_floats
from qps.engine.numerics.sloped_intervals import ROUNDED_OFF
from qps.engine.operand_groups import place_of, repeated

if TYPE_CHECKING:
    from flint import arb

    from qps.engine.evaluators.domains import Domain
    from qps.engine.evaluators.row_bounds import Bounds
    from qps.engine.numerics.sloped_intervals import SlopedInterval
    from qps.engine.numerics.value_ranges import ValueRange


NOT_NEGATIVE = (0.0, inf)
"""Between which two numbers the values are of what is never negative."""

NEVER_NEGATIVE = frozenset(["servers", "traffic", "load", "flows", "count", "room"])
"""Names of arguments that mean nothing below zero."""


class Operation(Struct, frozen=True, kw_only=True, dict=True):
    """A row of the table.

    It takes as many `operands`, or more where it `takes_more`. `called` is its name where it is
    read, and in the language where that has it: then `arguments` names what it takes. It `grows`
    with each operand (1), falls (-1), or may do either (0); where it `takes_more`, one describes
    all; where the last operands are a group that `repeats`, so large, the properties of the first
    are those of each of them. It grows in proportion with those in the places of `scales`, taken
    together: so it has their dimension, and all others are plain numbers; it falls in proportion
    with those in the places of `divides`. All its values lie between the two numbers of `lies`.
    Operands in the places of `whole` are counted whole. What `rounds`, up (1) or down (-1), jumps
    from one whole number to the next; what `chooses` is the largest (1) or least (-1) of its
    operands. What `is_steep` has about as many digits as its operand is large. Algebra may know
    that it cancels with others, as long as its operands are smaller than what `cancels` says. What
    has a `divisor` is its first operand over what that makes of the second, but where that is
    nothing.

    Of what is bounded `by_ends` no column knows more: its bounds are its values at both ends, which
    may be off by `error` besides a `part` of them. What `is_slow` takes long to compute; what is
    stated `row_by_row` takes as long for each row of arrays, but where the operands in the places
    of `servers` (the first, and how far apart) are all one. What has a `tail` is a quantile, and
    that is the name of the share that takes longer than a time, of the same operands: its slopes
    are by that. That by which alone it is decided whether it is within a limit is `decided_by`. Of
    what is `by_floats` large arguments have the digits of floats alone: no others are proven. Of
    what is `by_arrays` a value of floats is that of arrays of one row: many rows take little
    longer. In the places of `gammas` stand the squared variations of gamma laws, each behind its
    mean. With less than zero in a place that is `never_negative` it has no value. What
    `is_composed` is a law written for numbers of any kind: it has the bounds and the slopes of what
    it is made of. From the place `waits` on stand the operands of stages. What is `by_order` is
    summed over which of many answers comes when.
    """

    word: str
    name: str
    called: str
    arguments: tuple[str, ...] = ()
    operands: int
    takes_more: bool = False
    repeats: int = 0
    grows: tuple[int, ...]
    scales: tuple[int, ...] = ()
    lies: tuple[float, float] = (-inf, inf)
    divides: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    rounds: int = 0
    chooses: int = 0
    is_steep: bool = False
    cancels: float = 0.0
    divisor: Callable[[Any], Any] | None = None
    by_ends: bool = False
    error: float = 0.0
    part: float = ROUNDED_OFF
    is_slow: bool = False
    row_by_row: bool = False
    servers: tuple[int, int] | None = None
    tail: str = ""
    decided_by: str = ""
    by_floats: bool = False
    by_arrays: bool = False
    gammas: tuple[int, ...] = ()
    never_negative: tuple[int, ...] = ()
    is_composed: bool = False
    waits: int | None = None
    by_order: bool = False

    @property
    def is_of_queue(self) -> bool:
        """Whether the language has it to describe a queue: of a load, or of traffic."""
        return not {"load", "traffic"}.isdisjoint(self.arguments)

    @property
    def is_wait(self) -> bool:
        """Whether it is work over what a load leaves, without end where that is nothing."""
        return self.divisor is not None and not self.divides

    def in_proportion(self, count: int) -> Sequence[int]:
        """Return with which of so many operands, taken together, it grows in proportion."""
        return range(count) if self.takes_more and self.scales else self.scales

    @cached_property
    def exact(self) -> Callable[..., Exact]:
        """Its value of fractions or infinities, as one of them.

        InexactError where it is none, NoValueError where there is none.
        """
        return self._in("on_fractions")

    @cached_property
    def number(self) -> Callable[..., float]:
        """Its value of floats: not-a-number where there is none, or where floats do not."""
        value: Callable[..., float] = self._in("on_floats")
        return nan_beyond_floats(value) if self.by_floats else value

    @cached_property
    def array(self) -> Callable[..., Any]:
        """Its value of floats or arrays, one for each operand: not-a-number where there is none."""
        return self._in("on_arrays")

    @cached_property
    def bounds(self) -> Callable[..., Bounds]:
        """Its bounds from those of its operands, of many rows at once."""
        if self.by_ends:
            from qps.engine.evaluators.on_bounds import monotone  # noqa: PLC0415 - needs numpy

            return monotone(self.array, self.grows, self.repeats, self.gammas, self.waits)
        if self.is_composed:
            from qps.engine.evaluators.composed_bounds import bounds_of  # noqa: PLC0415 - needs numpy

            return bounds_of(self.name)
        return self._in("on_bounds")

    @cached_property
    def highest(self) -> Callable[..., float]:
        """A value of floats that is no less than that of any operands up to bounds of them.

        It is the value at their upper ends, but where these are no operands: chances of
        alternatives may sum to more than 1.
        """
        found = self._in("upper_ends", None)
        return self.number if found is None else nan_beyond_floats(found)

    @cached_property
    def boxes(self) -> Callable[..., Bounds] | None:
        """The same of boxes, with what is rounded off, where that is narrower; None for none."""
        return self._in("on_boxes", None)

    @cached_property
    def inverse(self) -> Callable[..., Any] | None:
        """Its first operand by its value and the others, of arrays; None where it has none."""
        return self._in("inverses", None)

    @cached_property
    def lateness(self) -> Callable[..., Any] | None:
        """By how much more items than allowed are later than a time; None where it is no quantile.

        Of the time and its operands, in arrays: a quantile by its transform takes many of these.
        """
        return self._in("lateness", None)

    @cached_property
    def ball(self) -> Callable[..., arb]:
        """Its value of balls: proven, to as many binary digits as flint works with."""
        return self._in("on_balls")

    @cached_property
    def slopes(self) -> Callable[..., tuple[float, ...]]:
        """Its slopes by each operand, of floats: not-a-number where there is none."""
        if self.by_ends:
            from qps.engine.evaluators.slopes_on_floats import by_differences, by_tail  # noqa: PLC0415 - seldom needed

            array = self.array if self.by_arrays else None
            found = by_differences(self.number, self.ball, self.is_whole, array)
            if not self.tail:
                return found
            tail = getattr(import_module("qps.engine.evaluators.queueing.tails_along"), self.tail)
            return by_tail(found, self.number, tail, self.is_whole)
        if self.is_composed:
            from qps.engine.evaluators.composed_bounds import slopes_of  # noqa: PLC0415 - seldom needed

            return slopes_of(self.name)
        return self._in("slopes_on_floats")

    @cached_property
    def interval(self) -> Callable[..., SlopedInterval]:
        """Its bounds from those of its operands, rounded outwards, with those of its slope."""
        if self.by_ends:
            return self.interval_between(self.number, self.highest)
        if self.is_composed:
            from qps.engine.evaluators.composed_bounds import interval_of  # noqa: PLC0415 - seldom needed

            return interval_of(self.name, self.lies)
        return self._in("on_intervals")

    def interval_between(
        self, lowest: Callable[..., float], highest: Callable[..., float]
    ) -> Callable[..., SlopedInterval]:
        """Return the same where it is bounded by its ends, of functions that give these."""
        from qps.engine.evaluators.on_intervals import monotone  # noqa: PLC0415 - seldom needed

        return monotone(
            lowest,
            self.grows,
            self.lies,
            (self.part, self.error),
            self.repeats,
            self.gammas,
            self.never_negative,
            self.waits,
            highest,
        )

    @cached_property
    def approximate(self) -> Callable[..., bool] | None:
        """Of which operands, in floats, it is an approximation; None where it is none of any."""
        return self._in("approximation_flags", None)

    @cached_property
    def range(self) -> Callable[..., ValueRange]:
        """Its range from those of its operands; anywhere in `lies` where no more is reported."""
        from qps.engine.numerics.value_ranges import ValueRange  # noqa: PLC0415 - who checks a spec needs none

        low, high = (Fraction(end) if isfinite(end) else end for end in self.lies)
        anywhere = ValueRange(low, high)
        return self._in("on_ranges", lambda *_: anywhere)

    @cached_property
    def moves(self) -> Callable[..., tuple[int, ...]]:
        """How it moves with each operand, from their ranges; see `evaluators/monotonicity`."""
        grows = tuple(0 if k in self.whole else grow for k, grow in enumerate(self.grows))
        if self.takes_more:
            return self._in("monotonicity", lambda *of: grows * len(of))
        return self._in("monotonicity", lambda *of: repeated(grows, self.repeats, len(of)))

    def is_whole(self, place: int) -> bool:
        """Return whether the operand in a place counts whole."""
        return place_of(place, self.operands, self.repeats) in self.whole

    @cached_property
    def function(self) -> Callable[..., Any] | None:
        """Its function of one symbol from those of its operands, in an algebra; None for none."""
        return self._in("on_functions", None)

    @cached_property
    def in_force(self) -> Callable[..., Any] | None:
        """What it comes to where its operands have given values; None where that is one form."""
        return self._in("active_branch", None)

    @cached_property
    def as_read(self) -> Callable[..., Any] | None:
        """What people write for it, by a writer of formulas; None for its name and operands."""
        return self._in("printing", None)

    @cached_property
    def domain(self) -> Callable[..., Domain | None]:
        """Where it has a value: what of its operands, as formulas, must not be negative."""
        from qps.engine.evaluators.domains import DomainCondition, share  # noqa: PLC0415 - seldom needed

        def by_names(*operands: Any) -> Domain:
            named = dict(zip(self.arguments, operands, strict=False))
            counts = tuple(DomainCondition(named[name]) for name in named if name in NEVER_NEGATIVE)
            return counts + (share(named["share"]) if "share" in named else ())

        return self._in("domains", by_names)

    @cached_property
    def in_sympy(self) -> Callable[..., Any]:
        """It as sympy has it, of sympy's expressions: for algebra, and for what is read."""
        return self._in("in_sympy")

    def _in(self, column: str, *default: Callable[..., Any] | None) -> Callable[..., Any]:
        module = import_module(f"qps.engine.evaluators.{column}")
        found: Callable[..., Any] = getattr(module, self.name, *default)
        return found


def row(
    word: str,
    name: str,
    *grows: int,
    called: str | None = None,
    of: str = "",
    takes_more: bool = False,
    **stated: Any,
) -> Operation:
    """Return the row of an operation `of` some arguments; `stated` are other fields of the row."""
    return Operation(
        word=word,
        name=name,
        called=called or word,
        arguments=tuple(of.split()),
        operands=2 if takes_more else len(grows),
        takes_more=takes_more,
        grows=grows,
        **stated,
    )


def by_ends(
    word: str, *grows: int, lies: tuple[float, float] = NOT_NEGATIVE, **stated: Any
) -> Operation:
    """Return the row of what rises or falls with each of its operands: so its bounds are known."""
    return row(word, word, *grows, lies=lies, by_ends=True, **stated)


of_queues = partial(by_ends, is_slow=True)


of_networks = partial(of_queues, row_by_row=True, by_floats=True)


def of_laws(word: str, *grows: int, **stated: Any) -> Operation:
    """Return the row of a law that is written for numbers of any kind."""
    return row(word, word, *grows, is_composed=True, **stated)


def of_classes(word: str, operands: int) -> Operation:
    """Return the row of what may do either with each operand, of which any number may come."""
    return row(
        word,
        word,
        *(0,) * operands,
        repeats=1,
        lies=NOT_NEGATIVE,
        is_slow=True,
        row_by_row=True,
        by_floats=True,
    )
