"""Claims about simulation: whether a prediction is within its tolerance of a simulated measure.

Each is simulated until the confidence interval lies within the tolerance, or outside of it. A
verdict does therefore not depend on the speed of a machine, unless the claim stays undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, nan

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.simulation.agreement import Observed, simulated_load
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, Simulation, simulate
from qps.simulation.simulated_model import SimulatedNetwork
from qps.simulation.simulated_waits import simulated_wait
from qps.simulation.single_run import LEVELS
from qps.simulation.statistics import Estimate
from qps.solver.claims.claim_results import SimulatedValue
from qps.solver.claims.simulated_claims import PredictedMeasure, Simulator

_CONFIDENCE = 0.99
"""Confidence level of the interval that a verdict uses; the level shown is 0.95."""

_LOSSES = {
    ir.MeasureKind.LOSS: "any",
    ir.MeasureKind.VOLUNTARY_LOSS: LossKind.VOLUNTARY.value,
    ir.MeasureKind.TRANSMISSION_LOSS: LossKind.TRANSMISSION.value,
}


def simulator_of(effort: Effort) -> Simulator:
    """Return a simulator of the measures of claims, with this effort for each configuration."""

    def simulate_measures(
        graph: LoadGraph, at: int, predicted: Sequence[PredictedMeasure]
    ) -> list[SimulatedValue]:
        own = {float(one.measure.level) for one in predicted if one.measure.level is not None}
        waits = tuple(one.measure for one in predicted if one.measure.kind in ir.WAITS)
        model = simulated_model(graph, at)
        possible = [one for one in predicted if _is_possible(one.measure, model)]
        simulation = simulate(
            model,
            replace(effort, levels=tuple(sorted({*LEVELS, *own})), measures=waits),
            is_enough=lambda simulation: all(
                _simulated_measure(one, graph, simulation).is_precise for one in possible
            ),
        )
        measured = [_simulated_measure(one, graph, simulation) for one in predicted]
        return [
            _tolerance_result(estimate, effort if one in possible else None)
            for one, estimate in zip(predicted, measured, strict=True)
        ]

    return simulate_measures


def _is_possible(measure: ir.Measured, model: SimulatedNetwork) -> bool:
    """Return whether anything comes that can be measured, however long the simulation is."""
    is_of_station = measure.kind is ir.MeasureKind.LOAD or (
        measure.kind in ir.WAITS and any(one.name == measure.subject for one in model.stations)
    )
    return bool(model.sources) if is_of_station else measure.subject in model.flows


class _SimulatedMeasure(Struct, frozen=True):
    """A simulated measure. `holds` is None if the simulation was not long enough to decide."""

    estimate: Estimate | None
    within: float
    holds: bool | None

    @property
    def is_precise(self) -> bool:
        return self.holds is not None


def _tolerance_result(one: _SimulatedMeasure, effort: Effort | None) -> SimulatedValue:
    """Return the verdict on a measure; without `effort` if no simulation can decide it."""
    why = None
    if one.holds is None and effort is None:
        why = "no item is measured, so there is nothing to simulate"
    elif one.holds is None and effort is not None:
        why = f"too few items simulated within {effort.seconds:g} s"
        if one.estimate is not None and isfinite(one.within) and one.estimate.mean:
            share = one.within / abs(one.estimate.mean)
            why = (
                f"precision not reached: the confidence interval is ±{share * 100:.2g} % after "
                f"{effort.seconds:g} s, too wide to decide"
            )
    return SimulatedValue(
        mean=nan if one.estimate is None else one.estimate.mean,
        half_width=inf if one.estimate is None else one.estimate.half_width(),
        holds=one.holds is True,
        why=why,
    )


def _simulated_measure(
    predicted: PredictedMeasure, graph: LoadGraph, simulation: Simulation
) -> _SimulatedMeasure:
    seen = _seen(predicted.measure, graph, simulation)
    if seen is None:
        return _SimulatedMeasure(None, inf, None)
    estimate = seen.estimate
    if not simulation.has_converged:
        return _SimulatedMeasure(estimate, inf, None)
    within = seen.within(predicted.predicted, _CONFIDENCE)
    off = abs(predicted.predicted - estimate.mean)
    allowed = float(predicted.tolerance.amount)
    if predicted.tolerance.relative:
        allowed *= abs(estimate.mean)
    holds = None
    if off + within <= allowed or off == within == 0:
        holds = True
    elif not off - within <= allowed:  # a prediction that is not a number fails
        holds = False
    if seen.is_seldom and (off > within or not seen.items):
        holds = None  # too few items for a verdict
    return _SimulatedMeasure(estimate, within, holds)


def _seen(measure: ir.Measured, graph: LoadGraph, simulation: Simulation) -> Observed | None:
    """Return the simulated values of a measure; None if there are none."""
    if measure.kind is ir.MeasureKind.LOAD:
        names = [one.name for one in graph.loads_of(measure.subject)]
        loads = [simulated_load(simulation, name) for name in names if name in simulation.loads]
        estimate = max(loads, key=lambda load: load.mean, default=Estimate(0.0, 0.0, 1))
        items = sum(stream.items for stream in simulation.streams.values())
        return Observed(estimate=estimate, items=items, is_load=True)
    if measure.kind in ir.WAITS:
        wait = simulated_wait(measure, simulation)
        return None if wait is None else Observed(estimate=wait[0], items=wait[1])
    stream = simulation.streams.get(measure.subject)
    if stream is None:
        return None
    value: Estimate | None
    if measure.kind is ir.MeasureKind.LATENCY:
        value = stream.mean
    elif measure.kind is ir.MeasureKind.QUANTILE:
        assert measure.level is not None
        value = stream.quantiles.get(float(measure.level))
    elif measure.kind is ir.MeasureKind.RATE:
        value = stream.rate
    else:
        value = stream.lost[_LOSSES[measure.kind]]
    if value is None:
        return None
    return Observed(estimate=value, items=stream.items, is_loss=measure.kind in _LOSSES)
