"""Replications on all cores, longer and longer, until their intervals are narrow enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.simulation.run_lengths import lengths_of
from qps.simulation.simulated_model import SimulatedNetwork
from qps.simulation.single_run import LEVELS, RunResult, SimulationRun, WaitRun
from qps.simulation.statistics import Estimate, estimate, warm_up
from qps.worker_processes import Workers, cores

RUNS = 20
MOST_ITEMS = 20_000_000
"""Each takes 16 bytes of memory."""
_PARTS = 50
_LEAST_CUT, _MOST_CUT = 0.1, 0.5


class Effort(Struct, frozen=True, kw_only=True):
    """How much is played: until means are known to a share, or for so many seconds."""

    precision: float = 0.02
    seconds: float = 60.0
    seed: int = 1
    workers: int = 0
    """So many processes; 0 for as many as there are cores."""
    runs: int = RUNS
    levels: tuple[float, ...] = LEVELS
    measures: tuple[ir.Measured, ...] = ()
    """The waits, and the shares of items by a time, that are compared with predictions."""

    @property
    def limits(self) -> tuple[float, ...]:
        """The times by which items are distinguished, in s."""
        found = (float(one.times.seconds) for one in self.measures if one.times is not None)
        return tuple(sorted(set(found)))


class StreamEstimates(Struct, frozen=True, kw_only=True):
    """The results of all runs for a stream; None where too few items came."""

    items: int
    mean: Estimate | None
    quantiles: dict[float, Estimate]
    lost: dict[str, Estimate]
    rate: Estimate
    """Items a second that arrive, for one flow."""
    waits: WaitEstimates
    later: dict[float, Estimate]
    """The share of items that takes longer than each time, in s."""


class WaitEstimates(Struct, frozen=True, kw_only=True):
    """The waits in all runs, of a stream or at a station; None where too few items came."""

    items: int
    mean: Estimate | None
    many: Estimate
    quantiles: dict[float, Estimate]
    later: dict[float, Estimate]


class Simulation(Struct, frozen=True, kw_only=True):
    """The result of a simulation."""

    network: SimulatedNetwork
    streams: dict[str, StreamEstimates]
    loads: dict[str, Estimate]
    stations: dict[str, WaitEstimates]
    """The waits at stations for which they are requested."""
    measures: tuple[ir.Measured, ...]
    is_precise: bool
    runs: int
    length: float
    """Of each run, in s of the model, with what is cut off."""
    cut: float
    has_converged: bool = True
    """Whether it was simulated for the shortest time that shows anything."""


Tick = Callable[[], None]
"""Is called again and again while it is played."""
Progress = Callable[[float], None]
"""Receives the share of the work that is done."""
Runs: TypeAlias = Callable[[str, float, float | None], list[Any]]
"""Does one thing with every run, and returns what each answers, in the order of the runs."""


def simulate(
    network: SimulatedNetwork,
    effort: Effort,
    on_progress: Progress | None = None,
    is_enough: Callable[[Simulation], bool] = lambda simulation: simulation.is_precise,
) -> Simulation:
    """Play, with lengths that double, until it is known precisely enough or the time is over.

    In no time the same is played on every machine: what most need to show anything.
    """
    begin = monotonic()
    deadline = begin + effort.seconds
    lengths = lengths_of(network)
    length = lengths.first if effort.seconds else lengths.fair

    def tick() -> None:
        if on_progress is not None and effort.seconds:
            on_progress(min(1.0, (monotonic() - begin) / effort.seconds))

    with _runs(network, effort, tick) as runs:
        found: Simulation | None = None
        while found is None or not is_enough(found):
            # What comes first is played to its end: without it nothing could be determined.
            results = runs("advance", length, None if found is None else deadline)
            if not all(results):
                break
            cut = _cut(network, runs)
            found = _result(network, effort, runs("result", cut, None), length, cut)
            if effort.seconds and _length_of(network, length) < lengths.least * (1 - 1e-9):
                found = replace(found, has_converged=False, is_precise=False)
            is_large = sum(stream.items for stream in found.streams.values()) > MOST_ITEMS // 2
            if monotonic() > deadline or is_large:
                break
            length *= 2
    assert found is not None
    return found


def _length_of(network: SimulatedNetwork, precision: float) -> float:
    """Return the length of a run that is to be so long: of episodes at least one is played."""
    return precision if network.episode is None else max(precision, sum(network.episode))


def _cut(network: SimulatedNetwork, runs: Runs) -> float:
    if network.episode is not None:
        return 0.0
    series: list[dict[str, list[float]]] = runs("series", _PARTS, None)
    cuts = [warm_up([one[name] for one in series], _LEAST_CUT, _MOST_CUT) for name in network.flows]
    return max(cuts, default=_LEAST_CUT)


def _result(
    network: SimulatedNetwork, effort: Effort, runs: Sequence[RunResult], length: float, cut: float
) -> Simulation:
    streams = {name: _stream(name, network, runs) for name in network.flows}
    loads = {
        station.name: estimate([run.loads[station.name] for run in runs])
        for station in network.stations
    }
    known = [stream.mean for stream in streams.values()]
    return Simulation(
        network=network,
        streams=streams,
        loads=loads,
        stations={name: _waits([run.stations[name] for run in runs]) for name in runs[0].stations},
        measures=effort.measures,
        is_precise=all(one is not None and _is_precise(one, effort.precision) for one in known)
        and all(_is_precise(one, effort.precision) for one in loads.values()),
        runs=len(runs),
        length=length,
        cut=cut,
    )


def _is_precise(one: Estimate, precision: float) -> bool:
    """Return whether an interval is within a share of the estimate."""
    return one.half_width() <= precision / (1 + precision) * abs(one.mean)


def _stream(name: str, network: SimulatedNetwork, runs: Sequence[RunResult]) -> StreamEstimates:
    own = [run.streams[name] for run in runs]
    levels = [level for level in own[0].quantiles if all(level in one.quantiles for one in own)]
    return StreamEstimates(
        items=sum(one.items for one in own),
        mean=estimate([one.mean for one in own]) if all(one.items for one in own) else None,
        quantiles={level: estimate([one.quantiles[level] for one in own]) for level in levels},
        lost={kind: estimate([one.lost[kind] for one in own]) for kind in own[0].lost},
        rate=estimate([one.rate / network.flows[name] for one in own]),
        waits=_waits([one.waits for one in own]),
        later=_each([one.later for one in own]),
    )


def _waits(own: Sequence[WaitRun]) -> WaitEstimates:
    return WaitEstimates(
        items=sum(one.items for one in own),
        mean=estimate([one.mean for one in own]) if all(one.items for one in own) else None,
        many=estimate([one.many for one in own]),
        quantiles=_each([one.quantiles for one in own]),
        later=_each([one.later for one in own]),
    )


def _each(own: Sequence[dict[float, float]]) -> dict[float, Estimate]:
    """Return an estimate of each number that all runs have."""
    known = [key for key in own[0] if all(key in one for one in own)]
    return {key: estimate([one[key] for one in own]) for key in known}


# -- who plays -----------------------------------------------------------------------------


class _SomeRuns:
    """Some runs in one process."""

    def __init__(
        self,
        network: SimulatedNetwork,
        effort: Effort,
        numbers: Sequence[int],
        tick: Tick | None = None,
    ) -> None:
        self._tick = tick
        observed = frozenset(one.subject for one in effort.measures)
        self._runs = [
            SimulationRun(
                network=network,
                seed=effort.seed,
                number=number,
                levels=effort.levels,
                limits=effort.limits,
                observed=observed,
            )
            for number in numbers
        ]

    def __call__(self, what: str, value: float, deadline: float | None) -> list[Any]:
        """Do one thing with every run."""

        def is_late() -> bool:
            if self._tick is not None:
                self._tick()
            return deadline is not None and monotonic() > deadline

        if what == "advance":
            done = []
            for run in self._runs:
                done.append(run.advance(value, _PARTS, is_late))
                if not done[-1]:
                    break
            return done
        if what == "series":
            return [run.series(int(value)) for run in self._runs]
        return [run.result(value) for run in self._runs]


@contextmanager
def _runs(network: SimulatedNetwork, effort: Effort, tick: Tick) -> Iterator[Runs]:
    """Give all runs, dealt out in turn to several processes where there is more than one core."""
    count = min(effort.workers or cores(), effort.runs)
    if count == 1:
        yield _SomeRuns(network, effort, range(effort.runs), tick)
        return
    makers = [
        partial(_SomeRuns, network, effort, range(worker, effort.runs, count))
        for worker in range(count)
    ]
    with Workers(makers) as processes:

        def in_order(what: str, value: float, deadline: float | None) -> list[Any]:
            answers = processes.each(what, value, deadline, tick=tick)
            found: list[Any] = []
            for run in range(effort.runs):
                own = answers[run % count]
                found.append(own[run // count] if run // count < len(own) else False)
            return found

        yield in_order
