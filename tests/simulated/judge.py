"""Generated specs, played and judged: which labels are wrong."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import check_source
from qps.simulation.agreement import Compared, Verdict, compared, judged
from qps.simulation.crew import RUNS, Effort, simulate
from qps.simulation.playing import played
from simulated.generated import spec_of

_SCREENED = 20
"""How many comparisons of one screening are taken as one test each at 1 of 1,000."""


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


class Judged(Struct, frozen=True):
    """What became of one spec: how many numbers were compared, which are wrong; or refused."""

    seed: int
    compared: int
    wrong: tuple[Wrong, ...] = ()
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
    graph = graph_of(spec_of(seed))
    try:
        ready = played(graph, 1)
    except QpsError as refused:
        return Judged(seed, 0, refused=refused.diagnostics[0].message)
    told = simulate(ready, Effort(precision=0.01, seconds=seconds, seed=seed, workers=1, runs=runs))
    first = compared(graph, told)
    suspects = {
        (one.subject, one.measure)
        for one in judged(first, _SCREENED)
        if one.verdict is Verdict.DIFFERS
    }
    if not suspects:
        return Judged(seed, len(first))
    effort = Effort(
        precision=0.001, seconds=8 * seconds, seed=10**6 + seed, workers=1, runs=3 * runs
    )
    again = compared(graph, simulate(ready, effort))
    wrong = tuple(
        Wrong(seed, one)
        for one in judged(again, max(1, models * _SCREENED // 10))
        if (one.subject, one.measure) in suspects and one.verdict is Verdict.DIFFERS
    )
    return Judged(seed, len(first), wrong)
