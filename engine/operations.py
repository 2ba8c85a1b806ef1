"""The table of operations: what each does, in one place.

A function of the language is a row here. Its word names it in formulas, in programs, in the page
and, where the language has it, in the language. All else of QPS that must know what an operation
does asks the row. The row says what is true of it in one line; its `name` is that of its function
in each module of `columns`, which is imported when it is first asked for: who asks for values of
floats imports no numpy.

What has no value (0/0, a pole, the root of what is negative) is not-a-number, in every column; what
is beyond all floats is infinite, and what has a limit at infinity is that. See
docs/language.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from importlib import import_module
from math import inf, isfinite, nextafter, pi
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.engine.exact_algebra.exact_values import Exact
from qps.engine.numerics.float_overflow import nan_beyond_floats
from qps.engine.operand_groups import place_of, repeated
from qps.engine.queueing_networks.closed_operands import (
    GROWING_QUANTILE,
    GROWING_RATE,
    GROWING_ROOM,
    GROWING_WAIT,
    ROOM_ERROR,
)

if TYPE_CHECKING:
    from flint import arb

    from qps.engine.evaluators.domains import Domain
    from qps.engine.evaluators.on_bounds import Bounds
    from qps.engine.numerics.sloped_intervals import Interval
    from qps.engine.numerics.value_ranges import Range


class Operation(Struct, frozen=True, kw_only=True, dict=True):
    """A row of the table.

    It takes as many `operands`, or more where it `takes_more`. `called` is its name where it is
    read, and in the language where that has it: then `arguments` names what it takes. It `grows`
    with each operand (1), falls (-1), or may do either (0); where it `takes_more`, one tells of
    all; where the last operands are a group that `repeats`, so large, what is told of the first
    tells of each of them. It grows in proportion with those in the places of `scales`, taken
    together: so it has their dimension, and all others are plain numbers; it falls in proportion
    with those in the places of `divides`. All its values lie between the two numbers of `lies`.
    Operands in the places of `whole` are counted whole. What `rounds`, up (1) or down (-1), jumps
    from one whole number to the next; what `chooses` is the largest (1) or least (-1) of its
    operands. What `is_steep` has about as many digits as its operand is large. Algebra may know
    that it cancels with others, as long as its operands are smaller than what `cancels` says. What
    has a `divisor` is its first operand over what that makes of the second, but where that is
    nothing.

    Of what is bounded `by_ends` no column knows more: its bounds are its values at both ends, which
    may be off by `error` besides a part of them. What `is_slow` takes long to compute; what is told
    `row_by_row` takes as long for each row of arrays, but where the operands in the places of
    `servers` (the first, and how far apart) are all one. Of what is
    `by_floats` large arguments have the digits of floats alone: no others are proven. In the places
    of `gammas` stand the squared variations of gamma laws, each behind its mean.
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
    is_slow: bool = False
    row_by_row: bool = False
    servers: tuple[int, int] | None = None
    by_floats: bool = False
    gammas: tuple[int, ...] = ()

    @property
    def is_of_queue(self) -> bool:
        """Whether the language has it to tell of a queue: of a load, or of traffic."""
        return not {"load", "traffic"}.isdisjoint(self.arguments)

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
        """Its value of floats: not-a-number where there is none, or where floats do not tell it."""
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

            return monotone(self.array, self.grows, self.repeats, self.gammas)
        return self._in("on_bounds")

    @cached_property
    def ball(self) -> Callable[..., arb]:
        """Its value of balls: proven, to as many binary digits as flint works with."""
        return self._in("on_balls")

    @cached_property
    def slopes(self) -> Callable[..., tuple[float, ...]]:
        """Its slopes by each operand, of floats: not-a-number where there is none."""
        if self.by_ends:
            from qps.engine.evaluators.slopes_on_floats import by_differences  # noqa: PLC0415 - seldom needed

            return by_differences(self.number, self.ball, self.is_whole)
        return self._in("slopes_on_floats")

    @cached_property
    def interval(self) -> Callable[..., Interval]:
        """Its bounds from those of its operands, rounded outwards, with those of its slope."""
        if self.by_ends:
            from qps.engine.evaluators.on_intervals import monotone  # noqa: PLC0415 - seldom needed

            return monotone(
                self.number, self.grows, self.lies, self.error, self.repeats, self.gammas
            )
        return self._in("on_intervals")

    @cached_property
    def approximate(self) -> Callable[..., bool] | None:
        """Of which operands, in floats, it is an approximation; None where it is none of any."""
        return self._in("approximation_flags", None)

    @cached_property
    def range(self) -> Callable[..., Range]:
        """Its range from those of its operands; anywhere in `lies` where no more is told."""
        from qps.engine.numerics.value_ranges import Range  # noqa: PLC0415 - who checks a spec needs none

        low, high = (Fraction(end) if isfinite(end) else end for end in self.lies)
        anywhere = Range(low, high)
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
        from qps.engine.evaluators.domains import Needed, share  # noqa: PLC0415 - seldom needed

        def by_names(*operands: Any) -> Domain:
            named = dict(zip(self.arguments, operands, strict=False))
            counts = tuple(Needed(named[name]) for name in named if name in NEVER_NEGATIVE)
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


def _row(
    word: str,
    name: str,
    *grows: int,
    called: str | None = None,
    of: str = "",
    takes_more: bool = False,
    scales: tuple[int, ...] = (),
    divides: tuple[int, ...] = (),
    rounds: int = 0,
    chooses: int = 0,
    is_steep: bool = False,
    cancels: float = 0.0,
    divisor: Callable[[Any], Any] | None = None,
    lies: tuple[float, float] = (-inf, inf),
) -> Operation:
    return Operation(
        word=word,
        name=name,
        called=called or word,
        arguments=tuple(of.split()),
        operands=2 if takes_more else len(grows),
        takes_more=takes_more,
        grows=grows,
        scales=scales,
        divides=divides,
        rounds=rounds,
        chooses=chooses,
        is_steep=is_steep,
        cancels=cancels,
        divisor=divisor,
        lies=lies,
    )


def _by_ends(
    word: str,
    *grows: int,
    of: str = "",
    lies: tuple[float, float] = (0.0, inf),
    error: float = 0.0,
    whole: tuple[int, ...] = (),
    repeats: int = 0,
    is_slow: bool = False,
    row_by_row: bool = False,
    servers: tuple[int, int] | None = None,
    by_floats: bool = False,
    gammas: tuple[int, ...] = (),
) -> Operation:
    """Return the row of what rises or falls with each of its operands: so its bounds are known."""
    return Operation(
        word=word,
        name=word,
        called=word,
        arguments=tuple(of.split()),
        operands=len(grows),
        grows=grows,
        lies=lies,
        whole=whole,
        repeats=repeats,
        by_ends=True,
        error=error,
        is_slow=is_slow,
        row_by_row=row_by_row,
        servers=servers,
        by_floats=by_floats,
        gammas=gammas,
    )


_of_queues = partial(_by_ends, is_slow=True)
_of_networks = partial(_of_queues, row_by_row=True, by_floats=True)


def _of_classes(word: str, operands: int) -> Operation:
    """Return the row of what may do either with each operand, of which any number may come."""
    return Operation(
        word=word,
        name=word,
        called=word,
        operands=operands,
        grows=(0,) * operands,
        repeats=1,
        lies=_NOT_NEGATIVE,
        is_slow=True,
        row_by_row=True,
        by_floats=True,
    )


def _itself(divisor: Any) -> Any:
    return divisor


def _spare(load: Any) -> Any:
    return 1 - load


SUM, PRODUCT, POWER, ROOT, EXPONENTIAL, LOGARITHM = "+", "*", "pow", "sqrt", "exp", "ln"
MAXIMUM, MINIMUM = "max", "min"
"""Words of operations of which formulas have a form of their own
(`qps.engine.expressions.formulas`)."""

_DIGITS = 1000.0
"""What is steep has no more digits than algebra bears, where its operand is smaller."""

_OF_A_STAGE = (1, 1, 1, 0, -1, 1, 0, 1, 0)
"""How the time of a stage grows: `qps.engine.queueing.sum_numbers` has its nine operands."""

_SERVERS = (3, 4)
"""Where the servers of the stations of a closed network stand: each has four operands."""

_SHARE, _NOT_NEGATIVE, _ANGLE = (0.0, 1.0), (0.0, inf), (0.0, nextafter(pi, inf))

_ROWS = (
    _row(SUM, "total", 1, takes_more=True, scales=(0,), cancels=inf),
    _row(PRODUCT, "product", 0, takes_more=True, cancels=inf),
    _row(POWER, "raised", 0, 0, cancels=inf),
    _row("ratio", "ratio", 0, 0, scales=(0,), divides=(1,), divisor=_itself),
    _row("mean", "mean", 0, 0, scales=(0,), divides=(1,), divisor=_itself),
    _row("waiting", "waiting", 1, 0, of="work load", scales=(0,), divisor=_spare),
    _row(MAXIMUM, "maximum", 1, of="x", takes_more=True, scales=(0,), chooses=1),
    _row(MINIMUM, "minimum", 1, of="x", takes_more=True, scales=(0,), chooses=-1),
    _row("abs", "absolute", 0, of="x", scales=(0,), lies=_NOT_NEGATIVE, cancels=inf),
    _row(ROOT, "root", 1, lies=_NOT_NEGATIVE),
    _row(EXPONENTIAL, "exponential", 1, of="x", lies=_NOT_NEGATIVE, is_steep=True, cancels=_DIGITS),
    _row(LOGARITHM, "logarithm", 1, of="x", cancels=inf),
    _row("cos", "cosine", 0, of="x", lies=(-1.0, 1.0), cancels=_DIGITS),
    _row("acos", "arc_cosine", -1, of="x", lies=_ANGLE, cancels=inf),
    _row("floor", "floor", 1, of="x", rounds=-1),
    _row("ceil", "ceiling", 1, of="x", rounds=1),
    _row("w", "lambert", 1, called="lambert_w", of="x", lies=(-1.0, inf)),
    _row("lower_w", "lower_lambert", -1, called="lower_lambert_w", of="x", lies=(-inf, -1.0)),
    _row("effective", "effective", 0, 0, lies=_NOT_NEGATIVE),
    _by_ends("harmonic", 1, of="count", lies=(-inf, inf)),
    _of_queues("erlang_b", -1, 1, of="servers traffic", lies=_SHARE),
    _of_queues("erlang_c", -1, 1, of="servers traffic", lies=_SHARE),
    _of_queues("periodic_wait", 1, 1, of="flows load"),
    _of_queues("md1_tail", 1, -1, of="load time", lies=_SHARE, error=1e-30),
    _of_queues("md1_quantile", 1, 1, of="load share"),
    _of_queues("batch_quantile", 1, 1),
    _of_queues("periodic_tail", 1, 1, -1, of="flows load time", lies=_SHARE, whole=(0,)),
    _of_queues("periodic_quantile", 1, 1, 1, of="flows load share", whole=(0,)),
    _of_queues("sojourn_quantile", 1, -1, 1),
    _of_queues("gamma_quantile", 1, 0, 1),
    _of_queues(
        "stages_quantile",
        1,
        *_OF_A_STAGE,
        whole=(9,),
        repeats=9,
        by_floats=True,
        gammas=(4, 7),
    ),
    _of_networks("closed_rate", *GROWING_RATE, repeats=4, servers=_SERVERS),
    _of_networks("closed_wait", *GROWING_WAIT, repeats=4, servers=_SERVERS),
    _of_networks("mixed_wait", *GROWING_WAIT, repeats=4, servers=_SERVERS),
    _of_networks("mixed_room", *GROWING_ROOM, repeats=4, error=ROOM_ERROR),
    _of_networks("closed_quantile", *GROWING_QUANTILE, whole=(8,), repeats=6),
    _of_queues("room_loss", -1, -1, 1, of="servers room traffic", lies=_SHARE),
    _of_queues("room_wait", -1, 1, 1, of="servers room traffic"),
    _of_queues("room_quantile", -1, 1, 1, 1, by_floats=True),
    _of_queues("slowest", 1, 1, 1, repeats=3, by_floats=True),
    _of_queues("burst_wait", 1, 1, 1, row_by_row=True, by_floats=True),
    _of_queues("burst_quantile", 1, 1, 1, 1, row_by_row=True, by_floats=True),
    _by_ends("uneven", 1, 1, 1),
    _of_classes("class_rate", 11),
    _of_classes("class_wait", 16),
    _of_classes("class_open_wait", 15),
    _of_classes("class_quantile", 14),
    _of_classes("forked_rate", 2),
    _of_classes("forked_time", 3),
    _of_classes("forked_wait", 3),
    _of_classes("nested_rate", 2),
    _of_classes("nested_time", 3),
    _of_classes("nested_wait", 3),
    _of_classes("shared_rate", 14),
    _of_classes("shared_time", 15),
    _of_classes("shared_wait", 14),
    _of_queues("normal_tail", -1, of="x", lies=_SHARE),
    _of_queues("normal_quantile", 1, of="x", lies=(-inf, inf)),
)

OPERATIONS = {row.word: row for row in _ROWS}
"""Every operation by its word; numbers, inputs, the population and whole powers are none."""

BY_NAME = {row.called: row for row in _ROWS if row.arguments}
"""Those that the language has, by their names in it: all other words of it are made of these."""

ROUNDINGS = tuple(word for word, row in OPERATIONS.items() if row.rounds)
"""Words of what jumps from one whole number to the next."""

EXTREMES = tuple(word for word, row in OPERATIONS.items() if row.chooses)
"""Words of what is the largest of its operands, or the least."""

NEVER_NEGATIVE = frozenset(["servers", "traffic", "load", "flows", "count", "room"])
"""Names of arguments that mean nothing below zero."""

OF_QUEUES = frozenset(row.word for row in _ROWS if row.is_slow)
"""Words of the numbers of queues: they take long to compute."""

BY_FLOATS = frozenset(row.word for row in _ROWS if row.by_floats)
"""Words of what has no proven digits but those of floats where its arguments are large."""
