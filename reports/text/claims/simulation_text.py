"""What was simulated beside what was predicted: as text, as Markdown and as plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

from msgspec import Struct

from qps.compiler.ir.measure_names import current_name
from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.quantities.dimension import TIME
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.estimates import estimate, limit_of
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    first_words,
    in_percent,
    joined_words,
    number,
    percent,
    quantity,
)
from qps.simulation.agreement import NumberComparison, PredictionVerdict
from qps.simulation.replications import Effort, Simulation

_MOST_LOADS = 12
"""Resources with a line of their own, those of the highest utilization."""


class SimulatedView(Struct, frozen=True, kw_only=True):
    """A predicted and a simulated value, in base units."""

    subject: str
    measure: str
    unit: str
    predicted: float
    known: str
    reasons: tuple[str, ...]
    simulated: float
    half_width: float
    agrees: str
    limit: float | None = None
    met_as_predicted: bool | None = None
    met_as_simulated: bool | None = None


class SimulationView(Struct, frozen=True, kw_only=True):
    """Simulation results, and the settings of the simulation."""

    schema: str
    file: str
    population: str
    at: int
    seed: int
    runs: int
    length: float
    warm_up: float
    items: dict[str, int]
    precision: float
    is_precise: bool
    agrees: bool
    remarks: tuple[str, ...]
    results: tuple[SimulatedView, ...]


def simulation_view(
    file: str,
    population: str,
    simulation: Simulation,
    found: Sequence[NumberComparison],
    effort: Effort,
) -> SimulationView:
    """Return what was simulated as plain values."""
    return SimulationView(
        schema="qps/simulation/2",
        file=file,
        population=population,
        at=simulation.network.population,
        seed=effort.seed,
        runs=simulation.runs,
        length=simulation.length,
        warm_up=simulation.cut * simulation.length,
        items={name: statistics.items for name, statistics in simulation.streams.items()},
        precision=effort.precision,
        is_precise=simulation.is_precise,
        agrees=all(one.is_right for one in found),
        remarks=simulation.network.remarks,
        results=tuple(_view(one) for one in found),
    )


def _view(one: NumberComparison) -> SimulatedView:
    return SimulatedView(
        subject=one.subject,
        measure=current_name(one.measure),
        unit=str(one.dimension),
        predicted=one.predicted,
        known=one.known.kind.value,
        reasons=one.known.reasons,
        simulated=one.simulated.mean,
        half_width=one.simulated.half_width(),
        agrees=one.verdict.value,
        limit=one.limit,
        met_as_predicted=one.is_met(one.predicted),
        met_as_simulated=one.is_met(one.simulated.mean),
    )


def simulated_tables(
    found: Sequence[NumberComparison], labels: Labels = PLAIN, *, has_converged: bool = True
) -> tuple[Table, ...]:
    """Return the tables of what was predicted and simulated, of those that have rows.

    Nothing is compared where no steady state was reached.
    """
    folded = {id(one) for one in _folded(found)}
    measures = [one for one in found if one.criterion is None and id(one) not in folded]
    required = [one for one in found if one.criterion is not None]
    agreeing = agreement if has_converged else _not_compared
    tables = simulated_table(measures, labels, agreeing), required_table(required, labels)
    return tuple(table for table in tables if table.rows)


def _folded(found: Sequence[NumberComparison]) -> list[NumberComparison]:
    """Return the utilizations without a line: where there are many, the lower ones that agree."""
    loads = [one for one in found if one.measure == "load"]
    if len(loads) <= _MOST_LOADS:
        return []
    busiest = sorted(loads, key=lambda one: -one.simulated.mean)[:_MOST_LOADS]
    shown = {id(one) for one in busiest}
    return [
        one for one in loads if one.verdict is PredictionVerdict.AGREES and id(one) not in shown
    ]


def simulation_text(
    title: str,
    place: str,
    simulation: Simulation,
    found: Sequence[NumberComparison],
    effort: Effort,
    *,
    labels: Labels = PLAIN,
    markdown: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return whether predictions and simulation agree, both in tables, and how it was simulated."""
    layout = TextLayout(
        title=title,
        place=place,
        facts=(("Result", simulation_result(simulation, found, effort, labels)),),
        tables=simulated_tables(found, labels, has_converged=simulation.has_converged),
        notes=tuple(simulation_notes(simulation, found, effort)),
    )
    return layout.printed(markdown=markdown, width=width)


def simulated_table(
    found: Sequence[NumberComparison], labels: Labels, agreeing: Callable[[NumberComparison], str]
) -> Table:
    """Return what was predicted and what was simulated, and whether they agree."""
    rows = tuple(
        (_name(one, labels), _predicted(one), _simulated(one), agreeing(one)) for one in found
    )
    headings = ("Measure", "Predicted", "Simulated, 95 % CI", "Agreement")
    return Table(headings, rows, frozenset([1, 2]), long=frozenset([0, 3]))


def required_table(found: Sequence[NumberComparison], labels: Labels) -> Table:
    """Return the requirements: their limits, both values of each, and whether it passes."""
    rows = tuple(
        (
            _name(one, labels),
            "" if one.criterion is None or one.limit is None
            else limit_of(one.criterion, one.limit, share=_is_share(one)),
            _predicted(one),
            _simulated(one),
            _verdict(one),
        )
        for one in found
    )  # fmt: skip
    headings = ("Requirement", "Limit", "Predicted", "Simulated, 95 % CI", "Outcome")
    return Table(headings, rows, frozenset([2, 3]), long=frozenset([0, 1, 4]))


def agreement(one: NumberComparison) -> str:
    """Return whether a prediction agrees with the simulation, and by what right."""
    if one.verdict is PredictionVerdict.UNKNOWN:
        return phrase("simulation.too_few")
    if one.verdict is PredictionVerdict.UNSTATED:
        return phrase("simulation.differs")
    if one.verdict is not PredictionVerdict.AGREES:
        return one.verdict.value
    if one.known.kind in (CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND):
        return phrase("simulation.within_bound")
    if one.known.kind is CertaintyKind.APPROXIMATION and one.known.error is not None:
        return f"within ±{percent(one.known.error)}"
    return PredictionVerdict.AGREES.value


def _not_compared(_: NumberComparison) -> str:
    """Return what stands beside each measure where no steady state was reached."""
    return phrase("term.not_compared")


def _verdict(one: NumberComparison) -> str:
    """Return whether a requirement passes, by the prediction and by the simulation.

    Where they differ, and the limit lies within the interval of the simulation, that is undecided.
    """
    mean, half = one.simulated.mean, one.simulated.half_width()
    predicted, simulated = one.is_met(one.predicted), one.is_met(mean)
    if predicted is simulated:
        return _PASSES[simulated]
    if not isfinite(half) or one.is_met(mean - half) is not one.is_met(mean + half):
        return _UNDECIDED
    return phrase(
        "simulation.predicted_simulated", predicted=_PASSES[predicted], simulated=_PASSES[simulated]
    )


_PASSES = {True: "pass", False: "FAIL", None: "FAIL"}
_UNDECIDED = "undecided"


def _why_undecided(one: NumberComparison) -> str:
    """Return that the limit lies within the interval of the simulation."""
    mean, half, share = one.simulated.mean, one.simulated.half_width(), _is_share(one)
    assert one.limit is not None
    limit = quantity(one.limit, one.dimension, share=share)
    if not isfinite(half):
        return phrase("simulation.no_interval", limit=limit)
    low, high = (quantity(end, one.dimension, share=share) for end in (mean - half, mean + half))
    return phrase("simulation.limit_inside", limit=limit, low=low, high=high)


def _name(one: NumberComparison, labels: Labels) -> str:
    """Return what a measure is called; of a latency, that it is the mean."""
    if one.criterion is not None:
        return labels.of(one.measure)
    if labels.is_plain:
        return f"{one.subject}.{current_name(one.measure)}"
    if one.measure == "load":
        return labels.of(one.subject)
    if one.measure.startswith("p"):
        return labels.of(f"quantile({one.subject}.latency, {one.measure[1:]} %)")
    if one.measure == "rate":
        return phrase("simulation.throughput", stream=labels.of(one.subject))
    name = labels.of(f"{one.subject}.{one.measure}")
    return f"{name}, mean" if one.measure == "latency" else name


def _predicted(one: NumberComparison) -> str:
    value = quantity(one.predicted, one.dimension, share=_is_share(one))
    return marked_value(value, one.predicted, one.known)


def _is_share(one: NumberComparison) -> bool:
    return one.is_share or (one.criterion is not None and in_percent(one.criterion))


def _simulated(one: NumberComparison) -> str:
    """Return the mean and half its interval."""
    mean, half = one.simulated.mean, one.simulated.half_width()
    return estimate(mean, half, one.dimension, share=_is_share(one))


def simulation_result(
    simulation: Simulation,
    found: Sequence[NumberComparison],
    effort: Effort,
    labels: Labels = PLAIN,
) -> str:
    """Return whether all predictions agree, and whether the requirements pass."""
    if not simulation.has_converged:
        return phrase("simulation.inconclusive", value=number(effort.seconds))
    parts = [_agreeing(found, labels)]
    required = [one for one in found if one.criterion is not None]
    if required:
        failing = [one for one in required if _verdict(one) != "pass"]
        named = "; ".join(f"{_name(one, labels)} {_why(one)}" for one in failing)
        parts.append(named or phrase("simulation.all_pass"))
    return "; ".join(parts)


def _why(one: NumberComparison) -> str:
    """Return in words what a requirement that does not simply pass comes to."""
    if _verdict(one) == _UNDECIDED:
        return phrase("simulation.undecided", reason=_why_undecided(one))
    predicted, simulated = one.is_met(one.predicted), one.is_met(one.simulated.mean)
    if predicted is simulated:
        return "fails"
    if predicted:
        return phrase("simulation.fails")
    return phrase("simulation.passes")


def _agreeing(found: Sequence[NumberComparison], labels: Labels) -> str:
    """Return how many predictions agree with the simulation, and which do not."""
    measures = [one for one in found if one.criterion is None]
    agreeing = sum(one.verdict is PredictionVerdict.AGREES for one in measures)
    if all(one.verdict is PredictionVerdict.AGREES for one in found):
        if len(measures) == 1:
            return phrase("simulation.one_agrees")
        return phrase("simulation.all_agree", agreeing=f"{agreeing:,}")
    parts = [phrase("simulation.some_agree", agreeing=f"{agreeing:,}", count=f"{len(measures):,}")]
    for verdict, words in _NOT_AGREEING.items():
        named = [_in_a_list(_name(one, labels)) for one in found if one.verdict is verdict]
        if named:
            parts.append(f"{first_words(list(dict.fromkeys(named)), _MOST_NAMED)} {words}")
    return "; ".join(parts)


def _in_a_list(name: str) -> str:
    """Return a name without a comma.

    >>> _in_a_list("job latency, mean")
    'job latency (mean)'
    """
    return f"{name.removesuffix(', mean')} (mean)" if name.endswith(", mean") else name


_NOT_AGREEING = {
    PredictionVerdict.DIFFERS: phrase("simulation.outside_stated"),
    PredictionVerdict.UNSTATED: phrase("simulation.differ_unknown"),
    PredictionVerdict.UNKNOWN: phrase("simulation.few_items"),
}
_MOST_NAMED = 4


def simulation_lines(
    simulation: Simulation,
    found: Sequence[NumberComparison],
    effort: Effort,
    labels: Labels = PLAIN,
) -> list[str]:
    """Return in sentences whether predictions agree, and how it was simulated."""
    result = simulation_result(simulation, found, effort, labels)
    return [f"{result[0].upper()}{result[1:]}.", *simulation_notes(simulation, found, effort)]


def simulation_notes(
    simulation: Simulation, found: Sequence[NumberComparison], effort: Effort
) -> list[str]:
    """Return how it was simulated, how precisely, and what was simplified."""
    notes = []
    folded = _folded(found)
    if folded:
        most = percent(max(one.simulated.mean for one in folded))
        notes.append(phrase("simulation.more_resources", count=len(folded), most=most))
    length, cut = quantity(simulation.length, TIME), percent(simulation.cut, 2)
    warm = phrase("simulation.warm_up", cut=cut) if simulation.cut else ""
    items = [f"{statistics.items:,} ({name})" for name, statistics in simulation.streams.items()]
    notes.append(
        phrase(
            "simulation.replications",
            runs=simulation.runs,
            length=length,
            warm=warm,
            seed=effort.seed,
            names=joined_words(items),
        )
    )
    if simulation.is_precise and simulation.has_converged:
        notes.append(phrase("simulation.precise", share=percent(effort.precision)))
    elif simulation.has_converged:
        notes.append(
            phrase(
                "simulation.imprecise",
                share=percent(effort.precision),
                value=number(effort.seconds),
            )
        )
    remarks = simulation.network.remarks
    return [*notes, *(f"{remark[:1].upper()}{remark[1:]}." for remark in remarks)]
