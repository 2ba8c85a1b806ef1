"""Results of queries to a Prometheus that were saved: `query_range`, `query` and `promtool`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import msgspec
from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError

NAME = "__name__"
HINT = (
    "save it with `curl -G URL/api/v1/query_range`, or `promtool query range -o json`; or read "
    "counters directly with `qps observe prometheus URL`"
)
_MATRIX, _VECTOR = "matrix", "vector"


class SavedSeries(Struct, kw_only=True):
    """The labels of a series, and its values by time; of an instant query, one."""

    metric: dict[str, str]
    values: list[tuple[float, str]] = []
    value: tuple[float, str] | None = None
    file: str = ""

    @property
    def is_instant(self) -> bool:
        """Whether it is of an instant query."""
        return self.value is not None

    @property
    def numbers(self) -> list[tuple[float, float]]:
        """Its values, without those that are no numbers, such as a ratio without requests."""
        points = [self.value] if self.value is not None else self.values
        found = ((time, _number(text, self.file)) for time, text in points)
        return [(time, value) for time, value in found if value is not None]


class _Data(Struct, kw_only=True):
    kind: str = msgspec.field(name="resultType")
    result: list[msgspec.Raw]


class _Answer(Struct, kw_only=True):
    status: str
    data: _Data | None = None
    error: str = ""


def saved_series(
    text: str, file: str, most: int, *, takes_instant: bool = False
) -> Sequence[SavedSeries]:
    """Return the series of a result; DataError where it is none, or has more than `most`."""
    name = shortened(file)
    try:
        if text.lstrip().startswith("["):
            found = msgspec.json.decode(text, type=list[SavedSeries])
        else:
            kinds = (_MATRIX, _VECTOR) if takes_instant else (_MATRIX,)
            found = _of_answer(msgspec.json.decode(text, type=_Answer), name, kinds)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DataError(
            f"`{name}` is not a result of a range query: {shortened(str(error))}", HINT
        ) from error
    if len(found) > most:
        raise DataError(
            f"`{name}` has {len(found):,} series, more than {most:,}",
            "add them up in the query, such as `sum by (pod) (…)`",
        )
    for one in found:
        one.file = file
    return found


def _of_answer(answer: _Answer, name: str, kinds: Sequence[str]) -> list[SavedSeries]:
    if answer.data is None or answer.status != "success":
        raise DataError(
            f"`{name}` is an error of Prometheus: {shortened(answer.error)}", "correct the query"
        )
    if answer.data.kind not in kinds:
        raise DataError(
            f"`{name}` has results of type `{shortened(answer.data.kind)}`, which have no range of "
            "times",
            HINT,
        )
    return [msgspec.json.decode(one, type=SavedSeries) for one in answer.data.result]


def _number(text: str, file: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        raise DataError(
            f"`{shortened(file)}`: `{shortened(text)}` is not a value of Prometheus", HINT
        ) from None
    return value if isfinite(value) else None
