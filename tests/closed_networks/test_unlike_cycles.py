"""Users whose cycles are not alike, as some call and others do not, or by kind: as simulated."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from helpers.specs import lowered
from qps.compiler.quantities.certainty import MOST_STATED

LEVELS = (0.5, 0.75, 0.95, 0.99)
Calls = Sequence[tuple[float, float]]
"""How probable it is that a cycle has a call of such a mean service at the second station."""


def simulated(
    users: Sequence[tuple[int, float, Calls]],
    servers: dict[str, int],
    look: float,
    cycles: int,
    watched: int = 1,
) -> NDArray[np.float64]:
    """Return how long cycles of the first users take: first come, first served, exponential.

    Users are so many who think so long, go to `a` and then perhaps to `b`.
    """
    chance, free = Random(5), dict(servers)
    lines = {name: deque[tuple[int, float]]() for name in servers}
    kind = [k for k, (count, _, _) in enumerate(users) for _ in range(count)]
    at, began, found = [""] * len(kind), [0.0] * len(kind), list[float]()
    events = [(chance.expovariate(1 / users[k][1]), user) for user, k in enumerate(kind)]
    heapq.heapify(events)

    def come(user: int, place: str, mean: float, now: float) -> None:
        at[user], time = place, chance.expovariate(1 / mean)
        if free[place]:
            free[place] -= 1
            heapq.heappush(events, (now + time, user))
        else:
            lines[place].append((user, time))

    while len(found) < cycles:
        now, user = heapq.heappop(events)
        place, (_, think, calls) = at[user], users[kind[user]]
        if not place:
            began[user] = now
            come(user, "a", look, now)
            continue
        if lines[place]:
            next_one, time = lines[place].popleft()
            heapq.heappush(events, (now + time, next_one))
        else:
            free[place] += 1
        drawn, work = chance.random(), 0.0
        for share, mean in calls if place == "a" else ():
            if 0 <= drawn < share:
                work = mean
            drawn -= share
        if work:
            come(user, "b", work, now)
            continue
        at[user] = ""
        if kind[user] < watched:
            found.append(now - began[user])
        heapq.heappush(events, (now + chance.expovariate(1 / think), user))
    return np.array(found[cycles // 20 :])


def holds(text: str, times: NDArray[np.float64], within: float) -> None:
    """Compare percentiles and the share beyond each with what was simulated."""
    graph = lowered(text)
    stream, there = graph.streams["job"], graph.at(1)
    for level in LEVELS:
        exact, expected = Fraction(str(level)), float(np.quantile(times, level))
        found = there.number(stream.latency_quantile(exact))
        assert found == pytest.approx(expected, rel=within)
        later = there.number(stream.later(Fraction(expected)))
        assert later == pytest.approx(1 - level, rel=3 * within)
        known = stream.quantile_certainty(exact)
        assert known.kind.value == "approximation"
        assert "slowest-kind" not in {why.method for why in known.because}
        if known.error is not None and known.error <= MOST_STATED:
            assert abs(found / expected - 1) <= known.error


HEAD = """
users N in 1..2
machine front {{ cpu {front} core, queueing mmc }}
machine back {{ cpu {back} core, queueing mmc }}
component look {{ cpu {look} s/request }}
component work {{ cpu {work} s/request }}
network wire {{ propagation 0 s }}
topology {{ node a = front; node b = back; link lan = wire between a, b }}
require {{ job.latency <= 1 hour }}
"""
CHANCE = """
stream job in all {{ traffic {few} request, 1 bit/request, think 1 s
  at a {{ look; call b * {share} {{ work }} }} }}
stream all in all {{ traffic {others} request, 1 bit/request, think 2 s
  at a {{ look; call b {{ work }} }} }}
"""


@pytest.mark.parametrize(
    ("few", "others", "work", "share"),
    [(3, 5, 0.6, 0.2), (6, 2, 0.3, 0.5), (10, 3, 0.8, 0.1)],
)
def test_users_of_whom_some_call(few: int, others: int, work: float, share: float) -> None:
    """By three moments of a cycle the median was up to 64 % too long, p95 a third of the true."""
    servers = {"a": 4, "b": 1}
    times = simulated(
        [(few, 1.0, [(share, work)]), (others, 2.0, [(1, work)])], servers, 0.1, 100_000
    )
    head = HEAD.format(front=4, back=1, look=0.1, work=work)
    holds(head + CHANCE.format(few=few, others=others, share=f"{100 * share:g} %"), times, 0.06)


KINDS = """
kinds size {{ small 3; big 1 }}
param long by size {{ small 0.5; big {big} }}
stream job in all {{ traffic {users} request, 1 bit/request, think 2 s
  at a {{ look; call b {{ work }} }} }}
"""


@pytest.mark.parametrize(("users", "back", "big"), [(8, 64, 8.0), (12, 4, 2.5), (5, 64, 30.0)])
def test_items_of_several_kinds(users: int, back: int, big: float) -> None:
    """Of the slowest kind the median was longer, and p99 shorter, where it is rare."""
    servers = {"a": 1, "b": back}
    calls = [(0.75, 0.5 * 0.5), (0.25, 0.5 * big)]
    times = simulated([(users, 2.0, calls)], servers, 0.1, 100_000)
    text = HEAD.format(front=1, back=back, look=0.1, work=0.5).replace(
        "cpu 0.5 s/request", "cpu 0.5 s/request * long"
    )
    holds(text + KINDS.format(users=users, big=big), times, 0.06)


OF_USERS = """
kinds who of users {{ quick 60 %; slow 40 % }}
param pace by who {{ quick 0.5; slow 3 }}
"""


def test_items_of_several_kinds_of_users() -> None:
    """Each of two kinds of users has items of two kinds: all four are one mixture."""
    users = [
        (count, 2.0, [(0.75, 0.4 * 0.5 * pace), (0.25, 0.4 * 2.5 * pace)])
        for count, pace in ((6, 0.5), (4, 3.0))
    ]
    times = simulated(users, {"a": 1, "b": 64}, 0.02, 100_000, watched=2)
    text = HEAD.format(front=1, back=64, look=0.02, work=0.4) + OF_USERS.format()
    text = text.replace("cpu 0.4 s/request", "cpu 0.4 s/request * long * pace")
    text += KINDS.format(users=10, big=2.5).replace("job in all", "job for each user")
    holds(text, times, 0.06)
    stream = lowered(text).streams["job"]
    assert [len(kind.kinds) for kind in stream.kinds] == [2, 2]
