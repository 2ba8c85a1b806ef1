"""The shapes of what is printed as JSON of no struct of its own: for their schemas alone.

Tests hold them against what commands print: a key that is not here, or not there, fails.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty
from qps.solver.claims.figure_lines import DrawnCurve, Leads


class MatrixCountsShape(Struct, kw_only=True):
    """How many rows there are, how many carry nobody, and how many are faults of qps."""

    rows: int
    infeasible: int
    faults: int
    solved_individually: int

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["solved_individually"])


class MatrixAskedShape(Struct, kw_only=True):
    """What a matrix is asked, in the spec's own words; `at` is null for the largest acceptable."""

    file: str
    model: str
    matrix: str
    title: str
    population: str
    at: int | None
    configurations: int
    parts: list[tuple[str, str]]
    order: list[tuple[str, bool]]


class MatrixShape(Struct, kw_only=True):
    """What `qps matrix -o FILE.json` writes: a value for each column in each of the rows."""

    schema: str
    file: str
    model: str
    matrix: str
    units: dict[str, str]
    axes: list[str]
    shares: list[str]
    known: dict[str, Certainty]
    asked: MatrixAskedShape
    rows: list[dict[str, float | str | None]]
    counts: MatrixCountsShape


class StepCostShape(Struct, kw_only=True):
    """A cost of a step, in seconds of a processor."""

    per: str
    value: float
    half_width: float | None


class StepRunShape(Struct, kw_only=True):
    """A run of a step."""

    items: float
    bytes: float
    seconds: float


class MeasuredStepShape(Struct, kw_only=True):
    """What `qps measure step --format json` prints."""

    schema: str
    item: str
    costs: list[StepCostShape]
    runs: list[StepRunShape]
    missed: float | None
    component: str | None


class ExampleShape(Struct, kw_only=True):
    """An example of a code: its files, and what it prints, or how it is mended."""

    command: str
    files: dict[str, str]


class FailingShape(ExampleShape, kw_only=True):
    """An example that fails."""

    printed: str


class MendedShape(ExampleShape, kw_only=True):
    """The same example, mended."""

    change: str


class CodeShape(Struct, kw_only=True):
    """What `qps explain CODE --format json` prints."""

    schema: str
    code: str
    name: str
    severity: str
    summary: str
    why: list[str]
    fails: FailingShape
    mend: list[str]
    mended: MendedShape


class MeasuredRowShape(Struct, kw_only=True):
    """What was measured at a setting: its text by axis; `each` is null where nothing was done."""

    setting: dict[str, str]
    repetitions: int
    loads: dict[str, float]
    rates: dict[str, float]
    asked: dict[str, float]
    each: float | None
    spread: float
    generator: float
    others: float
    stolen: float


class MeasuredDoubtShape(Struct, kw_only=True):
    """A row not to trust, and why."""

    kind: str
    settings: list[dict[str, str]]
    text: str


class MeasuredFailureShape(Struct, kw_only=True):
    """A run that came to nothing, and why."""

    setting: dict[str, str]
    repetition: int
    reason: str


class MeasuredShape(Struct, kw_only=True):
    """What `qps measure --format json` prints."""

    schema: str
    table: str
    runs: str
    cores: float
    measured: int
    asked: int
    stopped: str | None
    rows: list[MeasuredRowShape]
    warnings: list[MeasuredDoubtShape]
    failures: list[MeasuredFailureShape]
    accounts: dict[str, str]


class FigureShape(Struct, kw_only=True):
    """What `qps explain FILE FIGURE --format json` prints; a line has a value for each place."""

    schema: str
    name: str
    title: str
    axis: str
    axis_unit: str
    unit: str
    at: list[float]
    lines: list[DrawnCurve]
    leads: list[Leads]
    source: str | None
    note: str | None
