"""What was simulated beside what was predicted: as text, as Markdown and as plain values."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.quantities.dimension import TIME
from qps.reports.text.how_known import marked
from qps.reports.text.quantities import in_percent, number, percent, quantity, with_interval
from qps.reports.text.table import Table, escaped, joined
from qps.simulation.agreement import Compared, Verdict
from qps.simulation.crew import Effort, Simulation

_MOST_LOADS = 12
"""The fullest of so many resources have a line of their own."""


class SimulatedView(Struct, frozen=True, kw_only=True):
    """One number, predicted and simulated; in base units."""

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
    """All that was simulated, and how."""

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
    found: Sequence[Compared],
    effort: Effort,
) -> SimulationView:
    """Return what was simulated as plain values."""
    return SimulationView(
        schema="qps/simulation/1",
        file=file,
        population=population,
        at=simulation.played.population,
        seed=effort.seed,
        runs=simulation.runs,
        length=simulation.length,
        warm_up=simulation.cut * simulation.length,
        items={name: told.items for name, told in simulation.streams.items()},
        precision=effort.precision,
        is_precise=simulation.is_precise,
        agrees=all(one.is_right for one in found),
        remarks=simulation.played.remarks,
        results=tuple(_view(one) for one in found),
    )


def _view(one: Compared) -> SimulatedView:
    return SimulatedView(
        subject=one.subject,
        measure=one.measure,
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


def simulated_tables(found: Sequence[Compared]) -> tuple[Table, ...]:
    """Return the tables of what was predicted and simulated, of those that have rows."""
    folded = {id(one) for one in _folded(found)}
    told = [one for one in found if one.criterion is None and id(one) not in folded]
    required = [one for one in found if one.criterion is not None]
    return tuple(t for t in (simulated_table(told), required_table(required)) if t.rows)


def _folded(found: Sequence[Compared]) -> list[Compared]:
    """Return the loads that get no line: where there are many, the lower ones that agree."""
    loads = [one for one in found if one.measure == "load"]
    if len(loads) <= _MOST_LOADS:
        return []
    fullest = sorted(loads, key=lambda one: -one.simulated.mean)[:_MOST_LOADS]
    shown = {id(one) for one in fullest}
    return [one for one in loads if one.verdict is Verdict.AGREES and id(one) not in shown]


def simulation_text(
    title: str,
    simulation: Simulation,
    found: Sequence[Compared],
    effort: Effort,
    *,
    markdown: bool = False,
) -> str:
    """Return tables of what was predicted and simulated, and how it was played."""
    parts = [f"### {title}" if markdown else printable(title)]
    tables = simulated_tables(found)
    parts += [table.as_markdown() if markdown else table.as_text() for table in tables]
    lines = simulation_lines(simulation, found, effort)
    parts += [escaped(line) if markdown else f"  {line}" for line in lines]
    return joined(parts)


def simulated_table(found: Sequence[Compared]) -> Table:
    """Return what was predicted, its label, what was simulated, and whether they agree."""
    rows = tuple(
        (
            f"{one.subject}.{one.measure}",
            marked(_shown(one, one.predicted), one.known),
            one.known.kind.value,
            *_simulated(one),
            one.verdict.value,
        )
        for one in found
    )
    headings = ("measure", "predicted", "known as", "simulated", "±", "")
    return Table(headings, rows, frozenset([1, 3, 4]))


def required_table(found: Sequence[Compared]) -> Table:
    """Return the requirements: what was predicted and simulated of each, and whether it is met."""
    rows = tuple(
        (
            one.measure,
            f"{'<' if _is_below(one) else '>'}{_equals(one)} {_shown(one, one.limit or 0.0)}",
            marked(_shown(one, one.predicted), one.known),
            one.known.kind.value,
            *_simulated(one),
            one.verdict.value,
            _met(one),
        )
        for one in found
    )
    headings = ("requirement", "limit", "predicted", "known as", "simulated", "±", "", "met")
    return Table(headings, rows, frozenset([2, 4, 5]))


def _is_below(one: Compared) -> bool:
    return one.criterion is not None and one.criterion.at_most


def _equals(one: Compared) -> str:
    return "" if one.criterion is not None and one.criterion.strict else "="


def _met(one: Compared) -> str:
    predicted, simulated = one.is_met(one.predicted), one.is_met(one.simulated.mean)
    if predicted is simulated:
        return "yes" if simulated else "no"
    return "as predicted only" if predicted else "as simulated only"


def _shown(one: Compared, value: float) -> str:
    return quantity(value, one.dimension, share=_is_share(one))


def _is_share(one: Compared) -> bool:
    return one.is_share or (one.criterion is not None and in_percent(one.criterion))


def _simulated(one: Compared) -> tuple[str, str]:
    """Return the mean and half its interval, in the same unit."""
    mean, half = one.simulated.mean, one.simulated.half_width()
    return with_interval(mean, half, one.dimension, share=_is_share(one))


def simulation_lines(
    simulation: Simulation, found: Sequence[Compared], effort: Effort
) -> list[str]:
    """Return how it was played, how precisely, and whether the labels are right."""
    wrong = [one for one in found if one.verdict is Verdict.DIFFERS]
    unstated = [one for one in found if one.verdict is Verdict.UNSTATED]
    lines = []
    if wrong:
        names = ", ".join(f"{one.subject}.{one.measure}" for one in wrong)
        lines.append(f"Outside by more than the label allows: {names}.")
    elif simulation.has_settled:
        lines.append("No prediction is off by more than its label allows.")
    if unstated:
        names = ", ".join(f"{one.subject}.{one.measure}" for one in unstated)
        lines.append(f"Approximations that differ and state no error: {names}.")
    folded = _folded(found)
    if folded:
        most = percent(max(one.simulated.mean for one in folded))
        lines.append(
            f"{len(folded)} loads more, up to {most}, agree: `--format json` tells all of them."
        )
    items = ", ".join(f"{told.items:,} of {name}" for name, told in simulation.streams.items())
    length, cut = quantity(simulation.length, TIME), percent(simulation.cut, 2)
    warm = f", {cut} cut off as warm-up" if simulation.cut else ""
    lines.append(
        f"{simulation.runs} independent runs of {length} each{warm}; seed {effort.seed}; "
        f"items: {items}."
    )
    if not simulation.has_settled:
        lines.append(
            f"Too little was played in {number(effort.seconds)} s of time: nothing has settled, "
            "and nothing is judged. Give it more, `--seconds`."
        )
    elif simulation.is_precise:
        lines.append(f"Means and loads are within {percent(effort.precision)}, 95 times of 100.")
    else:
        lines.append(
            f"Precision not reached: in {number(effort.seconds)} s of time not all means and "
            f"loads are within {percent(effort.precision)}."
        )
    lines += [f"Played so: {remark}." for remark in simulation.played.remarks]
    return lines
