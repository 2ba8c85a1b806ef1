"""The latency of those who come through, wherever others are lost: all outcomes, one by one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import at, lowered
from qps.compiler.quantities.certainty import CertaintyKind

law = settings(max_examples=examples(60), deadline=None)
F = Fraction
NODES = ("front", "middle", "back")

Way = tuple[Any, ...]
"""Steps in a row: ("delay", ms), ("drop", tenths), ("call", tenths, way) or ("fork", ways)."""
Outcomes = dict[int | None, Fraction]
"""How likely each time is, in ms; None is lost."""

_tenths, _few = st.integers(1, 9), st.integers(1, 20)
_step = st.one_of(
    st.tuples(st.just("delay"), _few),
    st.tuples(st.just("drop"), _tenths),
)
_inner = st.lists(_step, min_size=1, max_size=2).map(tuple)
_call = st.tuples(st.just("call"), st.integers(1, 10), _inner)
_outer = st.lists(st.one_of(_step, _call), min_size=1, max_size=3).map(tuple)
_way = st.lists(
    st.one_of(
        _step,
        st.tuples(st.just("call"), st.integers(1, 10), _outer),
        st.tuples(
            st.just("fork"),
            st.lists(
                st.tuples(st.just("call"), st.integers(1, 10), _inner), min_size=2, max_size=2
            ),
        ),
    ),
    min_size=1,
    max_size=3,
).map(tuple)


def _text(way: Way, depth: int = 0) -> str:
    found = []
    for kind, *rest in way:
        if kind == "delay":
            found.append(f"wait({rest[0]} ms)")
        elif kind == "drop":
            found.append(f"lose({rest[0]} * 10 %)")
        elif kind == "fork":
            found.append(f"together {{ {_text(tuple(rest[0]), depth)} }}")
        else:
            inside = _text(rest[1], depth + 1)
            found.append(f"call {NODES[depth + 1]} * {rest[0] * 10} % {{ {inside} }}")
    return "; ".join(found)


def _added(one: Outcomes, other: Outcomes, *, together: bool = False) -> Outcomes:
    found: Outcomes = {}
    for first, share in one.items():
        for second, part in other.items():
            both = None
            if first is not None and second is not None:
                both = max(first, second) if together else first + second
            found[both] = found.get(both, F(0)) + share * part
    return found


def _outcomes(way: Way) -> Outcomes:
    found: Outcomes = {0: F(1)}
    for kind, *rest in way:
        if kind == "delay":
            one: Outcomes = {rest[0]: F(1)}
        elif kind == "drop":
            one = {0: 1 - F(rest[0], 10), None: F(rest[0], 10)}
        elif kind == "fork":
            one = {0: F(1)}
            for branch in rest[0]:
                one = _added(one, _outcomes((branch,)), together=True)
        else:
            share = F(rest[0], 10)
            one = {time: share * part for time, part in _outcomes(rest[1]).items()}
            one[0] = one.get(0, F(0)) + 1 - share
        found = _added(found, one)
    return found


def _spec(way: Way) -> str:
    return (
        "users N in 1..10\nmachine box { }\nnetwork wire { propagation 0 s }\n"
        "component wait(t) { delay t }\ncomponent lose(share) { drop share }\n"
        "topology { node front = box; node middle = box; node back = box\n"
        "link l = wire between all }\n"
        f"stream s for each user {{ traffic 1 request/s; at front {{ {_text(way)} }} }}\n"
    )


@law
@given(_way)
def test_a_latency_is_that_of_those_who_come_through(way: Way) -> None:
    """Of calls made together the slowest is known where no other is: else the label bounds it."""
    outcomes = _outcomes(way)
    served = 1 - outcomes.get(None, F(0))
    graph = lowered(_spec(way))
    stream = graph.streams["s"]
    assert at(graph, stream.loss, 1) == 1 - served
    assert at(graph, stream.rate, 1) == served
    law_of = {time: share / served for time, share in outcomes.items() if time is not None}
    mean = sum((time * share for time, share in law_of.items()), F(0)) / 1000
    result, known = at(graph, stream.mean_latency, 1), stream.latency_certainty
    if known.kind is CertaintyKind.EXACT:
        assert result == pytest.approx(mean)
    elif known.kind is CertaintyKind.LOWER_BOUND:
        assert result <= mean + F(1, 10**12)
    else:
        assert result >= mean - F(1, 10**12)
    if not any(kind == "fork" for kind, *_ in way):
        assert known.kind is CertaintyKind.EXACT
    for level in (F(1, 2), F(9, 10), F(99, 100)):
        share, time = F(0), 0
        for time in sorted(law_of):
            share += law_of[time]
            if share >= level:
                break
        found = float(at(graph, stream.latency_quantile(level), 1)) * 1000
        if stream.quantile_certainty(level).kind is CertaintyKind.EXACT:
            assert found == pytest.approx(time)
        else:
            assert found >= time * (1 - 1e-9)


LINES = """
users N in 1..100
machine front { cpu 1 core, queueing ps }
machine back { lines 1 core, queueing loss }
component page { cpu 10 ms/request }
component talk { lines 1 s/request }
network wire { propagation 0.5 ms }
topology { node a = front; node b = back; link lan = wire between a, b }
stream s for each user { traffic 0.2 request/s; at a { page; call b * SHARE { talk } } }
"""


@pytest.mark.parametrize("users", [1, 10, 50, 100])
@pytest.mark.parametrize("share", [F(1, 10), F(1, 2), F(9, 10)])
def test_items_that_find_no_queue_are_not_counted(users: int, share: Fraction) -> None:
    """A line without a queue: of a erlangs 1/(1 + a) get through, and stay a second."""
    text = LINES.replace("SHARE", f"{share * 100} %")
    through = 1 / (1 + share * users / 5)
    called = share * through / (1 - share + share * through)
    busy = F(users, 500)
    mean = F(1, 100) / (1 - busy) + called * (1 + F(1, 1000))
    stream = lowered(text).streams["s"]
    assert at(lowered(text), stream.mean_latency, users) == pytest.approx(mean)
    assert stream.latency_certainty.kind is CertaintyKind.EXACT
