"""Which calls a request makes in turn and which together, and which of them go with others.

Two calls are made *together* where they run at the same time, for more than half of the shorter
one, in at least `LEAST_TOGETHER` of the requests that make both, and of these in `FEWEST` at least.
All others are made in turn. Calls of the same requests, but for `MOST_APART` of them, are one step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from qps.compiler.measurement.traces.call_graph import (
    CallGroup,
    CallVariances,
    Operation,
    Overlap,
    TracedCall,
)
from qps.compiler.measurement.traces.call_tallies import CallTally

LEAST_TOGETHER = 0.9
FEWEST = 3
MOST_APART = 0.01
_ALWAYS = 0.9995


def call_of(tally: CallTally, of: float) -> TracedCall:
    """Return what is known of a call as a value, with all below it."""
    done: dict[int, TracedCall] = {}
    todo = [(tally, of, False, False)]
    while todo:
        one, parents, is_fan_out, is_ready = todo.pop()
        overlaps = _overlaps(one)
        fan_outs = {o.first for o in overlaps if o.is_together and o.first == o.second}
        if not is_ready:
            todo.append((one, parents, is_fan_out, True))
            todo += [(c, one.count, c.key in fan_outs, False) for c in one.below.values()]
            continue
        calls = {key: done[id(below)] for key, below in one.below.items()}
        done[id(one)] = TracedCall(
            service=one.key[0],
            operation=one.key[1],
            of=parents,
            callers=one.callers,
            count=one.count,
            errors=one.errors,
            retries=one.retries,
            is_peer=one.is_peer,
            duration=one.duration.value,
            own=one.own.value,
            network=one.network.value,
            sent=one.sent.value,
            returned=one.returned.value,
            variances=CallVariances(
                count=max(0.0, one.squares / parents - (one.count / parents) ** 2)
                if parents
                else 0.0,
                own=one.own.variance,
                network=one.network.variance,
                sent=one.sent.variance,
                returned=one.returned.variance,
            ),
            is_fan_out=is_fan_out,
            steps=_steps(one, calls, overlaps),
            overlaps=overlaps,
        )
    return done[id(tally)]


def _overlaps(tally: CallTally) -> tuple[Overlap, ...]:
    """Return what was seen at the same time at least once."""
    return tuple(
        Overlap(
            first=first,
            second=second,
            both=tally.both[first, second],
            overlapping=count,
            is_together=count >= max(FEWEST, LEAST_TOGETHER * tally.both[first, second]),
        )
        for (first, second), count in sorted(tally.overlapping.items())
    )


def _steps(
    tally: CallTally, calls: Mapping[Operation, TracedCall], overlaps: Sequence[Overlap]
) -> tuple[CallGroup, ...]:
    places = {key: below.place.value or 0.0 for key, below in tally.below.items()}
    keys = sorted(places, key=lambda key: (places[key], key))
    pairs = {(o.first, o.second) for o in overlaps if o.is_together}
    groups = _cliques(keys, pairs)
    found: list[tuple[float, CallGroup]] = []
    for blocks in _same_callers(groups, tally):
        members = [key for group in blocks for key in group]
        shares = [tally.below[key].callers / tally.count for key in members]
        is_one = max(shares) - min(shares) <= MOST_APART * max(shares)
        share = max(shares) if is_one and max(shares) < _ALWAYS else 1.0
        together = tuple(tuple(calls[key] for key in group) for group in blocks)
        found.append(
            (min(places[key] for key in members), CallGroup(share=share, together=together))
        )
    return tuple(step for _, step in sorted(found, key=lambda one: one[0]))


def _cliques(
    keys: Sequence[Operation], pairs: set[tuple[Operation, Operation]]
) -> list[list[Operation]]:
    """Return groups of calls that are all together with each other, and the others alone."""
    groups: list[list[Operation]] = []
    for key in keys:
        for group in groups:
            if all((key, one) in pairs or (one, key) in pairs for one in group):
                group.append(key)
                break
        else:
            groups.append([key])
    return groups


def _same_callers(
    groups: Sequence[list[Operation]], tally: CallTally
) -> Iterable[list[list[Operation]]]:
    """Return groups that the same requests make: each with those that go with it."""
    found: list[list[list[Operation]]] = []
    for group in groups:
        if _is_mixed(group, tally):
            found.append([group])
            continue
        for block in found:
            if not _is_mixed(block[0], tally) and _go_together(block[0][0], group[0], tally):
                block.append(group)
                break
        else:
            found.append([group])
    return found


def _is_mixed(group: Sequence[Operation], tally: CallTally) -> bool:
    return any(not _go_together(group[0], one, tally) for one in group[1:])


def _go_together(first: Operation, second: Operation, tally: CallTally) -> bool:
    """Return whether the same requests make two calls, but for few; those of all stand alone."""
    either = apart = 0.0
    for pattern, count in tally.patterns.items():
        has = (first in pattern) + (second in pattern)
        either += count * (has > 0)
        apart += count * (has == 1)
    return either > 0 and apart <= MOST_APART * either
