"""What was predicted against what was played: whether each label is right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from fractions import Fraction
from math import inf, isnan

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.quantities.certainty import Certainty, CertaintyKind, together
from qps.compiler.quantities.dimension import DIMENSIONLESS, TIME, Dimension
from qps.engine.expressions.formulas import Formula
from qps.simulation.replications import Simulation, StreamEstimates
from qps.simulation.simulated_waits import measure_text, simulated_wait, waiting_measures
from qps.simulation.single_run import LEVELS
from qps.simulation.statistics import Estimate

_ROUNDINGS = 1e-6
_FALSE_ALARM = 0.01
"""The probability that a table without a wrong prediction reports one."""
_SELDOM = 10.0
_FEW = 100
"""Of fewer items than these nothing is reported."""


class PredictionVerdict(StrEnum):
    """What playing says of a prediction with its label."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNSTATED = "no error stated"
    """It differs, and the label of the approximation does not say how far it may."""
    UNKNOWN = "too few"
    """Too little was simulated to decide."""


class Observed(Struct, frozen=True, kw_only=True):
    """The simulated value of a measure, of so many items: all that came, of a load."""

    estimate: Estimate
    items: int = 0
    is_loss: bool = False
    is_load: bool = False

    def within(self, predicted: float, level: float) -> float:
        """Return half the interval that covers the truth so often, as far as a prediction goes."""
        estimate = self.estimate
        found = estimate.half_width(level) + _ROUNDINGS * max(abs(estimate.mean), abs(predicted))
        if self._is_counted and self.items and (predicted or estimate.mean):
            # What is seldom may not have happened yet: its spread is not known.
            found = max(found, _SELDOM / self.items)
        return found

    @property
    def is_seldom(self) -> bool:
        """Whether it is of so few that nothing differs by that; where nothing came, of none."""
        if self._is_counted and not self.items:
            return True
        return 0 < self.items < _FEW or not (self.estimate.mean or self.is_loss)

    @property
    def _is_counted(self) -> bool:
        return self.is_loss or (self.is_load and not self.estimate.error)


class NumberComparison(Struct, frozen=True, kw_only=True):
    """One number, predicted and simulated. `within` is half the interval that the verdict rests on.

    Of a requirement, the `limit` must not be passed.
    """

    subject: str
    measure: str
    dimension: Dimension
    predicted: float
    known: Certainty
    simulated: Estimate
    verdict: PredictionVerdict = PredictionVerdict.UNKNOWN
    within: float = inf
    is_share: bool = False
    items: int = 0
    criterion: Criterion | None = None
    limit: float | None = None

    @property
    def is_right(self) -> bool:
        """Whether the prediction is off by no more than its label allows."""
        return self.verdict is not PredictionVerdict.DIFFERS

    def is_met(self, value: float) -> bool | None:
        """Return whether a value meets the limit; None where there is none."""
        if self.limit is None or self.criterion is None:
            return None
        if value == self.limit:
            return not self.criterion.strict
        return (value < self.limit) is self.criterion.at_most


def compared(graph: LoadGraph, simulation: Simulation) -> tuple[NumberComparison, ...]:
    """Return all that was predicted, with the simulated values."""
    point = graph.at(simulation.network.population)
    found: list[NumberComparison] = []
    values: dict[Formula, tuple[Estimate, int]] = {}
    for name, observed in simulation.streams.items():
        played = _estimates_of(observed)
        for one in predictions(graph.streams[name], observed.quantiles):
            if one.measure not in played:
                continue
            values[one.formula] = values[one.served] = played[one.measure], observed.items
            if one.is_shown:
                found.append(
                    NumberComparison(
                        subject=name,
                        measure=one.measure,
                        dimension=one.dimension,
                        predicted=point.number(one.formula),
                        known=one.known,
                        simulated=played[one.measure],
                        is_share=one.is_share,
                        items=observed.items,
                    )
                )
    found += _loads(graph, simulation, values)
    found += _waits(graph, simulation, values)
    found = [one for one in found if one.predicted or one.simulated.mean]
    for criterion in graph.criteria:
        if criterion.span is not None and criterion.measure in values:
            simulated, items = values[criterion.measure]
            found.append(_requirement(graph, criterion, simulated, items, point.number))
    if not simulation.has_converged:
        return tuple(found)  # nothing can be said of these
    return compare(found)


class Predicted(Struct, frozen=True, kw_only=True):
    """A measure of a stream: its formula, the same of what is served, and how it is known."""

    measure: str
    formula: Formula
    served: Formula
    known: Certainty
    dimension: Dimension = DIMENSIONLESS
    is_share: bool = False
    is_shown: bool = True


def predictions(stream: StreamMeasures, levels: Iterable[float]) -> Iterator[Predicted]:
    """Yield all that is predicted of a stream and can be played, with quantiles of these levels."""
    served = replace(stream, endless=())
    yield Predicted(
        measure="latency",
        formula=stream.mean_latency,
        served=served.mean_latency,
        known=stream.latency_certainty,
        dimension=TIME,
    )
    for level in levels:
        exactly = Fraction(str(level))
        yield Predicted(
            measure=_quantile(level),
            formula=stream.latency_quantile(exactly),
            served=served.latency_quantile(exactly),
            known=stream.quantile_certainty(exactly),
            dimension=TIME,
            is_shown=level in LEVELS,
        )
    yield Predicted(
        measure="loss",
        formula=stream.loss,
        served=stream.loss,
        known=stream.lost_known,
        is_share=True,
    )
    for kind in LossKind:
        if kind is not LossKind.SATURATION:
            lost = stream.lost_by(kind)
            yield Predicted(
                measure=f"{kind.value} loss",
                formula=lost,
                served=lost,
                known=together(*(part.known for part in stream.losses if part.kind is kind)),
                is_share=True,
                is_shown=False,
            )
    yield Predicted(
        measure="rate",
        formula=stream.rate,
        served=stream.rate,
        known=stream.arriving_known,
        dimension=Dimension.of(stream.item) / TIME,
    )


def _quantile(level: float) -> str:
    return f"p{level * 100:.10g}"


def _estimates_of(estimates: StreamEstimates) -> dict[str, Estimate]:
    """Return the simulated values of a stream, by its measures."""
    found = {} if estimates.mean is None else {"latency": estimates.mean}
    found |= {_quantile(level): value for level, value in estimates.quantiles.items()}
    found |= {f"{kind} loss": value for kind, value in estimates.lost.items()}
    return found | {"loss": estimates.lost["any"], "rate": estimates.rate}


def _loads(
    graph: LoadGraph, simulation: Simulation, values: dict[Formula, tuple[Estimate, int]]
) -> list[NumberComparison]:
    point = graph.at(simulation.network.population)
    found = []
    items = sum(stream.items for stream in simulation.streams.values())
    for name in simulation.loads:
        load = graph.resources[name].load
        moved = simulated_load(simulation, name)
        values[load] = moved, 0
        found.append(
            NumberComparison(
                subject=name,
                measure="load",
                dimension=DIMENSIONLESS,
                predicted=point.number(load),
                known=graph.resources[name].known,
                simulated=moved,
                is_share=True,
                items=items,
            )
        )
    return found


def simulated_load(simulation: Simulation, name: str) -> Estimate:
    """Return the load of a resource as it was played, with what no item causes."""
    load = simulation.loads[name]
    station = next(one for one in simulation.network.stations if one.name == name)
    idle = 0.0 if station.waits else station.background
    return Estimate(load.mean + idle, load.error, load.runs)


def _waits(
    graph: LoadGraph, simulation: Simulation, values: dict[Formula, tuple[Estimate, int]]
) -> list[NumberComparison]:
    """Return the waits and the shares of items by a time that are compared."""
    point, measures = graph.at(simulation.network.population), Measures.of_graph(graph)
    served, found = measures.of_what_is_served, []
    for measured in simulation.measures:
        simulated = simulated_wait(measured, simulation)
        if simulated is None:
            continue
        value = measures.of(measured)
        values[value] = values[served.of(measured)] = simulated
        is_time = measured.kind in (ir.MeasureKind.WAIT, ir.MeasureKind.WAIT_QUANTILE)
        found.append(
            NumberComparison(
                subject=measured.subject,
                measure=measure_text(measured),
                dimension=TIME if is_time else DIMENSIONLESS,
                predicted=point.number(value),
                known=measures.known(measured),
                simulated=simulated[0],
                is_share=measured.times is not None,
                items=simulated[1],
            )
        )
    return found


def _requirement(
    graph: LoadGraph,
    criterion: Criterion,
    estimates: Estimate,
    items: int,
    number: Callable[[Formula], float],
) -> NumberComparison:
    return NumberComparison(
        subject="requirement",
        measure=criterion.name,
        dimension=criterion.dimension,
        predicted=number(criterion.measure),
        known=criterion.known,
        simulated=estimates,
        items=items,
        criterion=criterion,
        limit=graph.number(criterion.limit),
    )


def quantile_levels(model: ir.Model) -> tuple[float, ...]:
    """Return the levels of the quantiles that are reported, those of requirements among them."""
    numbers = (one.measure.expr for one in model.requirements)
    parts = (part for number in numbers for part in parts_of(number))
    levels = {float(p.level) for p in parts if isinstance(p, ir.Measured) and p.level is not None}
    levels |= {float(one.level) for one in waiting_measures(model) if one.level is not None}
    return tuple(sorted({*LEVELS, *levels}))


# -- verdicts ------------------------------------------------------------------------------


def compare(
    found: Sequence[NumberComparison], tests: int | None = None
) -> tuple[NumberComparison, ...]:
    """Return each with its verdict.

    Of many intervals that cover the truth in 95 of 100 cases some do not. So a prediction is
    wrong where it is outside a wider one, all of which cover it in 99 of 100 cases (Bonferroni).
    """
    count = tests or max(1, sum(one.simulated.error > 0 for one in found))
    return tuple(_compare_one(one, 1 - _FALSE_ALARM / count) for one in found)


def _compare_one(one: NumberComparison, level: float) -> NumberComparison:
    estimate = one.simulated
    seen = Observed(
        estimate=estimate,
        items=one.items,
        is_loss=one.measure.endswith("loss"),
        is_load=one.measure == "load",
    )
    within = seen.within(one.predicted, level)
    off = one.predicted - estimate.mean
    if isnan(off):
        verdict = PredictionVerdict.DIFFERS
    elif seen.is_seldom and abs(off) > within:
        verdict = PredictionVerdict.UNKNOWN
    elif abs(off) <= within:
        verdict = PredictionVerdict.AGREES
    elif one.known.kind is CertaintyKind.UPPER_BOUND:
        verdict = PredictionVerdict.AGREES if off > 0 else PredictionVerdict.DIFFERS
    elif one.known.kind is CertaintyKind.LOWER_BOUND:
        verdict = PredictionVerdict.AGREES if off < 0 else PredictionVerdict.DIFFERS
    elif one.known.kind is CertaintyKind.APPROXIMATION:
        error = one.known.error
        if error is None:
            verdict = PredictionVerdict.UNSTATED
        else:
            is_near = abs(off) <= within + error * abs(estimate.mean)
            verdict = PredictionVerdict.AGREES if is_near else PredictionVerdict.DIFFERS
    else:
        verdict = PredictionVerdict.DIFFERS
    return replace(one, verdict=verdict, within=within)
