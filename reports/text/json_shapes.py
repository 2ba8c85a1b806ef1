"""The shapes of what is printed as JSON of no struct of its own: for their schemas alone.

Tests hold them against what commands print: a key that is not here, or not there, fails.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.claim_formats import Wrong
from qps.solver.claims.claim_results import PredictionInterval
from qps.solver.claims.figure_lines import DrawnCurve, Leads


class PlaceShape(Struct, kw_only=True):
    """A place in a file; lines and columns count from 1."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str


class DiagnosticShape(Struct, kw_only=True):
    """A diagnostic; `details` are the numbers of its message, of some codes."""

    code: str
    name: str
    severity: str
    message: str
    primary: PlaceShape | None
    secondary: list[PlaceShape]
    notes: list[str]
    hints: list[str]
    details: dict[str, str | float]

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["details"])


class DiagnosticsShape(Struct, kw_only=True):
    """What `qps check --format json` prints."""

    schema: str
    diagnostics: list[DiagnosticShape]


class PublishedShape(Struct, kw_only=True):
    """Published claims that hold, with nothing fitted and with something fitted."""

    unfitted: int
    fitted: int


class ClaimShape(Struct, kw_only=True):
    """A claim, or a measured value: claimed, predicted, and what became of it."""

    name: str
    title: str | None
    kind: str
    file: str
    line: int
    claimed: float | str | None
    predicted: float | list[float] | None
    difference: float | None
    relative_difference: float | None
    unit: str
    within: str | None
    holds: bool | None
    verdict: str
    published: bool
    source: str | None
    note: str | None
    fitted: str | None
    missed: str | None
    excepted: str | None
    counted: str | None
    interval: PredictionInterval | None
    half_width: float | None
    not_told: str | None
    known: Certainty
    sides_known: list[Certainty]


class CoverageShape(Struct, kw_only=True):
    """How many measured values lie within their prediction intervals, and how likely that is."""

    observation: str
    file: str
    probability: float
    inside: int
    above: int
    below: int
    without: int
    as_many: float
    as_far: float
    draws: int
    is_fitted: bool
    error: float | None
    chance: float | None


class TestShape(Struct, kw_only=True):
    """What `qps test --format json` prints."""

    schema: str
    passed: int
    failed: int
    shown: int
    missed: int
    accepted: int
    not_simulated: int
    published: PublishedShape
    of_the_model: int
    unread: int
    unanswered: int
    summary: str
    expectations: list[ClaimShape]
    coverage: list[CoverageShape]
    wrong: list[Wrong]


class MatrixCountsShape(Struct, kw_only=True):
    """How many rows there are, how many carry nobody, and how many are faults of qps."""

    rows: int
    carry_nobody: int
    faults: int
    one_by_one: int

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["one_by_one"])


class MatrixShape(Struct, kw_only=True):
    """What `qps matrix -o FILE.json` writes: a value for each column in each of the rows."""

    schema: str
    file: str
    model: str
    matrix: str
    units: dict[str, str]
    axes: list[str]
    shares: list[str]
    known: dict[str, object]
    asked: object
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
    """What was measured at a setting."""

    setting: object
    repetitions: int
    loads: dict[str, float]
    rates: dict[str, float]
    asked: object
    each: object
    spread: object
    generator: object
    others: object
    stolen: object


class MeasuredDoubtShape(Struct, kw_only=True):
    """A row not to trust, and why."""

    kind: str
    settings: list[object]
    text: str


class MeasuredFailureShape(Struct, kw_only=True):
    """A run that came to nothing, and why."""

    setting: object
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
    accounts: object


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
