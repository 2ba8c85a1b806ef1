"""How far off approximations are that stand together: measured on random networks that were played.

What several approximations come to is no sum of theirs: one error may outweigh, or make up for,
another. So networks of all that the language has are drawn by chance and played by
`tests/simulated`, and for each quantity a list says how far off it was, by which methods have a
part in it. An error is stated so that 19 in 20 of such numbers are within it, with a confidence of
75 %: the bound of Wilks (1941), that of order statistics, which needs no law. Of methods that were
never played in such networks, or outside of what was drawn, nothing is stated here. A share beyond
a time is the further off the smaller it is: of half of the items 19 in 20 were within 25 %, of one
in 100 within 100 %.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import inf

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.quantities.certainty import MOST_STATED, Certainty, CertaintyKind
from qps.compiler.quantities.methods import METHODS


class ErrorQuantity(StrEnum):
    """What a number is of: each has errors of its own."""

    LATENCY = "latency"
    QUANTILE = "quantile"
    """From 90 % on; those below are `LOW_QUANTILE`s."""
    LOW_QUANTILE = "low quantile"
    RATE = "rate"
    LOAD = "load"
    POOL = "pool"
    """How much of a pool is held, which rests on how long that is; no `LOAD` of what serves."""
    LOSS = "loss"
    """As a part of what is truly lost, as all others; of what was too little to be seen, none."""
    WAIT = "wait"
    """The mean, at a station or of a stream, and how many wait, which is as many times a rate."""
    WAIT_QUANTILE = "wait quantile"
    SHARE_BEYOND = "share beyond"
    """Which share waits longer than a time, or takes longer."""
    SHARE_WITHIN = "share within"
    """The rest of it, which is as far off in absolute terms and by another part of the truth."""

    @classmethod
    def of_level(cls, level: Fraction) -> ErrorQuantity:
        """Return what a quantile of a level is."""
        return cls.QUANTILE if level >= _TAIL else cls.LOW_QUANTILE


_TAIL = Fraction(9, 10)
OF_LAWS = frozenset(
    {
        ErrorQuantity.QUANTILE,
        ErrorQuantity.LOW_QUANTILE,
        ErrorQuantity.WAIT_QUANTILE,
        ErrorQuantity.SHARE_BEYOND,
        ErrorQuantity.SHARE_WITHIN,
    }
)
"""What rests on a whole distribution."""
SATURATION_METHODS = frozenset({"saturation-slows-all", "saturation-of-others", "blocking-time"})
"""The methods by which users are held up so: of their numbers the table says nothing."""


VARIED_SHADOW_SERVERS = frozenset({"varied-shadow-server", "far-varied-shadow-server"})
"""The methods of users behind others where services vary: their own errors are the least."""
OF_OWN_NETWORKS = frozenset({"residual-service"})
"""The methods whose errors were measured on networks drawn for them: no others say less."""


class ErrorAxis(StrEnum):
    """What errors grow with, beside the methods that have a part in a number."""

    WAITING = "queueing delay"
    """As a share of the mean latency."""
    UTILIZATION = "utilization"
    """The highest of all resources that the number rests on."""
    METHODS = "approximations"
    """How many of them have a part in it."""
    UNEQUAL_DELAY = "unequal delay"
    """The same, times by how much the longest service at a station exceeds the shortest.

    In product form each waits in proportion to its own service, and where first comes first is
    served as long as all others. It is known where these are further apart than three times.
    """
    RARITY = "rarity"
    """Of a share beyond a time, one divided by it: how many items there are to one beyond it."""


OperatingPoint = Mapping[ErrorAxis, float]
"""Where a number lies on these axes; what is not known of it is left out."""


class ErrorRow(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An error of numbers in which all of some `methods` have a part, as a part of the truth.

    It was measured on so many `numbers` of so many random `networks`. None states nothing: it is
    off by more than a factor of two. It holds where nothing is above what is `at_most`.
    """

    methods: frozenset[str]
    error: float | None
    numbers: int
    networks: int
    at_most: dict[ErrorAxis, float] = {}

    def holds(self, methods: frozenset[str], point: OperatingPoint) -> bool:
        """Return whether the error is one of a number made by methods, at an operating point."""
        known = {ErrorAxis.METHODS: len(methods), **point}
        at_most = self.at_most.items()
        return self.methods <= methods and all(known.get(one, inf) <= most for one, most in at_most)


class Errors(Struct, frozen=True, kw_only=True):
    """The errors of one quantity: the first row counts whose methods all have a part in a number.

    They hold for numbers made by `methods`, those that were played in enough random networks.
    Where the operating point is known, those of `at_points` count, and wherever it is, `rows`.
    Of streams of which fewer than one item in a hundred makes a call those of `rare_calls` count.
    """

    methods: frozenset[str]
    rows: tuple[ErrorRow, ...]
    at_points: tuple[ErrorRow, ...] = ()
    rare_calls: tuple[ErrorRow, ...] = ()

    def row_of(self, methods: Collection[str]) -> ErrorRow | None:
        """Return the row of a number in which methods have a part; None where nothing says it."""
        if not self.methods.issuperset(methods):
            return None
        return next((row for row in self.rows if row.methods.issubset(methods)), None)

    def rows_at(self, methods: frozenset[str], points: Sequence[OperatingPoint]) -> list[ErrorRow]:
        """Return the rows of a number at each of some points; none where nothing says them."""
        if not methods <= self.methods:
            return []
        return [
            next(row for row in self.at_points if row.holds(methods, point))
            for point in points
            if self.at_points
        ]

    def of_rare_calls(
        self, methods: frozenset[str], points: Sequence[OperatingPoint]
    ) -> float | None:
        """Return the error of a number of a class that makes a call rarely; None if not known."""
        if not methods <= self.methods:
            return None
        each = [
            next((row.error for row in self.rare_calls if row.holds(methods, point)), None)
            for point in points or [{}]
        ]
        known = [one for one in each if one is not None]
        return max(known) if len(known) == len(each) else None


def measured(
    known: Certainty,
    quantity: ErrorQuantity,
    *,
    is_below_knee: bool = False,
    calls_rarely: bool = False,
    points: Sequence[OperatingPoint] = (),
) -> Certainty:
    """Return how a number is known, with the error that was measured of such numbers.

    Where some operating points are given, the ends of a range of populations, its error is the
    largest at any of these. What one or two methods state of themselves is less where less is
    waited; where waits may be far longer than predicted, nothing says how much is waited: as far
    off as visits of very unequal services alone is what more methods have a part in, too. Where a
    class `calls_rarely`, no other error holds than that of such classes. Users behind others, of
    services that vary, are at least as far off as these methods say.
    """
    found = _by_table(
        known, quantity, is_below_knee=is_below_knee, calls_rarely=calls_rarely, points=points
    )
    if known.kind is not CertaintyKind.APPROXIMATION or found.error is None:
        return found
    behind = known.methods & VARIED_SHADOW_SERVERS
    least = [METHODS[one].errors.get(quantity, 0.0) for one in behind]
    if known.error is not None and not OF_OWN_NETWORKS.isdisjoint(known.methods):
        least.append(known.error)
    return as_stated(replace(found, error=max(found.error, *least))) if least else found


def _by_table(
    known: Certainty,
    quantity: ErrorQuantity,
    *,
    is_below_knee: bool,
    calls_rarely: bool,
    points: Sequence[OperatingPoint],
) -> Certainty:
    """Return the same, without errors of methods that hold whatever else has a part."""
    if known.kind is CertaintyKind.APPROXIMATION and FAR_UNEQUAL_SERVICES in known.methods:
        return _far_apart(
            known, quantity, is_below_knee=is_below_knee, calls_rarely=calls_rarely, points=points
        )
    anywhere = _measured(known, quantity)
    errors = table().get(quantity)
    if known.kind is not CertaintyKind.APPROXIMATION or errors is None:
        return anywhere
    if calls_rarely:
        return replace(known, error=errors.of_rare_calls(known.methods, points))
    rows = errors.rows_at(known.methods, points)
    row_errors = [row.error for row in rows if row.error is not None]
    is_measured = bool(rows) and len(row_errors) == len(rows)
    is_by_own_time = not UNEQUAL_SERVICES.isdisjoint(known.methods)  # short ones wait longer
    # No method states an error of shares by itself.
    is_share = quantity is ErrorQuantity.SHARE_BEYOND and not is_by_own_time
    if is_share or not _is_of_few(known):
        return replace(known, error=max(row_errors) if is_measured else None) if rows else anywhere
    if is_by_own_time or not is_measured:
        return anywhere
    if known.error is None:  # what no method states of itself is that of the points
        if _own_error(known, quantity) is not None:
            return anywhere  # of one alone more was tried than what was drawn
        return replace(known, error=min(max(row_errors), anywhere.error or inf))
    if anywhere.error is None:
        return anywhere
    if not all(ErrorAxis.WAITING in row.at_most for row in rows) or _is_far_apart(known):
        return anywhere  # of a method alone more was tried than what was drawn
    return replace(known, error=min(max(row_errors), anywhere.error))


def _far_apart(
    known: Certainty,
    quantity: ErrorQuantity,
    *,
    is_below_knee: bool,
    calls_rarely: bool,
    points: Sequence[OperatingPoint],
) -> Certainty:
    """Return how a number is known in which visits of very unequal services have a part.

    It is off by as much as such visits, or as what else has a part in it.
    """
    own = _far_apart_error(quantity, points, is_below_knee=is_below_knee)
    others = tuple(one for one in known.because if one.method != FAR_UNEQUAL_SERVICES)
    if own is None or not others:
        return replace(known, error=own)
    found = measured(
        replace(known, because=others, error=None),
        quantity,
        calls_rarely=calls_rarely,
        points=points,
    )
    return replace(known, error=_larger(own, found.error))


def _far_apart_error(
    quantity: ErrorQuantity, points: Sequence[OperatingPoint], *, is_below_knee: bool
) -> float | None:
    """Return the error of visits of very unequal services by themselves; None where none holds.

    It goes by how much of the latency rests on their delay, or by the knee where that is too much.
    """
    row = METHODS[FAR_UNEQUAL_SERVICES]
    most = max((one.get(ErrorAxis.UNEQUAL_DELAY, inf) for one in points), default=inf)
    steps = row.by_delay.get(quantity, ())
    found = [error for limit, error in steps if most <= limit]
    if is_below_knee and quantity in row.errors:
        found.append(row.errors[quantity])
    return min(found, default=None)


def _larger(*errors: float | None) -> float | None:
    """Return the largest of some errors; None where one is not known."""
    known = [one for one in errors if one is not None]
    return max(known) if len(known) == len(errors) else None


def _is_far_apart(known: Certainty) -> bool:
    """Return whether a method that states errors by ranges is in one where it is far off.

    That is of arrivals or service times that vary more than nearly all that random networks have.
    """
    by_ranges = any(METHODS[one].up_to for one in known.methods & METHODS.keys())
    return by_ranges and known.error is not None and known.error > _FAR_OFF


def _is_of_few(known: Certainty) -> bool:
    """Return whether so few methods have a part that what each states of itself counts."""
    return len(known.methods) <= _MOST_ALONE


def _measured(known: Certainty, quantity: ErrorQuantity) -> Certainty:
    """Return the same of a number of which no operating point is known.

    What one or two methods state was measured of just these, and stays up to a factor of two. What
    more of them multiply to says nothing of them together. A method alone that has an error of the
    quantity states that.
    """
    if known.kind is not CertaintyKind.APPROXIMATION:
        return known
    stated = as_stated(known)
    if _is_of_few(known):
        if stated.error is not None:
            return stated
        if not UNEQUAL_SERVICES.isdisjoint(known.methods):
            return replace(known, error=MOST_STATED)
        own = _own_error(known, quantity)
        if own is not None:
            return replace(known, error=own)
    errors = table().get(quantity)
    row = None if errors is None else errors.row_of(known.methods)
    return stated if row is None else replace(known, error=row.error)


def _own_error(known: Certainty, quantity: ErrorQuantity) -> float | None:
    """Return the error of a quantity that a method alone states; None where several have a part."""
    if len(known.methods) != 1:
        return None
    (method,) = known.methods
    return METHODS[method].errors.get(quantity)


_MOST_ALONE = 2
_FAR_OFF = 0.5
FAR_UNEQUAL_SERVICES = "far-unequal-services"
UNEQUAL_SERVICES = frozenset({"unequal-services", FAR_UNEQUAL_SERVICES})
"""Of visits to a station where each waits by its own time.

In random networks few stations are so, and none is as full as where nobody thinks. Up to three
times apart all rates and times were within 110 % of what `tests/oracles/unlike_services.py` plays,
nearly all within a factor of two, also where every station is full. Those further apart have errors
by how much of the latency is waited, times how much longer than others services are, and where no
more users wait than stations serve; beyond both rates were up to ten times as high.
"""


def as_stated(known: Certainty) -> Certainty:
    """Return how a number is known, without an error above a factor of two: that says nothing."""
    is_off = known.error is not None and known.error > MOST_STATED
    return replace(known, error=None) if is_off else known


@cache
def table() -> Mapping[ErrorQuantity, Errors]:
    """Return the errors of all quantities."""
    path = files("qps.compiler.quantities") / "measured_errors.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[ErrorQuantity, Errors])
