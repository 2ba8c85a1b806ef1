"""What becomes of a claim: what is claimed, what the model says of it, and how that is known."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.former_names import former
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension


class ComparisonSide(Struct, frozen=True, kw_only=True):
    """One side of a comparison: its value in base units, and its dimension.

    `date` is the date that it stands for, if it does; `is_availability` is whether it is a part of
    the time near 1, of which what is missing counts.
    """

    value: float
    dimension: Dimension = DIMENSIONLESS
    known: Certainty = EXACT
    date: CalendarDate | None = None
    is_availability: bool = False


class ClaimVerdict(Enum):
    """What becomes of a claim: what is known not to hold is `MISSED`, and `STALE` once it does.

    What fails, and may by its project file until a day, is `ACCEPTED`; what a document states and
    nobody claims `UNCLAIMED`.
    """

    HOLDS = "holds"
    FAILS = "fails"
    MISSED = "missed"
    STALE = "stale"
    ACCEPTED = "accepted"
    SHOWN = "shown"
    NOT_SIMULATED = "not simulated"
    UNCLAIMED = "without a claim"


class SimulatedValue(Struct, frozen=True, kw_only=True):
    """Simulated mean of a measure, half its 95 % confidence interval, and whether it passes.

    If the simulation was not precise enough, `why` is the reason, and `holds` is false.
    """

    mean: float
    half_width: float
    holds: bool
    why: str | None = None


class PredictionInterval(Struct, frozen=True, kw_only=True):
    """Prediction interval for an additional run, in base units.

    `side` is the position of the measured value: 0 inside, -1 below, 1 above. `rank` is the
    probability that an additional run has a lower value.
    """

    probability: float
    least: float
    most: float
    rank: float
    side: int


class ClaimResults(Struct, frozen=True):
    """What became of the claims of a spec, and why others have no answer."""

    results: tuple[ClaimResult, ...]
    unanswered: tuple[Diagnostic, ...] = ()


class Coverage(Struct, frozen=True, kw_only=True):
    """How many values of an observation lie within their prediction intervals, and how many beside.

    `without` are those that nothing uncertain moves, which have none. `as_many` is how likely as
    many to either side are outside, and `as_far` how likely one is as far outside, where the spec
    is right and all that it says of what is uncertain; computed from so many `draws`. The values of
    a table to which numbers were fitted (`is_fitted`) are none that these have not seen.
    """

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
    error: float | None = None
    """The error of a surface that estimated most draws, where a value takes long."""

    @property
    def count(self) -> int:
        """How many values have an interval."""
        return self.inside + self.above + self.below

    @property
    def likely_by_chance(self) -> float:
        """How likely both are so odd by chance: twice the lesser, as two tests were made."""
        return min(1.0, 2 * max(min(self.as_many, self.as_far), 1 / max(1, self.draws)))


class ClaimResult(Struct, frozen=True, kw_only=True):
    """A claim in a spec, and its prediction.

    `claimed`, `predicted` and `difference` are in base units. For a condition, they are None, and
    `condition` and `compared` are its text and its two sides. `holds` is None for a measured value
    without a tolerance. `fitted` describes what was calibrated to match the claim, and `missed` is
    the reason for a known miss.
    """

    name: str
    title: str | None = None
    spec: str
    file: str
    line: int
    kind: str
    claimed: float | None = None
    predicted: float | None = None
    dimension: Dimension = DIMENSIONLESS
    tolerance: ir.Tolerance | None = None
    condition: str | None = None
    compared: tuple[ComparisonSide, ...] = ()
    holds: bool | None
    source: str | None
    note: str | None
    fitted: str | None = None
    text: str
    counted: str | None = None
    """Number of configurations of a matrix in which the claim passes."""
    known: Certainty = EXACT
    """Accuracy of the prediction; for a condition, of its sides."""
    missed: str | None = None
    interval: PredictionInterval | None = None
    """Prediction interval of a measured value, if inputs are uncertain."""
    simulated: SimulatedValue | None = None
    """Simulation result of a `simulated` claim, if it was simulated."""
    accepted: str | None = None
    """Date and reason, if the project file accepts the failure."""
    expired: str | None = None
    """Date and reason, if acceptance of the failure has expired."""
    origin: ir.Origin = ir.Origin.MODEL
    is_fitted_to_it: bool = False
    """An input was calibrated to this number, so a pass is not evidence."""

    near = former("near", "simulated")

    @property
    def is_published(self) -> bool:
        """True for a claim from a published source."""
        return self.origin is ir.Origin.PUBLISHED

    @property
    def excepted(self) -> str | None:
        """Entry of the project file that accepts the failure."""
        return self.accepted or self.expired

    @property
    def difference(self) -> float | None:
        """Predicted minus claimed value."""
        if self.claimed is None or self.predicted is None:
            return None
        return self.predicted - self.claimed

    @property
    def relative_difference(self) -> float | None:
        """Difference relative to the claimed value."""
        difference = self.difference
        return difference / abs(self.claimed) if difference is not None and self.claimed else None

    @property
    def verdict(self) -> ClaimVerdict:
        """Verdict of the claim."""
        if self.kind == "unclaimed":
            return ClaimVerdict.UNCLAIMED
        if self.holds is None:
            return ClaimVerdict.NOT_SIMULATED if self.kind == "simulated" else ClaimVerdict.SHOWN
        if self.missed is not None:
            return ClaimVerdict.STALE if self.holds else ClaimVerdict.MISSED
        if not self.holds and self.accepted is not None:
            return ClaimVerdict.ACCEPTED
        return ClaimVerdict.HOLDS if self.holds else ClaimVerdict.FAILS

    @property
    def fails(self) -> bool:
        """True if claim and model disagree."""
        return self.verdict in (ClaimVerdict.FAILS, ClaimVerdict.STALE)


def condition_result(
    name: str,
    expectation: ir.Expectation,
    span: Span,
    compared: tuple[ComparisonSide, ...],
    *,
    passes: bool,
) -> ClaimResult:
    """Return the result of a claimed condition."""
    text = " ".join(span.text.split())
    return ClaimResult(
        name=name,
        title=expectation.title,
        spec=span.source.label,
        file=span.source.label,
        line=span.line,
        kind="condition",
        condition=text,
        compared=compared,
        holds=passes,
        source=expectation.source,
        note=expectation.note,
        text=text,
        known=together(*(side.known for side in compared)),
    )


def unclaimed_result(expectation: ir.Expectation) -> ClaimResult:
    """Return that a document states something of which nothing is claimed."""
    return ClaimResult(
        name=expectation.name,
        title=expectation.title,
        spec=expectation.span.source.label,
        file=expectation.span.source.label,
        line=expectation.span.line,
        kind="unclaimed",
        holds=None,
        source=expectation.source,
        note=expectation.note,
        text=" ".join(expectation.span.text.split()),
        origin=expectation.origin,
    )


def value_result(
    name: str,
    stated: ir.Expectation | ir.Observation,
    span: Span,
    claimed: float,
    predicted: float,
    dimension: Dimension,
    tolerance: ir.Tolerance | None,
    *,
    passes: bool | None,
    place: tuple[str, int] | None = None,
    known: Certainty = EXACT,
    interval: PredictionInterval | None = None,
) -> ClaimResult:
    """Return the result of a claimed value."""
    file, line = place or (span.source.label, span.line)
    expectation = stated if isinstance(stated, ir.Expectation) else None
    return ClaimResult(
        name=name,
        title=expectation.title if expectation else None,
        spec=span.source.label,
        file=file,
        line=line,
        kind="value" if expectation else "observation",
        claimed=claimed,
        predicted=predicted,
        dimension=dimension,
        tolerance=tolerance,
        holds=passes,
        source=stated.source,
        note=stated.note,
        text=" ".join(span.text.split()),
        known=known,
        interval=interval,
    )


def simulated_result(
    name: str,
    expectation: ir.Expectation,
    span: Span,
    predicted: float,
    simulated: SimulatedValue | None,
    *,
    dimension: Dimension,
    tolerance: ir.Tolerance,
    known: Certainty,
) -> ClaimResult:
    """Return the result of a `simulated` claim; `simulated` is None if it was not simulated."""
    return ClaimResult(
        name=name,
        title=expectation.title,
        spec=span.source.label,
        file=span.source.label,
        line=span.line,
        kind="simulated",
        claimed=None if simulated is None else simulated.mean,
        predicted=predicted,
        dimension=dimension,
        tolerance=tolerance,
        holds=None if simulated is None else simulated.holds,
        source=expectation.source,
        note=expectation.note,
        text=" ".join(span.text.split()),
        known=known,
        simulated=simulated,
    )
