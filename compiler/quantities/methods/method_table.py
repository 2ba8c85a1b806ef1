"""The table of methods, of all families, and how a number is known by a row of it."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities.certainty import Certainty, CertaintyKind, Reason
from qps.compiler.quantities.methods.closed_methods import OF_CLOSED
from qps.compiler.quantities.methods.discipline_methods import OF_DISCIPLINES
from qps.compiler.quantities.methods.fan_out_methods import OF_FAN_OUTS
from qps.compiler.quantities.methods.feedback_methods import OF_FEEDBACK
from qps.compiler.quantities.methods.method_row import Method, Rows
from qps.compiler.quantities.methods.open_pool_methods import OF_POOLS
from qps.compiler.quantities.methods.response_methods import OF_RESPONSES
from qps.compiler.quantities.methods.search_methods import OF_ANSWERS
from qps.compiler.quantities.methods.station_methods import OF_STATIONS
from qps.compiler.quantities.methods.theorems import THEOREMS
from qps.compiler.quantities.scales import percent

Names: TypeAlias = str | Sequence[str]

METHODS: Rows = MappingProxyType(
    {
        **THEOREMS,
        **OF_STATIONS,
        **OF_FEEDBACK,
        **OF_DISCIPLINES,
        **OF_CLOSED,
        **OF_POOLS,
        **OF_RESPONSES,
        **OF_FAN_OUTS,
        **OF_ANSWERS,
    }
)
"""Each method by its id."""


class UnknownMethodError(LookupError):
    """Raised where a method is named that has no row: a fault of ours."""


def reason_of(
    method: str,
    at: Names = (),
    *,
    case: str = "",
    apart: float | None = None,
    **arguments: Names | float,
) -> Reason:
    """Return why a number is no better known, by a method that is used at some places."""
    row = _row(method)
    own = {} if row.error is None else {"error": row.error}
    arguments = {**own, **row.steps_at(apart), **arguments}
    whole = f"{row.reason}: {row.notes[case]}" if case in row.notes else row.reason
    places = (at,) if isinstance(at, str) else tuple(at)
    filled = {name: _Argument(value) for name, value in arguments.items()}
    return Reason(method=method, text=whole.format(at=_Argument(places), **filled), at=places)


def _row(method: str) -> Method:
    row = METHODS.get(method)
    if row is None:
        raise UnknownMethodError(method)
    return row


def known_by(
    method: str,
    at: Names = (),
    *,
    case: str = "",
    error: float | None = None,
    apart: float | None = None,
    is_measured: bool = True,
    is_proven: bool = True,
    **arguments: Names | float,
) -> Certainty:
    """Return how a number is known by a method that is used at some places.

    A `case` of the method has a note, and maybe an error, of its own; so has what services are
    `apart`. Of what no comparison `is_measured` no error is stated. A bound whose premises are not
    proven is an approximation.
    """
    row = _row(method)
    stated = row.error_of(case, apart) if error is None else error
    known = stated if is_measured else None
    because = reason_of(method, at, case=case, apart=apart, error=known or 0.0, **arguments)
    if row.kind is CertaintyKind.EXACT:
        return Certainty(theorems=(because,))
    is_bound = row.kind in (CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND)
    return Certainty(
        kind=CertaintyKind.APPROXIMATION if is_bound and not is_proven else row.kind,
        because=(because,),
        error=None if is_bound else known,
    )


class _Argument(Struct, frozen=True):
    """An argument of a reason: names in words, joined by `and` or another word, or a number.

    `%` makes it a percentage, `#thing` a count of things; `plain` stays as it is.
    """

    value: Names | float

    def __format__(self, how: str) -> str:
        if isinstance(self.value, int | float):
            if how.startswith("#"):
                return f"{self.value:g} {how[1:]}{'s' * (self.value != 1)}"
            return percent(self.value, 2) if how == "%" else format(self.value, how)
        names = [self.value] if isinstance(self.value, str) else list(self.value)
        if how == "plain":
            return ", ".join(names)
        return listed(names, how or "and")
