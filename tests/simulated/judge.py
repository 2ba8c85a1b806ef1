"""Generated specs, played and judged: which labels are wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from hashlib import sha256
from math import inf, isfinite
from time import monotonic, process_time

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.compiler.quantities.measured_errors import ErrorAxis, ErrorQuantity
from qps.simulation.agreement import (
    NumberComparison,
    PredictionVerdict,
    compare,
    compared,
    predictions,
)
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import RUNS, Effort, Simulation, simulate
from qps.simulation.run_lengths import lengths_of
from qps.simulation.simulated_model import SimulatedNetwork
from qps.simulation.simulated_waits import measure_text, waiting_measures
from qps.simulation.single_run import LEVELS
from simulated.bands import bands_of
from simulated.generated import spec_of
from simulated.records import Model, Number, Play

_SCREENED = 20
"""How many comparisons of one screening are taken as one test each at 1 of 1,000."""
_CONFIRMED = 100_000
"""So many comparisons a wrong one must stand out of, before playing it once more may end."""
_NEARLY_FULL = 0.97
_LONGEST = 3600.0
"""So many seconds at most for one play, however slow the machine is."""
_TO_SETTLE, _AGAIN = 30, 6
"""So many times as long what settles by then is played, and what seems wrong."""
_NEAR, _NEARER, _NO_NEARER = 0.02, 0.005, 0.05
_JUST_AS_LONG = 1e-4
"""Percentiles that are known to such a part of them are a time that many items take."""
_SEEN_OFTEN = ("latency", "p50", "p95", "rate", "load", "loss")
"""How well these are known decides how long it is played."""


class Judged(Struct, frozen=True, kw_only=True):
    """What became of one spec: its numbers, and which seem wrong after all; or refused."""

    seed: int
    numbers: tuple[Number, ...] = ()
    refused: str | None = None

    @property
    def compared(self) -> int:
        """How many numbers were compared."""
        return len(self.numbers)

    def wrong(self, tests: int) -> list[Number]:
        """Return the numbers that are wrong, among so many comparisons in all."""
        return [
            one
            for one in self.numbers
            if one.again is not None and one.verdict(tests) is PredictionVerdict.DIFFERS
        ]


def graph_of(text: str) -> LoadGraph:
    """Return the load graph of a spec without mistakes."""
    return _lowered(_checked(text))


def _checked(text: str) -> ir.Model:
    outcome = check_source(Source("generated.qps", text))
    if outcome.value is None:
        raise QpsError(outcome.diagnostics)
    return outcome.value.model


def _lowered(model: ir.Model) -> LoadGraph:
    return lower(model, base_configuration(model))


def model_of(seed: int, seconds: float, only: str = "") -> Model:
    """Return what becomes of a seed, of one kind `only`: a fault of ours is reported, too."""
    begin, text = monotonic(), spec_of(seed, only)
    kind = text[3 : text.index('"', 3)]
    known = Model(seed=seed, kind=kind, text=sha256(text.encode()).hexdigest()[:12])
    try:
        found = judge_text(text, seed, seconds)
    except Exception as fault:  # noqa: BLE001 - a fault of ours, in one of many models
        known = replace(known, fault=f"{type(fault).__name__}: {fault}"[:300])
    else:
        known = replace(known, numbers=found.numbers, refused=found.refused)
    return replace(known, seconds=round(monotonic() - begin, 2))


def labels_of(seed: int, before: Model | None = None, only: str = "") -> Model:
    """Return what is predicted of a seed, and how it is known, with what was played `before`."""
    text = spec_of(seed, only)
    known = Model(seed=seed, text=sha256(text.encode()).hexdigest()[:12])
    try:
        model = _checked(text)
        graph = _lowered(model)
        ready = simulated_model(graph, 1)
        known = replace(known, numbers=tuple(_predicted(model, graph, ready)))
        if before is None:
            return known
        known = known.with_plays_of(before)
        return replace(known, numbers=(*known.numbers, *_shares(graph, ready, known.numbers)))
    except QpsError as refused:
        known = replace(known, refused=refused.diagnostics[0].message)
    except Exception as fault:  # noqa: BLE001 - a fault of ours, in one of many models
        known = replace(known, fault=f"{type(fault).__name__}: {fault}"[:300])
    return known if before is None else known.with_plays_of(before)


def _shares(
    graph: LoadGraph, ready: SimulatedNetwork, numbers: Sequence[Number]
) -> Iterator[Number]:
    """Yield which share of a stream is predicted to take longer than percentiles that were played.

    What is left beyond these is known. Where many take just as long it is not.
    """
    point = graph.at(ready.population)
    for one in numbers:
        stream, play = graph.streams.get(one.subject), one.last
        if one.quantity != "quantile" or stream is None or play is None or not play.error:
            continue
        if play.error < _JUST_AS_LONG * play.mean:
            continue
        try:
            ends = [play.mean - play.error, play.mean, play.mean + play.error]
            most, share, least = (
                point.number(stream.later(Fraction(max(0.0, end)))) for end in ends
            )
            shares = (share,) * len(stream.doubts.points)
            known = stream.share_certainty(ErrorQuantity.SHARE_BEYOND, shares)
        except QpsError:
            continue
        left = 1 - Fraction(one.measure.removeprefix("p")) / 100
        measure = f"latency > {play.mean:.6g} s"
        found = _number(graph, one.subject, measure, share, known)
        off = Play(float(left), abs(most - least) / 2, play.runs, play.items)
        yield replace(found, played=off, bands=one.bands)


def _predicted(model: ir.Model, graph: LoadGraph, ready: SimulatedNetwork) -> Iterator[Number]:
    point = graph.at(ready.population)
    for name in ready.flows:
        for one in predictions(graph.streams[name], LEVELS):
            if one.is_shown:
                value = point.number(one.formula)
                yield _number(graph, name, one.measure, value, one.known)
    for station in ready.stations:
        resource = graph.resources[station.name]
        yield _number(graph, station.name, "load", point.number(resource.load), resource.known)
    measures = Measures.of_graph(graph)
    for one in waiting_measures(model):
        value = point.number(measures.of(one))
        yield _number(graph, one.subject, measure_text(one), value, measures.known(one))


def _number(
    graph: LoadGraph, subject: str, measure: str, predicted: float, known: Certainty
) -> Number:
    return Number(
        point=_point_of(graph, subject),
        calls_rarely=subject in graph.streams and graph.streams[subject].doubts.calls_rarely,
        subject=subject,
        measure=measure,
        predicted=predicted,
        kind=known.kind,
        error=known.error,
        why=tuple(dict.fromkeys(reason.method for reason in known.because)),
    )


def _point_of(graph: LoadGraph, subject: str) -> dict[ErrorAxis, float]:
    """Return the operating point of what is told of a stream, or of a resource."""
    if subject in graph.streams:
        return dict(next(iter(graph.streams[subject].doubts.points), {}))
    rest_on = (one.doubts.rests_on for one in graph.streams.values())
    places = frozenset({subject}).union(*(one for one in rest_on if subject in one))
    point = graph.at(graph.low)
    loads = [point.number(one.load) for n, one in graph.resources.items() if n in places]
    return {ErrorAxis.UTILIZATION: max(loads, default=0.0)}


def judge(seed: int, seconds: float, runs: int = RUNS) -> Judged:
    """Play a spec; what seems wrong is played again, longer and with other numbers by chance.

    In no seconds the least is played that tells something, the same on every machine.
    """
    return judge_text(spec_of(seed), seed, seconds, runs)


def judge_text(text: str, seed: int, seconds: float, runs: int = RUNS) -> Judged:
    """Do the same with any spec."""
    try:
        model = _checked(text)
        graph = _lowered(model)
        ready = simulated_model(graph, 1)
    except QpsError as refused:
        return Judged(seed=seed, refused=refused.diagnostics[0].message)
    longest = _LONGEST if seconds else 0.0
    measures = waiting_measures(model)
    effort = Effort(seconds=longest, seed=seed, workers=1, runs=runs, measures=measures)
    simulated = simulate(ready, effort, is_enough=_until(graph, _is_clear, seconds))
    if not simulated.has_converged:
        return Judged(seed=seed, refused="too slow to settle while it is played")
    first = compared(graph, simulated)
    endless = {one.name for one in ready.stations if one.room == inf}
    full = next((one for one in first if one.subject in endless and _is_full(graph, one)), None)
    if full is not None:
        return Judged(seed=seed, refused=f"{full.subject} is full, as its label allows")
    suspects = {
        (one.subject, one.measure)
        for one in compare(first, _SCREENED)
        if one.verdict is PredictionVerdict.DIFFERS
    }
    again: dict[tuple[str, str], Play] = {}
    if suspects:

        def is_sure(one: NumberComparison) -> bool:
            return (one.subject, one.measure) not in suspects or _is_sure(one)

        again_runs = runs if seconds else 3 * runs
        longer = replace(effort, seed=2 * 10**6 + seed, runs=again_runs)
        more = simulate(ready, longer, is_enough=_until(graph, is_sure, _AGAIN * seconds))
        if not more.has_converged:
            return Judged(seed=seed, refused="too slow to settle while it is played")
        again = {
            (one.subject, one.measure): _play(one)
            for one in compared(graph, more)
            if (one.subject, one.measure) in suspects
        }
    numbers = tuple(
        replace(
            _number(graph, one.subject, one.measure, one.predicted, one.known),
            played=_play(one),
            again=again.get((one.subject, one.measure)),
            bands=bands_of(ready, simulated, one.subject),
        )
        for one in first
        if one.criterion is None
    )
    return Judged(seed=seed, numbers=(*numbers, *_shares(graph, ready, numbers)))


def _play(one: NumberComparison) -> Play:
    simulated = one.simulated
    return Play(simulated.mean, simulated.error, simulated.runs, one.items)


# -- how long it is played -----------------------------------------------------------------


def _until(
    graph: LoadGraph, is_clear: Callable[[NumberComparison], bool], seconds: float
) -> Callable[[Simulation], bool]:
    """Return what says whether all comparisons are clear, so that no more need be played.

    Nor need it be where so many seconds of processor are used up, or will be by as much again. What
    has not settled by then gets more of them, unless it would not even settle in these.
    """
    begin = process_time()

    def is_enough(result: Simulation) -> bool:
        used = process_time() - begin
        if not result.has_converged:
            whole = lengths_of(result.network).least / result.length
            return used * whole > _TO_SETTLE * seconds
        if 2 * used > seconds:
            return True
        return all(map(is_clear, compare(compared(graph, result), _SCREENED)))

    return is_enough


def _is_clear(one: NumberComparison) -> bool:
    """Return whether playing longer would hardly tell more of a number.

    What differs is played again anyhow. What is told on the right side of a bound, and what is
    well within its error, is so however long it is played.
    """
    if one.measure not in _SEEN_OFTEN or one.criterion is not None:
        return True
    truth, off = one.simulated.mean, abs(one.predicted - one.simulated.mean)
    if one.verdict is PredictionVerdict.DIFFERS or not isfinite(one.predicted):
        return True
    if (
        one.known.kind in (CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND)
        and off > one.within
    ):
        return True
    if one.known.kind is CertaintyKind.APPROXIMATION:
        error = one.known.error
        if error is None:
            return one.within <= _NO_NEARER * abs(truth)
        if off + one.within <= error * abs(truth):
            return True
    if one.measure == "loss":
        return one.within <= max(0.002, _NO_NEARER * truth)
    return one.within <= _NEAR * abs(truth)


def _is_sure(one: NumberComparison) -> bool:
    """Return whether what seemed wrong is so, among very many, or is not after all."""
    (sure,) = compare((one,), _CONFIRMED)
    return sure.verdict is PredictionVerdict.DIFFERS or sure.within <= _NEARER * abs(
        one.simulated.mean
    )


def _is_full(graph: LoadGraph, one: NumberComparison) -> bool:
    """Return whether a load is played full that may be so by the error that its label states.

    What is exact beside it is so as long as it gets through there. A load that its label keeps
    from being full is judged as all else is; so are users who wait for their answer, who fill what
    they wait for without an end of it, and what has room for few.
    """
    if one.measure != "load" or graph.resources[one.subject].open_load is not None:
        return False
    if one.known.kind is not CertaintyKind.APPROXIMATION or one.predicted >= 1:
        return False
    may_be = one.known.error is None or one.predicted * (1 + one.known.error) >= 1
    return may_be and one.simulated.mean + one.within > _NEARLY_FULL


def wrong_ones(found: Sequence[Model]) -> Iterator[tuple[Model, Number]]:
    """Yield what is wrong, among all comparisons of these models together."""
    tests = sum(len(one.numbers) for one in found)
    for model in found:
        for one in model.numbers:
            if one.again is not None and one.verdict(tests) is PredictionVerdict.DIFFERS:
                yield model, one
