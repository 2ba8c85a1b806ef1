"""Columns of a matrix result as a page holds them: distinct values once, rows as their numbers.

Scripts need no values to sort and to filter: they are in order, so their numbers will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.ir.matrices import ANSWER
from qps.reports.pages.json_values import Json
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import amount_in, is_share, scales_of_unit, with_unit
from qps.solver.matrix.row_tables import LOAD, SATURATION

DIGITS = 6
"""Of numbers that are answers, in a page; axes and whole numbers are exact."""

_LETTERS = np.frombuffer(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", dtype=np.uint8
)

_LABELS = {
    "saturates_at": phrase("matrix.saturation_of_bottleneck"),
    "saturates_not_below": phrase("matrix.unresolved_saturation"),
    "saturated_from_start": phrase("matrix.saturated_from_start"),
    "stays_full": phrase("matrix.stays_full"),
    "quality_at": "quality",
    "at": phrase("matrix.evaluated_at"),
    "samples_left_out": phrase("matrix.samples_excluded"),
    "reason": phrase("matrix.why_infeasible"),
}


class ResultColumn(Struct, frozen=True, kw_only=True, dict=True):
    """A column: what it is called, in which unit it is reported, and its distinct values in order.

    `codes` are the numbers of the values in `values`, by row, from 1 on; 0 for no value.
    `factor` is how much the unit is in base units. `known` is how the values are known, empty for
    exactly, and `because` why no better.
    """

    name: str
    unit: str = ""
    factor: float = 1.0
    base: str = ""
    is_axis: bool
    is_word: bool = False
    is_whole: bool = False
    values: tuple[Any, ...]
    codes: Any
    known: str = ""
    because: str = ""

    @cached_property
    def label(self) -> str:
        """What stands above it."""
        if self.is_axis:
            return printable(self.name)
        if self.name.startswith(ANSWER):
            return f"{ANSWER} {_label(self.answer)}"
        return _label(self.name)

    @property
    def answer(self) -> str:
        """Which answer it holds, if any: its name, without what sets that apart from an axis."""
        return "" if self.is_axis else self.name.removeprefix(ANSWER)

    @property
    def is_detail(self) -> bool:
        """Whether it is one of those that stand in no table at first: there are many."""
        is_of_resource = self.answer.startswith((SATURATION, LOAD))
        return is_of_resource or not self.values or self.answer == "at"

    def text(self, value: Any) -> str:
        """Return a value in the unit of the column."""
        if value is None:
            return "–"
        if self.is_word:
            return printable(value)
        return f"{value:,}" if self.is_whole else amount_in(value / self.factor, self.unit)

    def quantity(self, value: Any) -> str:
        """Return a value with its unit."""
        return with_unit(self.text(value), self.unit)

    def at(self, row: int) -> Any:
        """Return the value in a row, None for none."""
        code = int(self.codes[row])
        return self.values[code - 1] if code else None

    def as_json(self) -> dict[str, Json]:
        """Return the column for the page."""
        width = 1
        while len(_LETTERS) ** width <= len(self.values):
            width += 1
        return {
            "name": printable(self.name),
            "label": self.label,
            "kind": "word" if self.is_word else "whole" if self.is_whole else "number",
            "unit": self.unit,
            "factor": self.factor,
            "base": self.base,
            "scales": [[factor, unit] for factor, unit in self._scales()],
            "axis": self.is_axis,
            "detail": self.is_detail,
            "values": [printable(v) if self.is_word else _plain(v) for v in self.values],
            "width": width,
            "rows": _letters(self.codes, width) if self.values else "",
        }

    def _scales(self) -> Sequence[tuple[float, str]]:
        """Return the units that a reader may write a limit in."""
        if self.unit == "%":
            return [(0.01, "%")]
        return scales_of_unit(self.base) if self.base else []


def _label(name: str) -> str:
    """Return what stands above an answer, or a column of the spec's own."""
    answer, dot, quantile = name.partition(".")
    if answer in _LABELS:
        return f"{_LABELS[answer]}{dot}{quantile}"
    for prefix, key in ((SATURATION, "matrix.saturates_at"), (LOAD, "matrix.utilization_of")):
        if name.startswith(prefix):
            return phrase(key, name=printable(name.removeprefix(prefix)))
    return printable(name).replace("_", " ")


def _plain(value: float) -> Json:
    whole = int(value)
    return whole if whole == value else value


def _letters(codes: Any, width: int) -> str:
    """Return numbers in a fixed count of letters each, 64 to the letter."""
    digits = [codes // len(_LETTERS) ** place % len(_LETTERS) for place in reversed(range(width))]
    text: str = _LETTERS[np.stack(digits, axis=1)].tobytes().decode()
    return text


def columns_of_table(table: pa.Table) -> tuple[ResultColumn, ...]:
    """Return the columns of a table; its schema says what they are."""
    return tuple(
        _column(field, table.column(field.name).combine_chunks()) for field in table.schema
    )


def _column(field: pa.Field, array: Any) -> ResultColumn:
    metadata = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
    is_axis, base = metadata.get("role") == "axis", metadata.get("unit", "")
    if field.type == pa.string():
        words, codes = _words(array)
        return ResultColumn(
            name=field.name, is_axis=is_axis, is_word=True, values=words, codes=codes
        )
    is_whole = field.type == pa.int64()
    values, codes = _numbers(array, is_exact=is_axis or is_whole)
    is_percent = metadata.get("told") == "share" if is_axis else _is_percent(field.name)
    factor, unit = (0.01, "%") if is_percent and not base else _unit(values, base, is_axis=is_axis)
    return ResultColumn(
        name=field.name,
        unit=unit,
        factor=factor,
        base=printable(base),
        is_axis=is_axis,
        is_whole=is_whole,
        values=tuple(map(int, values)) if is_whole else values,
        codes=codes,
        known=metadata.get("known", ""),
        because=metadata.get("because", ""),
    )


def _is_percent(name: str) -> bool:
    name = name.removeprefix(ANSWER)
    return is_share(name) or name.startswith(LOAD)


def _unit(values: Sequence[float], base: str, *, is_axis: bool) -> tuple[float, str]:
    """Return the unit that suits the value in the middle; that of an axis suits its least value."""
    if not base:
        return 1.0, ""
    scales = scales_of_unit(printable(base))
    sizes = sorted(abs(value) for value in values if value)
    typical = 1.0
    if sizes:
        typical = sizes[0 if is_axis else len(sizes) // 2]
    fitting = [scale for scale in scales if typical >= scale[0] * (1 - 1e-12)]
    return (fitting or scales[-1:])[0]


def _words(array: Any) -> tuple[tuple[str, ...], Any]:
    packed = array.dictionary_encode()
    known = packed.dictionary.to_pylist()
    order = sorted(range(len(known)), key=lambda index: known[index])
    place = np.zeros(len(known) + 1, dtype=np.int64)  # the last one is that of no value
    place[order] = np.arange(1, len(known) + 1)
    codes = place[packed.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return tuple(known[index] for index in order), codes


def _numbers(array: Any, *, is_exact: bool) -> tuple[tuple[float, ...], Any]:
    """Return distinct finite numbers in order, and which of them each row has."""
    held = array.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy(zero_copy_only=False)
    is_known = np.isfinite(held)
    distinct, codes = np.unique(held[is_known], return_inverse=True)
    if not is_exact:
        rounded = np.array([float(f"{value:.{DIGITS}g}") for value in distinct])
        distinct, joined = np.unique(rounded, return_inverse=True)
        codes = joined[codes] if len(codes) else codes
    found = np.zeros(len(held), dtype=np.int64)
    found[is_known] = codes + 1
    return tuple(distinct.tolist()), found
