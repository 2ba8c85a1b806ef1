"""The shapes of what is printed as JSON of no struct of its own: for their schemas alone.

Tests hold them against what commands print: a key that is not here, or not there, fails.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty
from qps.solver.claims.figure_lines import DrawnCurve, Leads


class MatrixCountsShape(Struct, kw_only=True):
    """Number of rows by outcome: total, without capacity, and internal errors."""

    rows: int
    infeasible: int
    faults: int
    solved_individually: int

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["solved_individually"])


class MatrixRequestShape(Struct, kw_only=True):
    """The question of a matrix, as written in the spec; `at` is null for the capacity."""

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
    """Output of `qps matrix -o FILE.json`: one row per configuration."""

    schema: str
    file: str
    model: str
    matrix: str
    units: dict[str, str]
    axes: list[str]
    shares: list[str]
    known: dict[str, Certainty]
    request: MatrixRequestShape
    rows: list[dict[str, float | str | None]]
    counts: MatrixCountsShape


class StepCostShape(Struct, kw_only=True):
    """Service demand of a step, in CPU seconds."""

    per: str
    value: float
    half_width: float | None


class StepRunShape(Struct, kw_only=True):
    """One run of a step."""

    items: float
    bytes: float
    seconds: float


class MeasuredStepShape(Struct, kw_only=True):
    """Output of `qps measure step --format json`."""

    schema: str
    item: str
    costs: list[StepCostShape]
    runs: list[StepRunShape]
    missed: float | None
    component: str | None


class ExampleShape(Struct, kw_only=True):
    """An example of a code: its files, and what it prints, or how it is fixed."""

    command: str
    files: dict[str, str]


class FailingExampleShape(ExampleShape, kw_only=True):
    """The example with the error."""

    printed: str


class FixedExampleShape(ExampleShape, kw_only=True):
    """The example without the error."""

    change: str


class CodeShape(Struct, kw_only=True):
    """Output of `qps explain CODE --format json`."""

    schema: str
    code: str
    name: str
    severity: str
    summary: str
    why: list[str]
    failing_example: FailingExampleShape
    fix: list[str]
    fixed_example: FixedExampleShape


class MeasuredRowShape(Struct, kw_only=True):
    """Results at one setting of the axes; `each` is null if no items were counted."""

    setting: dict[str, str]
    repetitions: int
    loads: dict[str, float]
    rates: dict[str, float]
    requested_rates: dict[str, float]
    each: float | None
    spread: float
    generator: float
    others: float
    stolen: float


class MeasuredDoubtShape(Struct, kw_only=True):
    """A warning about measured rows that may be unreliable."""

    kind: str
    settings: list[dict[str, str]]
    text: str


class MeasuredFailureShape(Struct, kw_only=True):
    """A failed run, and the reason."""

    setting: dict[str, str]
    repetition: int
    reason: str


class MeasuredShape(Struct, kw_only=True):
    """Output of `qps measure --format json`."""

    schema: str
    table: str
    runs: str
    cores: float
    measured_runs: int
    planned_runs: int
    stopped: str | None
    rows: list[MeasuredRowShape]
    warnings: list[MeasuredDoubtShape]
    failures: list[MeasuredFailureShape]
    accounts: dict[str, str]


class FigureShape(Struct, kw_only=True):
    """Output of `qps explain FILE FIGURE --format json`; one value per point of the axis."""

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
