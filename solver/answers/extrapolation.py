"""Where costs are used beyond what was measured: at other loads and rates, with other sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from math import ceil, inf

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import Calibration, LoadGraph
from qps.compiler.lower.requirements.waiting_measures import stations_in
from qps.compiler.measurement.cost_products import RATE
from qps.compiler.measurement.fit_terms import Factor, FittedCurve
from qps.compiler.measurement.leverage import relative_uncertainty
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.quantities.dimension import DIMENSIONLESS, INFORMATION_BASE, Dimension
from qps.compiler.quantities.scales import with_unit
from qps.solver.answers.far_loads import definite

_RATE = 1.5
"""By how much a rate may pass the highest one that was measured.

A machine that was loaded by two thirds is evaluated at saturation: that far a line is
drawn on by every plan.
"""

_SIZE = 1.25
"""By how much a size may leave the range in which it was measured: both ends are on a line."""

_MOST_UNCERTAIN = 2.0
"""By how much less sure a fit may be than of any of its rows, where no rate is beyond by itself.

Of a line through evenly spaced rates it is about 1.7 times at one and a half times the highest.
"""

_PEAK = 0.95
"""Part of the peak speed below which more items at once are reported: they slow each other."""

_NO_KNEE = "; intervals expect a gradual change there, as in other tables, and no knee"
_BYTE = 8


class ExtrapolatedKind(Enum):
    """What is beyond: a rate, the size of an item, a factor, all rates, or how many there are.

    Of those that are there, more than were measured, or than there were at the peak throughput.
    """

    RATE = "rate"
    SIZE = "size"
    FACTOR = "factor"
    MIX = "mix"
    PRESENT = "present"
    PEAK = "peak"


class Extrapolation(Struct, frozen=True, kw_only=True):
    """The demand at a population, and between which values it was measured.

    `item` is what is counted, in a `column`: its rate, or its size in bytes. Of a mix, `item` names
    all of them, and `specified` is the uncertainty of the fit there, as a multiple of that of its
    rows.
    """

    span: Span
    component: str
    resource: str
    file: str
    item: str
    column: str
    kind: ExtrapolatedKind
    specified: float
    low: float
    high: float
    unit: str = ""

    @property
    def times(self) -> float:
        """By how much it lies beyond."""
        has_least = self.kind in (ExtrapolatedKind.SIZE, ExtrapolatedKind.FACTOR)
        return max(
            _times(self.specified, self.high),
            _times(self.low, self.specified) if has_least else 0.0,
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What is the same for the same question at another population."""
        return self.span, self.resource, self.item, self.kind


def beyond_measured(graph: LoadGraph, population: int) -> Iterator[Extrapolation]:
    """Yield what fitted costs are requested at a population beyond what was measured."""
    for found in graph.analysis.calibrations:
        if found.station is not None:
            yield from _present(graph, found, found.station, population)
        if found.fit is None:
            continue
        point = graph.at(population)
        rates = {item: definite(point.number(rate)) for item, rate in found.rates.items()}
        factors = {name: definite(point.number(value)) for name, value in found.factors.items()}
        alone = [*_rates(found, rates), *_sizes(found, rates), *_factors(found, factors)]
        yield from alone or _mixes(found, rates, factors)


def _present(
    graph: LoadGraph, found: Calibration, station: StationFit, population: int
) -> Iterator[Extrapolation]:
    """Yield a station at which more items are than clients were measured, or had the peak."""
    law, most = station.law, station.table.most
    speeds = [law.speed(count) for count in range(1, most + 1)]
    peak = max(range(most), key=speeds.__getitem__) + 1
    limits = [(ExtrapolatedKind.PRESENT, most)]
    if speeds[-1] < _PEAK * speeds[peak - 1]:
        limits.append((ExtrapolatedKind.PEAK, peak))
    for one in stations_in(graph.analysis.streams.values(), [found.resource]):
        present = definite(graph.at(population).number(one.number))
        for kind, limit in limits:
            slowed = present > peak and law.speed(min(ceil(present), most)) < _PEAK * max(speeds)
            if present > limit and (kind is ExtrapolatedKind.PRESENT or slowed):
                yield Extrapolation(
                    span=found.span,
                    component=found.component,
                    resource=found.resource,
                    file=station.table.file,
                    item=station.table.item,
                    column=station.table.by,
                    kind=kind,
                    specified=present,
                    low=float(min(station.table.clients)),
                    high=float(limit),
                )


def _rates(found: Calibration, values: dict[str, float]) -> Iterator[Extrapolation]:
    assert found.fit is not None
    terms = {term.item: term for term in found.fit.terms} if found.is_on_measured else {}
    for term in terms.values():
        rate, high = values.get(term.item, 0.0), float(term.high)
        if high and rate > high * _RATE:
            scale = _BYTE if term.item == INFORMATION_BASE else 1
            yield _beyond(found, term.item, rate / scale, float(term.low) / scale, high / scale)


def _sizes(found: Calibration, values: dict[str, float]) -> Iterator[Extrapolation]:
    assert found.fit is not None
    for size in found.fit.sizes:
        items, bits = values.get(size.item, 0.0), values.get(INFORMATION_BASE, 0.0)
        low, high = float(size.low), float(size.high)
        if items > 0 and bits > 0 and high > 0:
            is_beyond = bits > items * high * _SIZE or bits * _SIZE < items * low
            if is_beyond:
                of = (bits / items / _BYTE, low / _BYTE, high / _BYTE)
                yield _beyond(found, size.item, *of, kind=ExtrapolatedKind.SIZE)


def _factors(found: Calibration, values: dict[str, float]) -> Iterator[Extrapolation]:
    """Yield the columns that multiply rates, where they are beyond those of the table."""
    assert found.fit is not None
    known: dict[str, Factor | FittedCurve] = {curve.name: curve for curve in found.fit.curves}
    known |= {factor.name: factor for term in found.fit.terms for factor in term.factors}
    for name, factor in known.items():
        value, low, high = values.get(name, 0.0), float(factor.low), float(factor.high)
        most = _RATE if name == RATE else _SIZE
        if value > high * most or value * most < low:
            scale, unit = _shown_in(factor.dimension)
            of = (value / scale, low / scale, high / scale)
            beyond = _beyond(found, name, *of, kind=ExtrapolatedKind.FACTOR)
            yield replace(beyond, column=name, unit=unit)


def _shown_in(dimension: Dimension) -> tuple[float, str]:
    """Return how many base units a value is shown in, and that unit."""
    if dimension == Dimension.of(INFORMATION_BASE):
        return _BYTE, "byte"
    return 1.0, "" if dimension == DIMENSIONLESS else str(dimension)


def _mixes(
    found: Calibration, values: dict[str, float], factors: dict[str, float]
) -> Iterator[Extrapolation]:
    fit = found.fit
    assert fit is not None
    if len(fit.terms) > 1 and found.is_on_measured:
        unsure = relative_uncertainty(fit, values, factors)
        if unsure > _MOST_UNCERTAIN:
            words = dict.fromkeys(f"{_word(term.item)}/s" for term in fit.terms)
            items = " and ".join([*words, *factors])
            yield _beyond(found, items, unsure, 0.0, 1.0, kind=ExtrapolatedKind.MIX)


def _beyond(
    found: Calibration,
    item: str,
    values: float,
    low: float,
    high: float,
    *,
    kind: ExtrapolatedKind = ExtrapolatedKind.RATE,
) -> Extrapolation:
    assert found.fit is not None
    columns = [term.column for term in found.fit.terms if term.item == item]
    return Extrapolation(
        span=found.span,
        component=found.component,
        resource=found.resource,
        file=found.fit.file,
        item=item,
        column=columns[0] if columns else item,
        kind=kind,
        specified=values,
        low=low,
        high=high,
    )


def _times(value: float, end: float) -> float:
    """Return how many times as large a value is as an end of what was measured."""
    return value / end if end else (inf if value > 0 else 0.0)


def farthest(found: Iterable[Extrapolation]) -> tuple[Extrapolation, ...]:
    """Return of each question the one that goes farthest beyond what was measured."""
    farthest_by_item: dict[tuple[object, ...], Extrapolation] = {}
    for one in found:
        if one.key not in farthest_by_item or one.times > farthest_by_item[one.key].times:
            farthest_by_item[one.key] = one
    return tuple(farthest_by_item.values())


def report_beyond(found: Iterable[Extrapolation], sink: Sink) -> None:
    """Warn of demands beyond what was measured, and say by how much and what to do."""
    for one in found:
        if one.kind is ExtrapolatedKind.PEAK:
            _report_past_peak(one, sink)
            continue
        fix = (
            "add a similar run to the table, or specify the uncertainty with "
            f"`{one.component} * trust.same_load` of `std.trust`"
        )
        sink.add(
            Diagnostic(
                code=codes.BEYOND_MEASURED,
                message=_message(one),
                primary=Label(one.span, ""),
                hints=(f"{_how_far(one)}: {fix}",),
                details=(
                    ("component", one.component),
                    ("resource", one.resource),
                    ("file", one.file),
                    ("column", one.column),
                    ("kind", one.kind.value),
                    ("unit", _unit(one)),
                    ("value", one.specified),
                    ("low", one.low),
                    ("high", one.high),
                    ("times", one.times),
                ),
            )
        )


def _report_past_peak(one: Extrapolation, sink: Sink) -> None:
    """Warn of more items at once than at the peak throughput, and say what to do."""
    sink.report(
        codes.PAST_PEAK,
        one.span,
        f"{_plain(one.specified)} {one.item}s at once are at {one.resource} for "
        f"`{one.component}`, more than the {_plain(one.high)} of the peak throughput "
        f"(`{one.file}`): throughput falls",
        hint=f"limit them to {_plain(one.high)}, for example by a pool around the step; "
        f"`qps fit {one.file} --by {one.column}` shows the loss",
    )


def _message(one: Extrapolation) -> str:
    if one.kind is ExtrapolatedKind.MIX:
        return (
            f"`{one.component}` runs with a combination of {one.item} at {one.resource} "
            f"that no row of `{one.file}` has"
        )
    value, low, high = map(_plain, (one.specified, one.low, one.high))
    if one.kind is ExtrapolatedKind.PRESENT:
        return (
            f"{value} {one.item}s wait at {one.resource} for `{one.component}`, but at most {high} "
            f"{one.column} were measured (`{one.file}`)"
        )
    if one.kind is ExtrapolatedKind.FACTOR:
        return (
            f"`{one.component}` runs with `{one.column}` = {with_unit(value, one.unit)} at "
            f"{one.resource}, but {low} to {high} were measured (`{one.file}`)"
        )
    measured = (
        f"{low} to {high} were" if one.kind is ExtrapolatedKind.SIZE else f"at most {high} were"
    )
    return (
        f"`{one.component}` runs with {with_unit(value, _unit(one))} at {one.resource}, but "
        f"{measured} measured (`{one.file}`)"
    )


def _how_far(one: Extrapolation) -> str:
    """Return by how much something lies beyond, and what that does."""
    times = f"{one.times:.3g} times"
    match one.kind:
        case ExtrapolatedKind.MIX:
            return f"the fit is {times} as uncertain there as at any row"
        case ExtrapolatedKind.PRESENT:
            return (
                f"that is {times} the largest number in column `{one.column}`; beyond it, the "
                "model assumes the last measured speed"
            )
        case ExtrapolatedKind.SIZE | ExtrapolatedKind.FACTOR if one.specified < one.low:
            return f"the smallest measured value is {times} as large{_NO_KNEE}"
        case ExtrapolatedKind.SIZE | ExtrapolatedKind.FACTOR:
            return f"that is {times} the largest measured value{_NO_KNEE}"
    return (
        f"that is {times} the largest value of column `{one.column}`; intervals assume a "
        "linear trend"
    )


def _unit(one: Extrapolation) -> str:
    match one.kind:
        case ExtrapolatedKind.FACTOR:
            return one.unit
        case ExtrapolatedKind.SIZE:
            return f"byte/{_word(one.item)}"
        case ExtrapolatedKind.RATE:
            return f"{_word(one.item)}/s"
    return ""


def _word(item: str) -> str:
    return "byte" if item == INFORMATION_BASE else item


def _plain(value: float) -> str:
    """Return a number with four digits, thousands apart.

    >>> _plain(712_345_678.0), _plain(59.96)
    ('712,300,000', '59.96')
    """
    return f"{float(f'{value:.4g}'):,.12g}"
