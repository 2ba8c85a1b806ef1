"""Why is a number what it is? A load, measure or axis taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import isclose

import sympy

from qps.compiler import codes, ir
from qps.compiler.case_tables import CaseRow, CaseTable
from qps.compiler.certainty import EXACT, Certainty
from qps.compiler.diagnostics import QpsError, Sink
from qps.compiler.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION_BASE,
    MONEY,
    TIME,
    Dimension,
)
from qps.compiler.efficiency import Effective
from qps.compiler.extremes import Maximum
from qps.compiler.load_graph import (
    Assumption,
    LatencyPart,
    LoadGraph,
    LossKind,
    ResourceLoad,
    StreamMeasures,
)
from qps.compiler.losses_in_series import (
    in_series_at,
    known_at,
    loss_known,
    quality_known_at,
)
from qps.compiler.lower_measures import Measures
from qps.compiler.substitution import Substitution
from qps.compiler.suggest import did_you_mean, listed
from qps.reports.formulas import formula, in_population, with_numbers
from qps.reports.known import KnownView, known_view
from qps.reports.naming import Part, elastic_notes, in_named_measures, named_whole
from qps.reports.quantities import is_share, number, percent, quantity
from qps.solver.critical import piece_at
from qps.solver.rational import as_rational_function, numerator
from qps.solver.saturation import saturation_of


@dataclass(frozen=True)
class ExplainedPart:
    """A part of the number: a component's load, a stage of a latency."""

    name: str
    value: str
    share: str
    formula: str


@dataclass(frozen=True)
class ExplainedNumber:
    """A number that the formula rests on, and where it comes from."""

    name: str
    value: str
    place: str
    source: str


@dataclass(frozen=True)
class ExplainedCase:
    """A kind of a parameter, its share, and its value in each case; empty where none is stated.

    The row of all kinds together has an empty name.
    """

    kind: str
    share: str
    average: str
    least: str
    largest: str
    place: str
    source: str


@dataclass(frozen=True)
class Explanation:
    """A number taken apart; `value` is in base units of `unit`, at the population `at`.

    `mode` is the mode in which it is so; None outside of any. `modes` are those of the spec.
    """

    schema: str
    name: str
    what: str
    at: int
    at_text: str
    value: float
    unit: str
    formulas: tuple[tuple[str, str], ...]
    parts: tuple[ExplainedPart, ...]
    assumptions: tuple[ExplainedNumber, ...]
    mode: str | None = None
    modes: tuple[str, ...] = ()
    cases: tuple[ExplainedCase, ...] = ()
    known: KnownView = field(default_factory=KnownView)


def explain(graph: LoadGraph, name: str, at: int, modes: tuple[str, ...] = ()) -> Explanation:
    """Return what a name stands for, taken apart; QpsError where the graph has no such name.

    `modes` are the modes of the spec, of which the graph is in one, or outside of any.
    """
    return replace(
        _taken_apart(graph, name, at, modes),
        mode=graph.mode,
        modes=modes,
        known=known_view(_known(graph, name, at)),
    )


def _known(graph: LoadGraph, name: str, at: int) -> Certainty:
    """Return how what a name stands for is known; numbers of the spec's own stand as stated."""
    asked = _QUANTILE.fullmatch(name.replace(" ", ""))
    if asked is not None and asked["stream"] in graph.streams:
        return graph.streams[asked["stream"]].quantile_certainty(_share_of(asked))
    stream, _, measure = name.partition(".")
    if stream in graph.streams and measure in ("", "latency"):
        return graph.streams[stream].latency_certainty
    if stream in graph.streams and measure == "jitter":
        return graph.streams[stream].jitter_certainty
    if name in graph.measures:
        return known_at(graph, graph.measures[name], at)
    if stream in graph.streams and measure in _KINDS:
        return loss_known(_KINDS[measure], stream, in_series_at(graph, at))
    return quality_known_at(graph, at) if name == "quality" else EXACT


_KINDS = {kind.value: kind for kind in ir.MeasureKind}


def _taken_apart(graph: LoadGraph, name: str, at: int, modes: tuple[str, ...]) -> Explanation:
    if name.endswith(".throughput") and name.partition(".")[0] not in graph.streams:
        return _throughput(graph, name, at)
    resources = graph.loads_of(name.removesuffix(".load"))
    if len(resources) == 1:
        return _resource(graph, resources[0], at)
    if len(resources) > 1:
        parts = [Part(r.name, r.load, (r.name,)) for r in resources]
        highest = Maximum(*(part.value for part in parts))
        what = "the highest of several loads"
        return _explained(
            graph, name, what, highest, DIMENSIONLESS, at, parts, [r.name for r in resources]
        )
    asked = _QUANTILE.fullmatch(name.replace(" ", ""))
    if asked is not None and asked["stream"] in graph.streams:
        return _quantile(graph, asked["stream"], _share_of(asked), at)
    stream, _, measure = name.partition(".")
    if stream in graph.streams:
        return _stream(graph, stream, measure or "latency", at)
    if name in graph.measures:
        own = graph.measures[name]
        what = own.doc or "a measure of the spec's own"
        return _explained(graph, name, what, own.value, own.dimension, at, (), own.rests_on)
    if name in _COSTS and graph.cost(is_running=_COSTS[name]) is not None:
        return _cost(graph, name, at)
    if name == "quality" and graph.quality is not None:
        axes = [Part(c.name, c.axis, c.rests_on) for c in graph.criteria if c.axis is not None]
        scope = [subject for criterion in graph.criteria for subject in criterion.rests_on]
        what = f"{graph.metric.value}; 1 is the limit of what is acceptable"
        return _explained(graph, name, what, graph.quality, DIMENSIONLESS, at, axes, scope)
    if name in graph.groups:
        return _group(graph, name, at)
    for settled in graph.elastic:
        if settled.parameter.name == name:
            what = "an elastic parameter: it takes what capacity is left"
            if settled.parameter.priority is not None:
                what += f", with priority {settled.parameter.priority}"
            dimension = settled.parameter.dimension
            return _explained(graph, name, what, settled.value, dimension, at)
    varied, _, case = name.rpartition(".") if name not in graph.varied else (name, "", "")
    if varied in graph.varied and case in ("", *_CASES):
        return _varied(graph, graph.varied[varied], ir.Case(case) if case else graph.case, at)
    if name in graph.assumptions:
        return _assumption(graph, graph.assumptions[name], at)
    sink = Sink()
    is_outside = bool(modes) and graph.mode is None
    sink.report(
        codes.UNKNOWN_NAME,
        None,
        f"there is nothing called `{name}` to explain" + " outside of any mode" * is_outside,
        hint=" or ".join(
            hint
            for hint in (
                did_you_mean(name, names(graph)),
                f"ask for a mode: `--set mode={modes[0]}`" if is_outside else None,
            )
            if hint is not None
        )
        or None,
    )
    raise QpsError(sink.found)


_CASES = [case.value for case in ir.Case]


def _varied(graph: LoadGraph, table: CaseTable, case: ir.Case, at: int) -> Explanation:
    """Return a parameter that has several values, in one case, with all of them."""
    name = table.name if case is graph.case else f"{table.name}.{case.value}"
    value = table.rows[-1].values[case]
    if value is None:
        sink = Sink()
        sink.report(
            codes.UNKNOWN_NAME,
            None,
            f"`{table.name}` does not state its {case.value}",
            hint=f"ask for the whole of it, `{table.name}`",
        )
        raise QpsError(sink.found)
    known = graph.assumptions.get(name)
    expr = known.symbol if known else sympy.Rational(value.numerator, value.denominator)
    what = f"a parameter with several values; this is its {case.value}"
    told = _explained(graph, name, what, expr, table.dimension, at)
    rows = tuple(
        ExplainedCase(
            row.kind or ("" if len(table.rows) == 1 else "all"),
            "" if row.share is None else percent(float(row.share)),
            _of_case(row, ir.Case.AVERAGE, table.dimension),
            _of_case(row, ir.Case.LEAST, table.dimension),
            _of_case(row, ir.Case.LARGEST, table.dimension),
            row.place,
            " ".join((table.source or "").split()),
        )
        for row in table.rows
    )
    return replace(told, cases=rows)


def _of_case(row: CaseRow, case: ir.Case, dimension: Dimension) -> str:
    value = row.values[case]
    return "" if value is None else quantity(float(value), dimension)


_COSTS = {"cost": False, "running_cost": True}


def _cost(graph: LoadGraph, name: str, at: int) -> Explanation:
    is_running = _COSTS[name]
    total = graph.cost(is_running=is_running)
    assert total is not None
    parts = [Part(p.place, p.value) for p in graph.prices if p.is_running is is_running]
    what = "what the machines and networks cost, by place"
    if graph.unpriced:
        what += f"; without a price: {', '.join(graph.unpriced)}"
    dimension = MONEY / TIME if is_running else MONEY
    return _explained(graph, name, what, total, dimension, at, parts)


def _throughput(graph: LoadGraph, name: str, at: int) -> Explanation:
    """Return what a link or a network card carries; of several the highest."""
    what = "what is carried, in bit/s"
    of = Measures(graph.resources, graph.streams, graph.prices)
    expr = of.of(ir.Measured(ir.MeasureKind.THROUGHPUT, name.removesuffix(".throughput")))
    return _explained(graph, name, what, expr, DATA_RATE, at, [])


def _group(graph: LoadGraph, name: str, at: int) -> Explanation:
    group = graph.groups[name]
    what = group.doc or "a group: how many users each has"
    told = _explained(graph, name, what, group.members, DIMENSIONLESS, at, (), ())
    there = _explained(graph, name, what, group.count, DIMENSIONLESS, at, (), ())
    counted = (
        ("how many groups", there.formulas[0][1]),
        (f"how many there are at {told.at_text}", number(there.value)),
    )
    return replace(told, formulas=(*told.formulas, *counted))


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
    found += [settled.parameter.name for settled in graph.elastic]
    found += list(graph.groups)
    found += [name for name in graph.varied if name not in graph.assumptions]
    return found + list(graph.assumptions)


def _resource(graph: LoadGraph, resource: ResourceLoad, at: int) -> Explanation:
    parts = [Part(name, load) for name, load in resource.parts.items()]
    what = "load; 1 is saturation"
    if resource.target != 1:
        planned = float(graph.valued(resource.target))
        what = f"load; {percent(planned)} is the target ({formula(resource.target)})"
    explained = _explained(
        graph, f"{resource.name}.load", what, resource.load, DIMENSIONLESS,
        at, parts, unsettled=resource.unsettled, beside=resource.target,
    )  # fmt: skip
    saturation = saturation_text(graph, resource)
    reached = "saturates" if resource.target == 1 else "reaches its target"
    return replace(explained, formulas=(*explained.formulas, (reached, saturation)))


def saturation_text(graph: LoadGraph, resource: ResourceLoad) -> str:
    """Return where a resource saturates, as a formula where there is a readable one."""
    load = graph.valued(resource.fullness)
    found = saturation_of(graph, resource.name)
    if found.not_below is not None:
        known = "" if found.at is None else f", but by {number(found.at, 6)}"
        return f"not below {graph.population} = {found.not_below:,}{known}; else it cannot be told"
    if found.at is None:
        return "never"
    told = f"{graph.population} = {number(found.at, 6)} ({found.method.value})"
    function = as_rational_function(load - 1, graph.population)
    # What cores do together is taken for one symbol, named as it is written.
    opaque = {part: sympy.Symbol(formula(part)) for part in resource.load.atoms(Effective)}
    whole = resource.load.xreplace(opaque)
    if not whole.is_rational_function(*whole.free_symbols):
        return told
    if function is None or len(numerator(function)) != 2:  # noqa: PLR2004 - a linear numerator
        return told
    above, _ = sympy.fraction(sympy.together(whole - resource.target))
    polynomial = sympy.Poly(sympy.expand(above), graph.population)
    if polynomial.degree() != 1:
        return told
    slope, offset = polynomial.all_coeffs()
    return f"{told}: {graph.population} = {formula(sympy.factor(-offset / slope))}"


def _stream(graph: LoadGraph, stream: str, measure: str, at: int) -> Explanation:
    found = graph.streams[stream]
    name = f"{stream}.{measure}"
    scope = (stream, *found.rests_on)
    ways = [*found.latency, *_overloaded(graph, found, at)]
    stages = [Part(part.stage, part.value, scope) for part in ways]
    variances = [Part(j.resource, j.value, (j.resource, *scope)) for j in found.jitter]
    if measure == "latency":
        what = "time from source to user, stage by stage"
        return _explained(graph, name, what, _sum(stages), TIME, at, stages, scope)
    if measure == "jitter":
        what = "variance of the time from source to user, by resource"
        variance = _sum(variances)
        return _explained(graph, name, what, variance, TIME * TIME, at, variances, scope)
    if measure == "buffer":
        what = "what the playout buffer waits for late items"
        return _explained(graph, name, what, found.buffer, TIME, at, (), scope)
    if measure == "queue":
        what = "time that the full queues on the way hold, by queue"
        full = [Part(part.stage, part.value, scope) for part in found.queues]
        return _explained(graph, name, what, found.queue, TIME, at, full, scope)
    if measure in LOSSES:
        kinds = LOSSES[measure]
        what = "share of items lost, at independent stages"
        lost = [
            Part(part.stage, part.value, (part.resource, *scope) if part.resource else scope)
            for part in found.losses
            if part.kind in kinds
        ]
        loss = found.lost_by(*kinds)
        return _explained(graph, name, what, loss, DIMENSIONLESS, at, lost, scope)
    values = {"rate": found.rate, "throughput": found.throughput}
    if measure not in values:
        sink = Sink()
        measures = stream_measures()
        sink.report(
            codes.UNKNOWN_NAME,
            None,
            f"a stream has no `{measure}`",
            hint=did_you_mean(measure, measures) or "there is " + listed(measures, "and"),
        )
        raise QpsError(sink.found)
    what = {"rate": "items/s arriving for each flow",
            "throughput": "bit/s arriving for each flow"}[measure]  # fmt: skip
    is_bits = measure == "throughput" or found.item == INFORMATION_BASE
    dimension = DATA_RATE if is_bits else Dimension.of(found.item) / TIME
    return _explained(graph, name, what, values[measure], dimension, at, (), scope)


_QUANTILE = re.compile(
    r"quantile\((?P<stream>\w+)\.latency,(?P<level>\d*\.?\d+)(?P<hundredths>%?)\)"
)


def _share_of(asked: re.Match[str]) -> sympy.Rational:
    """Return the level of a quantile that is asked for as text."""
    return sympy.Rational(asked["level"]) / (100 if asked["hundredths"] else 1)


def _quantile(graph: LoadGraph, stream: str, share: sympy.Rational, at: int) -> Explanation:
    """Return a quantile of a latency, each wait told apart from the tail of its own service."""
    if not 0 <= share < 1:
        sink = Sink()
        sink.report(
            codes.OUT_OF_RANGE,
            None,
            "the share of a quantile must be at least 0 and below 100 %",
            hint=f"such as `quantile({stream}.latency, 99.9 %)`",
        )
        raise QpsError(sink.found)
    found = graph.streams[stream]
    told = percent(float(share), 8)
    what = f"time that {told} of the items do not exceed"
    scope = (stream, *found.rests_on)
    found = replace(found, endless=tuple(_overloaded(graph, found, at)))
    stages = [
        Part(stage, value, scope)
        for part in found.latency
        for stage, value in quantile_parts(found, part, share)
    ]
    if found.varies:
        resources = ", ".join(part.resource for part in found.added_jitter)
        stages.append(Part(f"jitter of {resources}", found.jitter_quantile(share), scope))
    stages += [Part(part.stage, part.value, scope) for part in found.endless]
    name = f"quantile({stream}.latency, {told})"
    return _explained(graph, name, what, found.latency_quantile(share), TIME, at, stages, scope)


def _overloaded(graph: LoadGraph, stream: StreamMeasures, at: int) -> list[LatencyPart]:
    """Return the endless waits of a stream that are there at a population: most are nothing."""
    put_in = graph.valued_at(at)
    return [part for part in stream.endless if put_in(part.value) == sympy.oo]


def quantile_parts(
    stream: StreamMeasures, part: LatencyPart, level: sympy.Rational
) -> Iterator[tuple[str, sympy.Expr]]:
    """Yield what a stage adds to a quantile: more servers shorten waits, and no service."""
    total, tail = stream.stage_quantile(part, level), stream.own_tail(part, level)
    if part.queue is not None and tail != 0:
        yield f"service at {part.queue.resource} beyond its mean", tail
    yield part.stage, total - tail


def _sum(parts: list[Part]) -> sympy.Expr:
    return sympy.Add(*(part.value for part in parts))


LOSSES = {
    "loss": tuple(LossKind),
    "voluntary_loss": (LossKind.VOLUNTARY,),
    "saturation_loss": (LossKind.SATURATION,),
    "transmission_loss": (LossKind.TRANSMISSION,),
}


def stream_measures() -> list[str]:
    """Return what can be asked of a stream."""
    return ["latency", "jitter", "buffer", "queue", *LOSSES, "rate", "throughput"]


def _assumption(graph: LoadGraph, assumption: Assumption, at: int) -> Explanation:
    what = "a number that the model rests on"
    symbol, dimension = assumption.symbol, assumption.dimension
    return _explained(graph, assumption.name, what, symbol, dimension, at)


def _explained(
    graph: LoadGraph,
    name: str,
    what: str,
    expr: sympy.Expr,
    dimension: Dimension,
    at: int,
    parts: Sequence[Part] = (),
    scope: Sequence[str] = (),
    unsettled: sympy.Expr | None = None,
    beside: sympy.Expr = sympy.S.Zero,
) -> Explanation:
    """Take an expression apart; `unsettled` is the same with elastic parameters still open.

    The numbers of what stands `beside` it are listed, too.
    """
    total = float(graph.valued_at(at)(expr))
    told = partial(quantity, dimension=dimension, share=is_share(name))
    at_text = f"{graph.population} = {at:,}"
    named = unsettled if unsettled is not None else named_whole(graph, expr, scope, parts)
    formulas = [("in symbols", formula(named))]
    free = expr.free_symbols
    if free - {graph.population}:
        formulas.append(("with its numbers", with_numbers(named, graph.assumptions)))
    named_parts = [in_named_measures(graph, part.value, part.scope) for part in parts]
    formulas += elastic_notes(graph, (named, *named_parts), at)
    if graph.population in free:
        formulas.append(_in_population(graph, expr, at, at_text))
    formulas.append((f"at {at_text}", told(total, digits=6)))
    shown = free | beside.free_symbols
    used = [a for a in graph.assumptions.values() if a.symbol in shown]
    return Explanation(
        "qps/explain/1",
        name,
        what,
        at,
        at_text,
        total,
        str(dimension),
        tuple(formulas),
        _parts(parts, named_parts, graph.valued_at(at), total, told),
        tuple(
            ExplainedNumber(a.name, a.text, a.span.place, " ".join((a.source or "").split()))
            for a in used
        ),
    )


_READABLE = 160
"""Characters of a formula, beyond which a piece of it tells more."""


def _in_population(graph: LoadGraph, expr: sympy.Expr, at: int, at_text: str) -> tuple[str, str]:
    """Return an expression in the population alone; where it is long, the piece that holds now."""
    whole = in_population(expr, graph.values)
    if len(whole) > _READABLE:
        piece = piece_at(expr.xreplace(graph.values), graph.population, Fraction(at))
        if piece is not None:
            return f"in {graph.population}, around {at_text}", in_population(piece, {})
    return f"in {graph.population}", whole


def _parts(
    parts: Sequence[Part],
    named: Sequence[sympy.Expr],
    put_in: Substitution,
    total: float,
    told: Callable[[float], str],
) -> tuple[ExplainedPart, ...]:
    """Return the parts of a number; their shares only where they add up to it."""
    values = [float(put_in(part.value)) for part in parts]
    adds_up = total != 0 and isclose(sum(values), total)
    return tuple(
        ExplainedPart(
            part.name,
            told(value),
            percent(value / total) if adds_up else "",
            formula(shown),
        )
        for part, shown, value in zip(parts, named, values, strict=True)
    )
