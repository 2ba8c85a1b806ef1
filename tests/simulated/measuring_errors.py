"""Errors of approximations that stand together, measured: the table that labels are made of.

Of each quantity a list is made: methods whose numbers are further off, or less, than all that is
left come apart first, those by which most is gained. Each row states what 19 in 20 of such
numbers are within, with a confidence of 75 % (Wilks 1941), for which networks count, not numbers:
those of one network are off together.

What holds of 19 in 20 of all may hold less often of those in which one method has a part: that has
a row of its own before all others. So methods are measured anew, too, where not all of it is
(`renewed`): what holds of their numbers by the present table stays, what does not is replaced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf

import msgspec
from msgspec.structs import replace

from qps.compiler.quantities.measured_errors import (
    ErrorQuantity,
    ErrorRow,
    Errors,
)
from simulated.error_rows import (
    FEWEST,
    FEWEST_APART,
    FEWEST_OF_ALL,
    FEWEST_STATED,
    errors_of,
    hold_too_seldom,
    holds,
    networks_by_method,
    numbers_at_points,
    of_rare_calls,
    own_row,
    row_of,
    rows_at_points,
    with_finer,
    with_own_rows,
)
from simulated.number_errors import Off, by_quantity, networks_of
from simulated.records import Model

_LEAST_OF_TIMES, _LEAST_STATED = 0.1, {ErrorQuantity.RATE: 0.05, ErrorQuantity.LOAD: 0.05}
"""Less is stated of no time, as other networks are drawn than people have."""


def table_of(models: Iterable[Model]) -> dict[ErrorQuantity, Errors]:
    """Return the errors of all quantities, as labels quote them."""
    found = by_quantity(models)
    return {one: errors_of(found[one], _least(one)) for one in ErrorQuantity}


def renewed(
    table: Mapping[ErrorQuantity, Errors], models: Iterable[Model]
) -> dict[ErrorQuantity, Errors]:
    """Return a table in which methods have rows of their own whose numbers hold too seldom.

    Those that were not in it are from now on, where they were simulated in as many networks as a
    row takes; a quantity that was not is measured as a whole.
    """
    found = by_quantity(models)
    return {
        one: _renewed(table[one], found[one], _least(one))
        if one in table
        else errors_of(found[one], _least(one))
        for one in ErrorQuantity
    }


def of_method(
    table: Mapping[ErrorQuantity, Errors], models: Iterable[Model], method: str
) -> dict[ErrorQuantity, Errors]:
    """Return a table with what was measured of one method in networks drawn for it.

    Of each quantity of which its numbers hold too seldom by the table they are measured as a whole.
    Rows that state less are stated of others only, and no row states less than before.
    """
    found, result = by_quantity(models), dict(table)
    for quantity, errors in table.items():
        numbers = [
            one
            for one in found[quantity]
            if method in one.methods and one.methods <= errors.methods and not one.calls_rarely
        ]
        least, at_points = _least(quantity), numbers_at_points(numbers)
        own, own_at_points = own_row(least, numbers), rows_at_points(least, at_points)
        result[quantity] = replace(
            errors,
            rows=tuple(_at_least(errors.rows, numbers, list(own), method)),
            at_points=tuple(_at_least(errors.at_points, at_points, list(own_at_points), method)),
        )
    return result


def _at_least(
    rows: Sequence[ErrorRow], numbers: list[Off], own: Sequence[ErrorRow], method: str
) -> Iterator[ErrorRow]:
    """Yield rows, and before each that states less those of a method, as far off as its own."""
    is_off = numbers and hold_too_seldom([(one, holds(one, rows)) for one in numbers])
    for row in rows:
        larger = [_both(row, one, method) for one in own] if is_off and row.error else []
        if any(one.error != row.error for one in larger):
            yield from larger
        yield row


def _both(row: ErrorRow, own: ErrorRow, method: str) -> ErrorRow:
    """Return the row of numbers for which a row and one of a method both count."""
    known = None if row.error is None or own.error is None else max(row.error, own.error)
    axes = row.at_most.keys() | own.at_most.keys()
    return replace(
        own,
        methods=row.methods | own.methods | {method},
        error=known,
        at_most={
            axis: min(row.at_most.get(axis, inf), own.at_most.get(axis, inf))
            for axis in sorted(axes)
        },
    )


def _renewed(errors: Errors, numbers: list[Off], least: float) -> Errors:
    known = errors.methods | _like_the_others(errors, numbers)
    left = [one for one in numbers if one.methods <= known]
    plain = [one for one in left if not one.calls_rarely]
    rows = list(_measured_again(errors.rows, plain, least))
    at_points = list(_measured_again(errors.at_points, numbers_at_points(plain), least))
    own = with_own_rows(at_points, numbers_at_points(plain), partial(rows_at_points, least))
    return Errors(
        methods=known,
        rows=tuple(with_own_rows(rows, plain, partial(own_row, least))),
        at_points=tuple(with_finer(own, numbers_at_points(plain), least)),
        rare_calls=tuple(_of_rare_calls(errors.rare_calls, left, least)),
    )


def _of_rare_calls(
    rows: Sequence[ErrorRow], numbers: list[Off], least: float
) -> Iterator[ErrorRow]:
    """Yield the rows of streams that call rarely, and those of numbers that none counts for.

    Where numbers hold too seldom, all are measured anew.
    """
    rare = [one for one in numbers if one.calls_rarely]
    if hold_too_seldom([(one, holds(one, rows)) for one in rare]):
        yield from of_rare_calls(rare, least)
        return
    yield from rows
    left = [one for one in rare if not any(row.holds(one.methods, one.point) for row in rows)]
    yield from of_rare_calls(left, least)


def _like_the_others(errors: Errors, numbers: list[Off]) -> set[str]:
    """Return methods that are not in a table, and can be by what was simulated.

    In many networks they have rows of their own where these are needed. In a few, those that a row
    takes, they are where their numbers hold by rows that there are.
    """
    found = set[str]()
    for name, each in networks_by_method(numbers).items():
        if name in errors.methods or len(each) < FEWEST_OF_ALL:
            continue
        of_it = [(one, holds(one, errors.rows)) for one in numbers if name in one.methods]
        of_it += [
            (one, holds(one, errors.at_points))
            for one in numbers_at_points(one for one, _ in of_it)
        ]
        if len(each) >= FEWEST or not hold_too_seldom(of_it):
            found.add(name)
    return found


def _measured_again(
    rows: Sequence[ErrorRow], numbers: list[Off], least: float
) -> Iterator[ErrorRow]:
    """Yield rows, and those that state nothing with the error of the numbers they count for.

    Where there were too few for that and still are, but in as many networks as stand apart, and
    these hold by the rows that follow, they no longer stand apart.
    """
    of_each = defaultdict[int, list[Off]](list)
    for one in numbers:
        at = next((n for n, row in enumerate(rows) if row.holds(one.methods, one.point)), None)
        if at is not None:
            of_each[at].append(one)
    for at, row in enumerate(rows):
        again = row_of(of_each[at], row.methods)
        were_few = row.error is None and row.networks < FEWEST_STATED
        if were_few and again.error is None and _hold_by(rows[at + 1 :], of_each[at]):
            continue
        if row.error is None and again.error is not None:
            again = replace(again, error=max(least, again.error), at_most=row.at_most)
            yield again
        else:
            yield row


def _hold_by(rows: Sequence[ErrorRow], numbers: list[Off]) -> bool:
    """Return whether numbers in enough networks hold by rows that all state an error."""
    found = [next((r for r in rows if r.holds(n.methods, n.point)), None) for n in numbers]
    if len(networks_of(numbers)) < FEWEST_APART or any(r is None or r.error is None for r in found):
        return False
    return not hold_too_seldom([(one, holds(one, rows)) for one in numbers])


def _least(quantity: ErrorQuantity) -> float:
    return _LEAST_STATED.get(quantity, _LEAST_OF_TIMES)


def as_json(table: dict[ErrorQuantity, Errors]) -> bytes:
    """Return the table as the text that labels read: a row a line, methods in order."""
    plain = msgspec.json.encode(table, order="sorted")
    return msgspec.json.format(plain, indent=1) + b"\n"
