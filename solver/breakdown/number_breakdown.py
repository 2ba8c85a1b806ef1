"""Why is a number what it is? A load, measure or axis taken apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from qps.compiler import ir
from qps.compiler.configure.case_tables import CaseTable
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import closest, did_you_mean
from qps.compiler.ir.measure_names import (
    current_text,
    percentile_level,
    resource_in,
    utilization_of,
)
from qps.compiler.lower.label_doubts import NO_CHECKS, Checks
from qps.compiler.lower.load_graph import Assumption, LoadGraph
from qps.compiler.lower.requirements.lower_measures import Measures, not_there
from qps.compiler.lower.requirements.quality_axes import axes_by_criterion
from qps.compiler.lower.requirements.serial_losses import (
    in_series_at,
    known_at,
    loss_known,
    quality_known_at,
)
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.dimension import DATA_RATE, DIMENSIONLESS, MONEY, TIME
from qps.engine.expressions.formulas import Formula, maximum
from qps.engine.expressions.formulas import number as number_formula
from qps.solver.answers.solution import Saturation
from qps.solver.breakdown.breakdown_types import Apart, NumberApart, SpreadOf, decomposed
from qps.solver.breakdown.measure_naming import NumberPart
from qps.solver.breakdown.stream_breakdown import (
    called_by,
    percentile_hint,
    percentile_of,
    quantile_apart,
    stream_apart,
    stream_measures,
)


def number_apart(
    graph: LoadGraph,
    name: str,
    at: int,
    modes: tuple[str, ...] = (),
    spread_of: SpreadOf | None = None,
    saturations: Mapping[str, Saturation] = MappingProxyType({}),
) -> NumberApart:
    """Return what a name stands for, taken apart; QpsError where the graph has no such name.

    `modes` are the modes of the spec, of which the graph is in one, or outside of any. Without
    `spread_of` it is not known how far it may be off. An answer of the graph knows its
    `saturations`.
    """
    name = name if name in names(graph) else current_text(name)
    apart = _of_name(graph, name, at, modes)

    def read(of: LoadGraph) -> Formula:
        found = _of_name(of, name, at, modes)
        return found.value if found.whole is None else found.whole

    spread = None if spread_of is None else spread_of(read)
    known = _known(graph, name, at)
    return decomposed(graph, apart, at, modes, known, _checks(graph), spread, saturations)


def _known(graph: LoadGraph, name: str, at: int) -> Certainty:
    """Return how what a name stands for is known; numbers of the spec's own stand as stated."""
    percentile = percentile_of(graph, name)
    if percentile is not None:
        stream, share = percentile
        return graph.streams[stream].quantile_certainty(share)
    stream, measure = _of_stream(graph, name)
    if stream in graph.streams and measure in ("", "latency"):
        return graph.streams[stream].latency_certainty
    if stream in graph.streams and (node := called_by(graph.streams[stream], measure)) is not None:
        return graph.streams[stream].calls_certainty(node)
    if stream in graph.streams and measure in ("jitter", "buffer"):
        found = graph.streams[stream]
        return found.jitter_certainty if measure == "jitter" else found.buffer_certainty
    if name in graph.measures:
        return known_at(graph, graph.measures[name], at)
    if name in graph.numbers.derived:
        return graph.numbers.derived[name].known
    waits = _waits_in(name)
    if waits is not None and (stream in graph.streams or graph.loads_of(waits.subject)):
        return Measures.of_graph(graph, in_series_at(graph, at)).known(waits)
    if stream in graph.streams and measure in _KINDS:
        return loss_known(_KINDS[measure], graph.streams[stream], in_series_at(graph, at))
    if graph.loads_of(resource_in(name)):
        return together(*(one.known for one in graph.loads_of(resource_in(name))))
    elastic = {one.parameter.name: one.known for one in graph.elastic}
    return quality_known_at(graph, at) if name == "quality" else elastic.get(name, EXACT)


def _checks(graph: LoadGraph) -> Checks:
    """Return the premises that were checked on the network: all streams have the same."""
    return next((one.doubts.checks for one in graph.streams.values()), NO_CHECKS)


def _of_stream(graph: LoadGraph, name: str) -> tuple[str, str]:
    """Return the stream of a name and what is demanded of it; a stream by itself has no more."""
    stream = name
    while stream and stream not in graph.streams and stream not in graph.stated.absent:
        stream = stream.rpartition(".")[0]
    return stream, name[len(stream) :].removeprefix(".")


_FEW_NAMES = 6
_KINDS = {kind.value: kind for kind in ir.MeasureKind}


def _of_name(graph: LoadGraph, name: str, at: int, modes: tuple[str, ...]) -> Apart:
    if name.endswith(".throughput") and _of_stream(graph, name)[0] not in graph.streams:
        return _throughput(graph, name)
    waits = _waits_in(name)
    is_quantile = waits is not None and waits.level is not None and waits.subject in graph.streams
    if waits is not None and (is_quantile or graph.loads_of(waits.subject)):
        return _waiting(graph, name, waits)
    resources = graph.loads_of(resource_in(name))
    if len(resources) == 1:
        return _resource(resources[0])
    if len(resources) > 1:
        return _highest(resources, name)
    percentile = percentile_of(graph, name)
    if percentile is not None:
        return quantile_apart(graph, *percentile, at)
    stream, measure = _of_stream(graph, name)
    if stream in graph.streams:
        return stream_apart(graph, stream, measure or "latency", at)
    if name in graph.measures:
        own = graph.measures[name]
        what = own.doc or "a measure defined in the spec"
        return Apart(
            name=name, what=what, value=own.value, dimension=own.dimension, scope=own.rests_on
        )
    if name in _COSTS and graph.cost(is_running=_COSTS[name]) is not None:
        return _cost(graph, name)
    if name == "quality" and graph.quality is not None:
        return _quality(graph, graph.quality)
    if name in graph.stated.groups:
        return _group(graph, name)
    parameter = _parameter(graph, name)
    if parameter is not None:
        return parameter
    if stream in graph.stated.absent:
        raise not_there(stream)
    is_outside = bool(modes) and graph.mode is None
    raise QpsError.single(
        codes.UNKNOWN_NAME,
        None,
        f"cannot explain `{name}`: no such name" + " outside a mode" * is_outside,
        hint=" or ".join(
            hint
            for hint in (
                _as_percentile(name, graph) or _closest_name(name, graph),
                f"ask for a mode: `--set mode={modes[0]}`" if is_outside else None,
            )
            if hint is not None
        )
        or _available(graph),
    )


def _as_percentile(name: str, graph: LoadGraph) -> str | None:
    """Return how the percentile of a stream is named, where a name has no stream; else None."""
    stream = next(iter(graph.streams), None)
    return None if stream is None else percentile_hint(stream, name)


def _closest_name(name: str, graph: LoadGraph) -> str | None:
    """Return the closest name; the percentile of another stream before any other number."""
    before, _, measure = name.rpartition(".")
    if percentile_level(measure) is not None:
        near = closest(before, graph.streams)
        if near is not None:
            return did_you_mean(name, [f"{near}.{measure}"])
    return did_you_mean(name, names(graph))


def _available(graph: LoadGraph) -> str:
    """Return what there is to be named, where nothing is close: the first of each sort."""
    there = {"streams": graph.streams, "resources": graph.resources, "measures": graph.measures}
    each = []
    for what, found in there.items():
        first = [f"`{name}`" for name in [*found][:_FEW_NAMES]]
        each += [f"{what}: {', '.join(first)}{', …' * (len(found) > len(first))}"] if first else []
    return "; ".join(each)


def _waits_in(name: str) -> ir.Measured | None:
    """Return the measure of waits that a name says; None for any other name."""
    before, _, last = name.rpartition(".")
    kinds = {"wait": ir.MeasureKind.WAIT, "queue": ir.MeasureKind.QUEUE}
    if last in kinds:
        return ir.Measured(kind=kinds[last], subject=before)
    level = percentile_level(last)
    if level is None or not before.endswith(".wait"):
        return None
    subject = before.removesuffix(".wait")
    return ir.Measured(kind=ir.MeasureKind.WAIT_QUANTILE, subject=subject, level=level)


def _waiting(graph: LoadGraph, name: str, measured: ir.Measured) -> Apart:
    """Return how long items wait at a resource, or how many do."""
    what = "mean queueing delay of a visit"
    if measured.kind is ir.MeasureKind.QUEUE:
        what = "mean number of waiting items"
    elif measured.level is not None:
        what = f"queueing delay that {float(measured.level) * 100:g} % of visits do not exceed"
    is_number = measured.kind is ir.MeasureKind.QUEUE
    return Apart(
        name=name,
        what=what,
        value=Measures.of_graph(graph).of(measured),
        dimension=DIMENSIONLESS if is_number else TIME,
        scope=[measured.subject, *(one.name for one in graph.loads_of(measured.subject))],
    )


def _highest(resources: Sequence[ResourceLoad], name: str) -> Apart:
    parts = [NumberPart(r.name, r.load, (r.name,)) for r in resources]
    return Apart(
        name=name,
        what="the highest of several utilizations",
        value=maximum(*(part.value for part in parts)),
        dimension=DIMENSIONLESS,
        parts=parts,
        scope=[r.name for r in resources],
    )


def _quality(graph: LoadGraph, value: Formula) -> Apart:
    by_axis = axes_by_criterion(graph.criteria)
    return Apart(
        name="quality",
        what=f"{graph.metric.value}; 1 is the limit",
        value=value,
        dimension=DIMENSIONLESS,
        parts=[NumberPart(c.name, axis, c.rests_on) for axis, c in by_axis.items()],
        scope=[subject for criterion in graph.criteria for subject in criterion.rests_on],
    )


def _parameter(graph: LoadGraph, name: str) -> Apart | None:
    """Return a parameter, or any number that the model rests on; None where there is none."""
    for elastic in graph.elastic:
        if elastic.parameter.name == name:
            what = "an elastic parameter: it uses the remaining capacity"
            if elastic.parameter.priority is not None:
                what += f", with priority {elastic.parameter.priority}"
            dimension = elastic.parameter.dimension
            return Apart(name=name, what=what, value=elastic.value, dimension=dimension)
    varied, _, case = name.rpartition(".") if name not in graph.stated.varied else (name, "", "")
    if varied in graph.stated.varied and case in ("", *_CASES):
        return _varied(
            graph, graph.stated.varied[varied], ir.Case(case) if case else graph.stated.case
        )
    if name in graph.assumptions:
        return _assumption(graph.assumptions[name])
    if name in graph.numbers.derived:
        made = graph.numbers.derived[name]
        what = made.doc or "a parameter computed from others"
        return Apart(name=name, what=what, value=made.value, dimension=made.dimension)
    return None


_CASES = [case.value for case in ir.Case]


def _varied(graph: LoadGraph, table: CaseTable, case: ir.Case) -> Apart:
    """Return a parameter that has several values, in one case, with all of them."""
    name = table.name if case is graph.stated.case else f"{table.name}.{case.value}"
    value = table.rows[-1].values[case]
    if value is None:
        raise QpsError.single(
            codes.UNKNOWN_NAME,
            None,
            f"`{table.name}` does not state its {case.value}",
            hint=f"ask for the whole of it, `{table.name}`",
        )
    known = graph.assumptions.get(name)
    expr = known.symbol if known else number_formula(value)
    what = f"a parameter with several values; this is its {case.value}"
    return Apart(name=name, what=what, value=expr, dimension=table.dimension, table=table)


_COSTS = {"cost": False, "running_cost": True}


def _cost(graph: LoadGraph, name: str) -> Apart:
    is_running = _COSTS[name]
    total = graph.cost(is_running=is_running)
    assert total is not None
    parts = [
        NumberPart(p.place, p.value) for p in graph.stated.prices if p.is_running is is_running
    ]
    what = "cost of machines and networks"
    if graph.stated.unpriced:
        what += f"; without a price: {', '.join(graph.stated.unpriced)}"
    dimension = MONEY / TIME if is_running else MONEY
    return Apart(name=name, what=what, value=total, dimension=dimension, parts=parts)


def _throughput(graph: LoadGraph, name: str) -> Apart:
    """Return what a link or a network card carries; of several the highest."""
    what = "throughput, in bit/s"
    of = Measures.of_graph(graph)
    expr = of.of(
        ir.Measured(kind=ir.MeasureKind.THROUGHPUT, subject=name.removesuffix(".throughput"))
    )
    return Apart(name=name, what=what, value=expr, dimension=DATA_RATE)


def _group(graph: LoadGraph, name: str) -> Apart:
    group = graph.stated.groups[name]
    what = group.doc or "users per group"
    value, count = group.members, group.count
    return Apart(name=name, what=what, value=value, dimension=DIMENSIONLESS, count=count)


def names(graph: LoadGraph) -> list[str]:
    """Return everything that can be explained."""
    found = list(graph.resources)
    found += [f"{n}.throughput" for n, r in graph.resources.items() if r.throughput is not None]
    for stream in graph.streams:
        found += [f"{stream}.{measure}" for measure in stream_measures()]
    found += list(graph.measures)
    if graph.quality is not None:
        found.append("quality")
    found += [name for name, runs in _COSTS.items() if graph.cost(is_running=runs) is not None]
    found += [elastic.parameter.name for elastic in graph.elastic]
    found += list(graph.stated.groups)
    found += [name for name in graph.stated.varied if name not in graph.assumptions]
    return [*found, *graph.assumptions, *graph.numbers.derived]


def _resource(resource: ResourceLoad) -> Apart:
    return Apart(
        name=utilization_of(resource.name),
        what="utilization",
        value=resource.load,
        dimension=DIMENSIONLESS,
        parts=[NumberPart(name, load) for name, load in resource.parts.items()],
        unresolved=resource.unresolved,
        resource=resource,
    )


def _assumption(assumption: Assumption) -> Apart:
    return Apart(
        name=assumption.name,
        what="an input of the model",
        value=assumption.symbol,
        dimension=assumption.dimension,
    )
