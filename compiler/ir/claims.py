"""What is claimed of a model, and what was measured."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Change, Condition
from qps.compiler.ir.parameters import Quantity

if TYPE_CHECKING:
    from qps.compiler.ir.matrices import MatrixClaim


class Origin(Enum):
    """Whose a claim is: a document's of a system, of its own numbers alone, or the model's."""

    PUBLISHED = "published"
    ARITHMETIC = "arithmetic"
    MODEL = "model"


class Tolerance(Struct, frozen=True):
    """How far a prediction may be off: a share of the claimed value, or an amount."""

    amount: Fraction
    relative: bool


class Simulated(Struct, frozen=True):
    """Measures with a tolerance for simulated values, and that tolerance."""

    measures: tuple[Quantity, ...]
    tolerance: Tolerance


class Claim(Struct, frozen=True, kw_only=True):
    """A claimed value, or a claimed condition (then `claimed` is None).

    A measure that is only to be near what is `simulated` is a value that nothing is claimed of.

    `is_query` is false for arithmetic, which names no measure and no function of a model.
    """

    value: Quantity | Condition
    claimed: Quantity | None = None
    tolerance: Tolerance | None = None
    simulated: Simulated | None = None
    changes: tuple[Change, ...]
    span: Span
    is_query: bool = True


class Expectation(Struct, frozen=True, kw_only=True):
    """Claims with their source, and whose they are.

    `missed` says why they are known not to hold. Where nothing is claimed, a document states what
    nobody claims here.
    """

    name: str
    title: str | None
    claims: tuple[Claim, ...]
    source: str | None
    note: str | None
    fitted: str | None
    span: Span
    matrix_claims: tuple[MatrixClaim, ...] = ()
    origin: Origin = Origin.PUBLISHED
    missed: str | None = None


class MeasuredColumn(Struct, frozen=True, kw_only=True):
    """A column of measured values; without a tolerance they are shown, not judged.

    `is_query` is false for arithmetic with what other columns set.
    """

    heading: str
    value: Quantity
    tolerance: Tolerance | None
    span: Span
    is_query: bool = True


class ObservedRow(Struct, frozen=True):
    """A measured run: the line it stands on, what it sets, and what was measured.

    `values` has an entry for each measured column, None where the cell is empty.
    """

    line: int
    changes: tuple[Change, ...]
    values: tuple[Fraction | None, ...]


class Observation(Struct, frozen=True, kw_only=True):
    """A table of runs, and whose it is; `cores` is of how many its loads are, where it says so."""

    name: str
    file: str
    measured: tuple[MeasuredColumn, ...]
    rows: tuple[ObservedRow, ...]
    source: str | None
    note: str | None
    fitted: str | None
    span: Span
    origin: Origin = Origin.PUBLISHED
    missed: str | None = None
    cores: Fraction | None = None
