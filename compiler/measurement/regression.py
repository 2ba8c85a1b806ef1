"""How good a fit is: intervals of the numbers, residuals, and the error on rows left out.

Least squares, with the intervals of `fit_spread`; leave-one-out residuals by the diagonal
of the hat matrix, and how far each row pulls the numbers by Cook's distance (R. D. Cook and
S. Weisberg, Residuals and Influence in Regression, 1982, sections 2.2.1 and 3.5).

Rows that are the same in every digit are taken for one measurement that was written down several
times: the intervals are those of the distinct rows, and a row is left out with its copies.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from heapq import nsmallest
from itertools import repeat
from math import ceil, hypot, isnan, nan, sqrt

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.measurement.cost_products import RATE, CostProduct
from qps.compiler.measurement.fit_spread import fit_spread
from qps.compiler.measurement.fit_terms import Factor, FittedCurve
from qps.compiler.measurement.fits import LOW_LOAD, CostFit
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.repeated_settings import errors_unseen
from qps.compiler.measurement.student_t import student_quantile

_CONFIDENCE = 0.95
_PIVOTAL = 1 - 1e-9
"""Leverage beyond which a row alone decides a number: without it there is no prediction."""

PULLS = 1.0
"""Cook's distance from which a row moves the numbers to the edge of what they may be without it."""

_FEWEST_TO_PULL = 2
"""Degrees of freedom from which that says anything: with one all rows miss in step."""

LARGE_RESIDUAL = 0.1
"""Part of a measured load by which a fit may miss it, before it is reported."""

_SMALL_LOAD = 0.2
"""Of smaller loads, the residual that is large is that of this one: 2 % of the machine."""

FEW_MISSED = 20
"""One row in so many may be missed by much for nothing but noise."""


class Coefficient(Struct, frozen=True, kw_only=True):
    """A fitted number, in seconds of one processor for each item (a bit for information).

    With `factors`, it is for each of an item and one of them, with a `curve`, for where this is
    one; one that `is_of_curve` is the number of the curve. The fixed one is a load. `half_width` is
    that of its 95 % confidence interval, 0 where no row is missed.
    """

    heading: str
    item: str | None
    value: float
    half_width: float | None
    factors: tuple[Factor, ...] = ()
    curve: FittedCurve | None = None
    is_of_curve: bool = False

    @property
    def may_be_zero(self) -> bool:
        """True where the interval holds zero."""
        if self.is_of_curve and self.half_width is not None:
            return abs(self.value) < self.half_width
        return self.half_width is not None and 0 <= self.value < self.half_width


class Residual(Struct, frozen=True, kw_only=True):
    """A row: its load as measured and fitted, and as predicted by a fit without it.

    `left_out` is None where the row alone decides a number; `pull` is Cook's distance, `remaining`
    the part of the squared error that is left without the row, both None where that is not known.
    `is_used` is False for another code path and for a saturated machine.
    """

    line: int
    measured: float
    error: float
    left_out: float | None
    pull: float | None
    remaining: float | None
    is_used: bool

    @property
    def fitted(self) -> float:
        """The load that the fit gives."""
        return self.measured + self.error


class BetterCosts(Struct, frozen=True, kw_only=True):
    """Costs with a curve, or with a `column` that was not used, that predict rows better.

    `before` and `after` are leave-one-out errors without and with it (root mean square).
    """

    costs: tuple[CostProduct, ...]
    has_fixed: bool
    before: float
    after: float
    column: str = ""


class Regression(Struct, frozen=True, eq=False, kw_only=True, dict=True):
    """A fit with all that says how far to trust it; loads as shares of the machine."""

    fit: CostFit
    coefficients: tuple[Coefficient, ...]
    degrees_of_freedom: int
    distinct: int
    """How many of the rows that are used differ."""
    settings: int
    """How many settings these were measured at: rows of one are left out together."""
    better: BetterCosts | None = None
    _errors: array[float]
    _left_out: array[float]
    _pulls: array[float]
    _remaining: array[float]

    def residual(self, index: int) -> Residual:
        """Return one of the rows of the table."""
        runs = self.fit.runs
        left_out, pull, remaining = (
            None if isnan(column[index]) else column[index]
            for column in (self._left_out, self._pulls, self._remaining)
        )
        return Residual(
            line=runs.lines[index],
            measured=self._measured[index],
            error=self._errors[index],
            left_out=left_out,
            pull=pull,
            remaining=remaining,
            is_used=index in self._used,
        )

    @property
    def residuals(self) -> Iterator[Residual]:
        """All rows of the table."""
        return map(self.residual, range(len(self._errors)))

    def influential_rows(self, most: int) -> tuple[Residual, ...]:
        """Return the rows in the order of the table; of more, those that pull and miss most.

        Then of those that repeat each other there is one.
        """
        count = len(self._errors)
        if count <= most:
            return tuple(self.residuals)
        copied = frozenset(self.copied)
        pulls, errors, lines = self._pulls, self._errors, self.fit.runs.lines

        def rank(i: int) -> tuple[float, float]:
            return -(0.0 if isnan(pulls[i]) else pulls[i]), -abs(errors[i])

        found = nsmallest(most, (i for i in range(count) if lines[i] not in copied), key=rank)
        return tuple(map(self.residual, sorted(found)))

    @cached_property
    def _used(self) -> frozenset[int]:
        return frozenset(self.fit.runs.used)

    @cached_property
    def _measured(self) -> array[float]:
        load = self.fit.runs.load
        top, bottom = load.unit.numerator, load.unit.denominator
        return array("d", (whole * top / bottom for whole in load.whole))

    @property
    def left_out_error(self) -> float | None:
        """The root mean square of leave-one-out errors, as a load; None where there are none."""
        pairs = zip(self._left_out, self._measured, strict=True)
        errors = [(left - measured) ** 2 for left, measured in pairs if not isnan(left)]
        return sqrt(sum(errors) / len(errors)) if errors else None

    @cached_property
    def left_out_shares(self) -> tuple[float, ...]:
        """Leave-one-out errors as shares of the measured loads that are not 0, in rising order."""
        pairs = zip(self._left_out, self._measured, strict=True)
        return tuple(sorted(abs(a / load - 1) for a, load in pairs if load and not isnan(a)))

    @property
    def is_repeated(self) -> bool:
        """Whether rows that differ are of one setting, so that settings are left out, not rows."""
        return self.settings < self.distinct

    @cached_property
    def largest_relative_error(self) -> float:
        """The largest residual of a used row, as a share of the measured load."""
        measured, errors = self._measured, self._errors
        used = (i for i in self.fit.runs.used if measured[i] > 0)
        return max((abs(errors[i] / measured[i]) for i in used), default=0.0)

    @cached_property
    def worst(self) -> Residual | None:
        """The used row that is missed by the most of its load, where the fit is poor.

        It is where more than a few rows are missed by much.
        """
        used, measured, errors = self.fit.runs.used, self._measured, self._errors
        allowed = LARGE_RESIDUAL * _SMALL_LOAD
        large = [
            i
            for i in used
            if abs(errors[i]) > allowed and abs(errors[i]) > LARGE_RESIDUAL * measured[i]
        ]
        if len(large) * FEW_MISSED <= len(used):
            return None
        return self.residual(max(large, key=self._missed))

    def _missed(self, index: int) -> float:
        """Return by what part of its load a row is missed; of a small load, by less."""
        return abs(self._errors[index]) / max(self._measured[index], _SMALL_LOAD)

    def unseen_error(self, index: int) -> float:
        """Return by what share of its load a fit without a row misses it; 0 without a load.

        Where no fit without it is known, that of the fit.
        """
        measured, left_out = self._measured[index], self._left_out[index]
        if not measured:
            return 0.0
        predicted = measured + self._errors[index] if isnan(left_out) else left_out
        return predicted / measured - 1

    @cached_property
    def pulling(self) -> tuple[Residual, ...]:
        """The rows that pull the numbers, first the one without which the others fit best."""
        if self.degrees_of_freedom < _FEWEST_TO_PULL:
            return ()
        found = [i for i, pull in enumerate(self._pulls) if pull > PULLS]
        found.sort(key=lambda i: (self._remaining[i], i))
        return tuple(map(self.residual, found))

    @property
    def copies(self) -> int:
        """How many rows repeat an earlier one in every digit."""
        return len(self.fit.runs.used) - self.distinct

    @cached_property
    def copied(self) -> tuple[int, ...]:
        """The lines of rows that repeat an earlier one."""
        runs, seen, lines = self.fit.runs, set[tuple[int, ...]](), []
        if self.copies:
            for line, row in zip(_lines(self.fit, runs.used), _rows(self.fit.squares), strict=True):
                if row in seen:
                    lines.append(line)
                seen.add(row)
        return tuple(lines)

    @property
    def other_path(self) -> tuple[int, ...]:
        """The lines that were not used: items without any bytes."""
        runs = self.fit.runs
        return _lines(self.fit, sorted(runs.other_path - self._used))

    @property
    def saturated(self) -> tuple[int, ...]:
        """The lines that were not used: the machine was full, and so demand was higher."""
        runs = self.fit.runs
        return _lines(self.fit, sorted(runs.saturated - self._used))

    @property
    def busy_without_work(self) -> tuple[int, ...]:
        """The lines that were not used as nothing was done in them, though there was a load."""
        runs = self.fit.runs
        return _lines(self.fit, sorted(row for row in runs.without if runs.load.whole[row]))

    @property
    def empty(self) -> tuple[int, ...]:
        """The lines that were not used as there is nothing in them: neither work nor load."""
        runs = self.fit.runs
        return _lines(self.fit, sorted(row for row in runs.without if not runs.load.whole[row]))

    @property
    def at_low_load(self) -> tuple[int, ...]:
        """The used lines at so low a load that costs are not those near saturation.

        None where a curve along the rate says by how much.
        """
        if any(curve.name == RATE for curve in self.fit.curves):
            return ()
        low = ceil(LOW_LOAD / self.fit.runs.load.unit)
        whole = self.fit.runs.load.whole
        return _lines(self.fit, [i for i in self.fit.runs.used if whole[i] < low])


def _lines(fit: CostFit, rows: Sequence[int]) -> tuple[int, ...]:
    return tuple(fit.runs.lines[row] for row in rows)


def _rows(squares: LeastSquares) -> Iterator[tuple[int, ...]]:
    return zip(squares.target, *squares.columns, strict=True)


@lru_cache(maxsize=8)  # check, report and page use the same
def regression(fit: CostFit) -> Regression:
    """Return a fit with its intervals, residuals and leave-one-out errors."""
    squares, runs, weights = fit.squares, fit.runs, fit.weights
    size = len(squares.columns)
    copies = Counter(_rows(squares))
    freedom = len(copies) - size
    share = len(copies) / len(runs.used)
    unit = float(runs.load.unit)
    variance = float(squares.square_error) * share / freedom if freedom > 0 else nan
    every = (((1,) * len(runs.lines),) if fit.has_fixed else ()) + tuple(
        rate.whole for rate in runs.rates
    )
    if len(runs.used) == len(runs.lines):
        errors = [one / weight for one, weight in zip(squares.own_errors, weights, strict=True)]
    else:
        errors = squares.errors(every, runs.load.whole)
    square_error = float(squares.square_error)
    unused = array("d", [nan]) * len(runs.lines)
    left_out, pulls, remaining = unused[:], unused[:], unused[:]
    labels = runs.labels
    settings = len(set(labels))
    is_repeated = settings < len(copies)
    if is_repeated:
        own = [errors[i] * weight for i, weight in zip(runs.used, weights, strict=True)]
        unseen = errors_unseen(squares, own, labels)
        for index, weight, error in zip(runs.used, weights, unseen, strict=True):
            missed = nan if error is None else error / weight
            left_out[index] = (runs.load.whole[index] + missed) * unit
    are_copies = len(copies) < len(runs.used)
    times_of = map(copies.__getitem__, _rows(squares)) if are_copies else repeat(1)
    every_row = zip(runs.used, weights, times_of, squares.leverages(), strict=are_copies)
    whole = runs.load.whole
    for index, weight, times, leverage in every_row:
        alone = times * leverage
        if alone <= _PIVOTAL:
            error = errors[index]
            without = error / (1 - alone)
            if not is_repeated:
                left_out[index] = (whole[index] + without) * unit
            if variance > 0:
                moved = times * weight * without
                pulls[index] = moved * moved * leverage / (size * variance) * share
                less = moved * weight * error / square_error
                remaining[index] = 1 - less if less < 1 else 0.0
    return Regression(
        fit=fit,
        coefficients=tuple(_coefficients(fit, freedom)),
        degrees_of_freedom=freedom,
        distinct=len(copies),
        settings=settings,
        _errors=array("d", (error * unit for error in errors)),
        _left_out=left_out,
        _pulls=pulls,
        _remaining=remaining,
    )


def _coefficients(fit: CostFit, freedom: int) -> Iterator[Coefficient]:
    """Yield the numbers of a fit, first the fixed load if any, with their intervals."""
    fixed = Coefficient(heading="fixed", item=None, value=float(fit.fixed), half_width=None)
    load = [fixed] if fit.has_fixed else []
    costs = [
        Coefficient(
            heading=one.heading,
            item=one.item,
            value=float(one.value),
            half_width=None,
            factors=one.factors,
            curve=one.curve,
        )
        for one in fit.terms
    ]
    curves = [
        replace(
            cost,
            heading=f"{one.curve.word} of {one.curve.name}",
            value=float(one.curve.value),
            is_of_curve=True,
        )
        for one, cost in zip(fit.terms, costs, strict=True)
        if one.curve is not None
    ]
    found = [*load, *costs, *curves]
    widths = [0.0 if freedom > 0 else None] * len(found)
    spread = fit_spread(fit) if fit.scale is None else fit.scale
    if spread is not None:
        quantile = student_quantile((1 + _CONFIDENCE) / 2, spread.freedom)
        widths = [quantile * hypot(*weights) for weights in spread.weights]
    for one, width in zip(found, widths, strict=True):
        yield replace(one, half_width=width)
