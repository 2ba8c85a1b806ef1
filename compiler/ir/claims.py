"""What is claimed of a model, and what was measured."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Change, Condition
from qps.compiler.ir.parameters import Quantity

if TYPE_CHECKING:
    from qps.compiler.ir.matrices import MatrixClaim


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a prediction may be off: a share of the claimed value, or an amount."""

    amount: Fraction
    relative: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claimed value, or a claimed condition (then `claimed` is None).

    `asks` is false for arithmetic: what names no measure and no function claims nothing of a model.
    """

    value: Quantity | Condition
    claimed: Quantity | None
    tolerance: Tolerance | None
    changes: tuple[Change, ...]
    span: Span
    asks: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """Claims with their source: a document, or the model itself where they are `is_our_own`.

    `missed` says why they are known not to hold.
    """

    name: str
    title: str | None
    claims: tuple[Claim, ...]
    source: str | None
    note: str | None
    fitted: str | None
    span: Span
    matrix_claims: tuple[MatrixClaim, ...] = ()
    is_our_own: bool = False
    missed: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredColumn:
    """A column of measured values; without a tolerance they are shown, not judged.

    `asks` is false for arithmetic with what other columns set.
    """

    heading: str
    value: Quantity
    tolerance: Tolerance | None
    span: Span
    asks: bool = True


@dataclass(frozen=True, slots=True)
class ObservedRow:
    """A measured run: the line it stands on, what it sets, and what was measured.

    `values` has an entry for each measured column, None where the cell is empty.
    """

    line: int
    changes: tuple[Change, ...]
    values: tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A table of runs, of a document or of our own where it is `is_our_own`."""

    name: str
    file: str
    measured: tuple[MeasuredColumn, ...]
    rows: tuple[ObservedRow, ...]
    source: str | None
    note: str | None
    fitted: str | None
    span: Span
    is_our_own: bool = False
    missed: str | None = None
