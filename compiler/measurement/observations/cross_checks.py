"""What the numbers of a run say of one another: a file that contradicts itself is not believed.

Most files give a number twice: a rate, and a count with a time; a mean, and a sum with a count.
And three numbers that any closed run gives hang together: by Little's law, as many requests are at
work on average as come in a second, times how long each takes, and no more than there are users
(J. D. C. Little, A proof for the queuing formula L = λW, 1961).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.observations.load_runs import LoadRun, percentile_of

_ALIKE = 0.02
"""Part of a latency by which it may lie below a lower one: each is of classes of a histogram."""
_FULL = 0.05
"""Part of the users by which more may seem at work: means and rates are of slightly other times."""
_MOST_NAMED = 10


def contradictions(run: LoadRun) -> Iterator[str]:
    """Yield what cannot all be true of a run, in words that begin with its file."""
    of_run = f"`{shortened(run.file)}`{run.place}"
    for one in run.twice:
        if not one.agrees:
            yield (
                f"{of_run}: {one.what} is {_plain(one.stated)}, but {one.derived_from} gives "
                f"{_plain(one.derived)}; the first value is used"
            )
    yield from (f"{of_run}: {warning}" for warning in _disorder(run))
    mean = run.latencies.get("mean")
    if run.is_whole and run.users and mean is not None:
        at_work = run.done * mean
        if at_work > run.users * (1 + _FULL):
            yield (
                f"{of_run}: {_plain(run.done)}/s with a mean latency of {_plain(1000 * mean)} ms "
                f"means {_plain(at_work)} requests in the system (Little's law), more than "
                f"{_plain(run.users)} user{'s' * (run.users != 1)}: users send several requests at "
                "a time, latency is measured from the scheduled start, or a number is wrong"
            )


def _disorder(run: LoadRun) -> Iterator[str]:
    """Yield which latency is below one that it cannot be below."""
    known = run.latencies
    ranked = sorted((p, kind) for kind in known for p in [percentile_of(kind)] if p is not None)
    rising = [kind for kind in ("least", *(kind for _, kind in ranked), "longest") if kind in known]
    around = [kind for kind in ("least", "mean", "longest") if kind in known]
    for order in (rising, around):
        for low, high in pairwise(order):
            if known[low] > known[high] * (1 + _ALIKE):
                yield (
                    f"the {_word(low)} latency, {_plain(1000 * known[low])} ms, is above the "
                    f"{_word(high)} one, {_plain(1000 * known[high])} ms"
                )


def warnings_of(runs: Sequence[LoadRun]) -> list[str]:
    """Return the contradictions of all runs as warnings; of many, the first ones and how many."""
    found = [f"warning: {warning}" for run in runs for warning in contradictions(run)]
    more = len(found) - _MOST_NAMED
    if more > 0:
        found[_MOST_NAMED:] = [f"warning: {more:,} more such contradictions"]
    return found


def _word(kind: str) -> str:
    return {"least": "shortest"}.get(kind, kind)


def _plain(value: float) -> str:
    """Return a number with four digits, thousands apart.

    >>> _plain(59424.42), _plain(0.87)
    ('59,420', '0.87')
    """
    return f"{float(f'{value:.4g}'):,.12g}"
