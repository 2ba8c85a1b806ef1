"""Generated specs, played and judged: which labels are wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import Kind
from qps.simulation.agreement import Compared, Verdict, compared, judged
from qps.simulation.crew import RUNS, Effort, simulate
from qps.simulation.playing import played
from simulated.generated import spec_of

_SCREENED = 20
"""How many comparisons of one screening are taken as one test each at 1 of 1,000."""
_NEARLY_FULL = 0.97
_NAMED = r"`[^`]*`((, `[^`]*`)* and `[^`]*`)?"
"""One or several names of a spec."""


class Wrong(Struct, frozen=True):
    """A prediction that is off by more than its label allows."""

    seed: int
    one: Compared

    def __str__(self) -> str:
        one, told = self.one, self.one.simulated
        return (
            f"model {self.seed}: {one.subject}.{one.measure} is told {one.predicted:.6g} "
            f"({one.known.kind.value}), played {told.mean:.6g} ± {one.within:.2g}"
        )


class Approximated(Struct, frozen=True, kw_only=True):
    """How far off an approximation is, as parts of what was played: at least, and as it seems.

    `what` are its reasons without the names of the spec.
    """

    seed: int
    measure: str
    what: tuple[str, ...]
    error: float | None
    least: float
    ratio: float


class Judged(Struct, frozen=True, kw_only=True):
    """What became of one spec: how many numbers were compared, which are wrong; or refused."""

    seed: int
    compared: int = 0
    wrong: tuple[Wrong, ...] = ()
    approximated: tuple[Approximated, ...] = ()
    refused: str | None = None


def graph_of(text: str) -> LoadGraph:
    """Return the load graph of a spec without mistakes."""
    outcome = check_source(Source("generated.qps", text))
    if outcome.value is None:
        raise QpsError(outcome.diagnostics)
    return lower(outcome.value.model, base_configuration(outcome.value.model))


def judge(seed: int, models: int, seconds: float, runs: int = RUNS) -> Judged:
    """Play a spec; what seems wrong is played again, longer and with other numbers by chance.

    Of all models together, one in a hundred judgements of models that are right is wrong. In no
    seconds the least is played that tells something, the same on every machine.
    """
    return judge_text(spec_of(seed), seed, models, seconds, runs)


def judge_text(text: str, seed: int, models: int, seconds: float, runs: int = RUNS) -> Judged:
    """Do the same with any spec."""
    try:
        graph = graph_of(text)
        ready = played(graph, 1)
    except QpsError as refused:
        return Judged(seed=seed, refused=refused.diagnostics[0].message)
    effort = Effort(precision=0.01, seconds=seconds, seed=seed, workers=1, runs=runs)
    longer = replace(effort, precision=0.001, seconds=8 * seconds, seed=10**6 + seed)
    told = simulate(ready, effort)
    if not told.has_settled:
        told = simulate(ready, replace(longer, precision=0.01))
        longer = replace(longer, seconds=3 * longer.seconds)
    first = compared(graph, told)
    if not told.has_settled:
        return Judged(seed=seed, refused="too slow to settle while it is played")
    full = next((one for one in first if _is_full(graph, one)), None)
    if full is not None:
        return Judged(seed=seed, refused=f"{full.subject} is full, as its label allows")
    approximated = tuple(_approximated(seed, first))
    suspects = {
        (one.subject, one.measure)
        for one in judged(first, _SCREENED)
        if one.verdict is Verdict.DIFFERS
    }
    if not suspects:
        return Judged(seed=seed, compared=len(first), approximated=approximated)
    told = simulate(ready, replace(longer, seed=2 * 10**6 + seed, runs=3 * runs))
    if not told.has_settled:
        return Judged(seed=seed, refused="too slow to settle while it is played")
    again = compared(graph, told)
    wrong = tuple(
        Wrong(seed, one)
        for one in judged(again, max(1, models * _SCREENED // 10))
        if (one.subject, one.measure) in suspects and one.verdict is Verdict.DIFFERS
    )
    return Judged(seed=seed, compared=len(first), wrong=wrong, approximated=approximated)


def _is_full(graph: LoadGraph, one: Compared) -> bool:
    """Return whether a load is played full that may be so by the error that its label states.

    What is exact beside it is so as long as it gets through there. A load that its label keeps
    from being full is judged as all else is; so are users who wait for their answer, who fill what
    they wait for without an end of it.
    """
    if one.measure != "load" or graph.resources[one.subject].open_load is not None:
        return False
    if one.known.kind is not Kind.APPROXIMATION or one.predicted >= 1:
        return False
    may_be = one.known.error is None or one.predicted * (1 + one.known.error) >= 1
    return may_be and one.simulated.mean + one.within > _NEARLY_FULL


def _approximated(seed: int, found: Sequence[Compared]) -> Iterator[Approximated]:
    """Yield how far off approximations are."""
    for one in found:
        truth = one.simulated.mean
        if one.known.kind is not Kind.APPROXIMATION or not truth > 0:
            continue
        off = max(0.0, abs(one.predicted - truth) - one.within)
        yield Approximated(
            seed=seed,
            measure=one.measure,
            what=tuple(dict.fromkeys(re.sub(_NAMED, "·", why) for why in one.known.reasons)),
            error=one.known.error,
            least=off / (truth + one.within),
            ratio=one.predicted / truth,
        )
