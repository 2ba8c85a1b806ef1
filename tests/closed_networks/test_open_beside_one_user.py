"""Open traffic beside one user, at a node of several copies: it meets the user at one of them."""

from __future__ import annotations

from itertools import product

import pytest

from helpers.specs import lowered
from qps.compiler.quantities.certainty import CertaintyKind

SPEC = """users N in 1..2
machine idle {{ }}
machine server {{ cpu 1 core, queueing {queueing} }}
network wire {{ propagation 0 s }}
component work {{ cpu {service} s/request }}
topology {{ node root = idle; node web = server * {copies}; link lan = wire between root, web }}
stream user {source} {{ traffic 1 request, think {think} s; at web {{ work }} }}
stream others in all {{ traffic {rate} request/s; at web {{ work }} }}
"""


def _response(queueing: str, copies: int, source: str, rate: float, think: float) -> float:
    """Return the mean latency of open traffic, which is exact."""
    service = 0.4
    text = SPEC.format(
        queueing=queueing, copies=copies, source=source, rate=rate, think=think, service=service
    )
    graph = lowered(text)
    stream = graph.streams["others"]
    assert stream.latency_certainty.kind is CertaintyKind.EXACT
    return float(graph.at(1).number(stream.mean_latency))


def _by_chain(copies: int, rate: float, think: float, *, has_own: bool) -> float:
    """Return the same by the balance of a chain: one copy, whether its user is there, and others.

    A user goes to any copy, or to its `own`; where it is at another one, it is away. Seen from one
    copy, it comes back at a rate that makes it there as often as it is.
    """
    most, serve = 80, 1 / 0.4
    there = list(product((0, 1), range(most)))
    shares = dict.fromkeys(there, 1.0 / len(there))
    response = 1 / (serve - rate / copies)  # of the user, who finds open traffic alone
    visits = 1 if has_own else copies
    away = visits * (think + response) - response
    for _ in range(20_000):
        new = dict.fromkeys(there, 0.0)
        for (user, many), share in shares.items():
            total = user + many
            moves = [((1, many), 1 / away)] if not user else [((0, many), serve / total)]
            if many + 1 < most:
                moves.append(((user, many + 1), rate / copies))
            if many:
                moves.append(((user, many - 1), serve * many / total))
            for to, often in moves:
                new[to] += share * often
                new[user, many] -= share * often
        shares = {one: share + 0.2 * new[one] for one, share in shares.items()}
        if max(map(abs, new.values())) < 1e-10:
            break
    return sum(share * many for (_, many), share in shares.items()) / (rate / copies)


@pytest.mark.parametrize("queueing", ["ps", "mm1"])
@pytest.mark.parametrize(
    ("copies", "rate"),
    [(1, 1.0), (3, 3.0), (8, 12.0)],
)
def test_a_user_is_at_one_of_the_copies(queueing: str, copies: int, rate: float) -> None:
    found = _response(queueing, copies, "in all", rate, 0.5)
    assert found == pytest.approx(_by_chain(copies, rate, 0.5, has_own=False), rel=1e-6)


def test_three_copies_by_hand() -> None:
    """A copy is 40 % busy, the user is there for 2/3 s of 7/6 s, at each of three as often."""
    served = 0.4 / (1 - 0.4)
    there = served / (0.5 + served) / 3
    assert _response("ps", 3, "in all", 3.0, 0.5) == pytest.approx(served * (1 + there), rel=1e-12)


@pytest.mark.parametrize("queueing", ["ps", "mm1"])
def test_each_user_has_a_copy(queueing: str) -> None:
    found = _response(queueing, 3, "for each web", 3.0, 0.5)
    assert found == pytest.approx(_by_chain(3, 3.0, 0.5, has_own=True), rel=1e-6)
