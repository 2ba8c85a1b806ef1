"""Waits, numbers of those who wait and shares of items by a time, as they were simulated."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.ir.measure_names import percentile_text, percentile_word
from qps.compiler.ir.parts import operands_of, parts_of
from qps.simulation.replications import Simulation, StreamEstimates, WaitEstimates
from qps.simulation.statistics import Estimate


def waiting_measures(model: ir.Model) -> tuple[ir.Measured, ...]:
    """Return the waits and shares that a spec names: in requirements, measures and claims."""
    numbers = [one.measure.expr for one in model.requirements]
    numbers += [one.value.expr for one in model.measures]
    for claim in (claim for one in model.expectations for claim in one.claims):
        value = claim.value
        numbers += [value.expr] if isinstance(value, ir.Quantity) else operands_of(value)
    parts = (part for number in numbers for part in parts_of(number))
    waits = (one for one in parts if isinstance(one, ir.Measured) and one.kind in ir.WAITS)
    return tuple(dict.fromkeys(waits))


def simulated_wait(measured: ir.Measured, simulation: Simulation) -> tuple[Estimate, int] | None:
    """Return what was simulated of such a measure, of so many items; None where nothing was."""
    stream = simulation.streams.get(measured.subject)
    waits = simulation.stations.get(measured.subject) if stream is None else stream.waits
    found = None if waits is None else _estimate_of(measured, waits, stream)
    return None if waits is None or found is None else (found, waits.items)


def _estimate_of(
    measured: ir.Measured, waits: WaitEstimates, stream: StreamEstimates | None
) -> Estimate | None:
    if measured.times is not None:
        of_all = waits.later if stream is None or measured.times.is_wait else stream.later
        later = of_all.get(float(measured.times.seconds))
        if later is None or measured.times.is_longer:
            return later
        return Estimate(1 - later.mean, later.error, later.runs)
    if measured.kind is ir.MeasureKind.WAIT_QUANTILE:
        assert measured.level is not None
        return waits.quantiles.get(float(measured.level))
    return waits.many if measured.kind is ir.MeasureKind.QUEUE else waits.mean


def measure_text(measured: ir.Measured) -> str:
    """Return such a measure without its subject, as tables show it."""
    if measured.times is not None:
        sign = ">" if measured.times.is_longer else "<="
        of = "wait" if measured.times.is_wait else "latency"
        return f"{of} {sign} {float(measured.times.seconds):g} s"
    if measured.level is not None:
        word = percentile_word(measured.level) or f"quantile {float(measured.level):g}"
        return f"wait {percentile_text(word)}"
    return measured.kind.value
