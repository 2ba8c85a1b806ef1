"""Where loads that jump or bend first reach 1: true values by hand, and a law over all specs."""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

import os
from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers.formulas import R, ceil, exp, floor
from helpers.nightly import examples
from helpers.single_rows import no_row_alone
from helpers.specs import checked
from matrices.test_matrices import disagreements
from oracles.plain_model import plain_model
from qps.compiler.lower.lowering import lower
from qps.engine.expressions.formulas import (
    Formula,
    apply,
    maximum,
    minimum,
    square_root,
)
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.saturation import saturation_point
from qps.solver.answers.solution import Saturation
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.search.method import SearchMethod
from solving.saturation_specs import (
    CEIL_MACHINES,
    CEIL_OF_SQUARE,
    FILLED,
    MEETING_STEPS,
    OWN_LOAD,
    WRONG_BOTTLENECK,
    N,
    solved,
)


@pytest.mark.parametrize(
    ("text", "answer", "resource", "at"),
    [
        (CEIL_MACHINES, 19, "b.cpu", 20 / 1.001),
        (CEIL_OF_SQUARE, 18, "b.cpu", 1000 / 55),
        (WRONG_BOTTLENECK, 19, "b.cpu", sqrt(1 / 0.0026)),
        (MEETING_STEPS.replace("ROOM", "24.5"), 5100, "cluster.requests", 6000.0),
        # exactly full from the start on, and no more than that up to 5,200
        (MEETING_STEPS.replace("ROOM", "21"), 5100, "cluster.requests", 4900.0),
        (OWN_LOAD.replace("LOAD", "1 - erlang_b(N, 10)"), 10_000, "host.cpu", None),
    ],
)
def test_cases(text: str, answer: int, resource: str, at: float | None) -> None:
    solution, saturations = solved(text)
    assert solution.capacity == answer
    assert saturations[resource] == (None if at is None else pytest.approx(at, rel=1e-14))
    assert solution.bottleneck is not None
    assert (solution.bottleneck.resource, solution.bottleneck.saturates_at) == (
        resource,
        saturations[resource],
    )


def test_a_claim_about_a_saturation_asks_the_same_search() -> None:
    (judged,) = Claims(ClaimRunner(model=checked(CEIL_MACHINES).model)).results()
    assert judged.holds


def test_a_load_that_turns_at_its_limit_takes_no_answer_away() -> None:
    # It comes to 1 at pi, which no float is: whether it reaches it there, bounds do not tell.
    solution, saturations = solved(
        OWN_LOAD.replace("1..10000", "1..100").replace("LOAD", "abs(cos(N))")
    )
    assert solution.capacity == 100
    assert solution.resources[0].saturation == Saturation(None, SearchMethod.UNDECIDED, not_below=3)
    text = OWN_LOAD.replace("1..10000", "1..100").replace("LOAD", "max(abs(cos(N)), N / 50.5)")
    solution, saturations = solved(text)
    assert (solution.capacity, solution.limited_by) == (50, "host.cpu.utilization")
    assert saturations == {"host.cpu": 51}
    assert solution.resources[0].saturation.not_below == 3
    assert solution.bottleneck is not None
    assert solution.bottleneck.undecided == ("host.cpu",)


@pytest.mark.parametrize(
    ("load", "at"),
    [
        ("N^N / 10^6", 7.0657966728),
        ("2^(2^N) / 10^6", 4.3170082),
        ("N^(N^N) / 10^6", 2.6791915),
        ("10^6 / N^N / 10^7", None),
        ("N^1000 / 10^9", 1.0209391),
        ("(1 - 2^(-2^N)) / 2", None),
        ("ceil(2^N / 20) / 100", 10.9512847),
        (" + ".join(f"N^{k} / 10^{k}" for k in range(1, 110)), 5),
        (" + ".join(f"1 / (N + {k}) / 10" for k in range(110)), None),
    ],
)
def test_powers_of_any_size_take_bounded_time(load: str, at: float | None) -> None:
    _, saturations = solved(OWN_LOAD.replace("1..10000", "1..4").replace("LOAD", load))
    assert saturations == {"host.cpu": None if at is None else pytest.approx(at, rel=1e-4)}


@pytest.mark.parametrize(
    ("load", "at", "method"),
    [
        # it reaches 1 at 20 itself and falls behind it
        (N * R(1, 20) / ceil(N / 20), 20, SearchMethod.JUMP),
        (N * R(499, 10_000) / ceil(N / 20), None, SearchMethod.NONE),
        (N * R(999_999, 20_000_000) / ceil(N / 20), None, SearchMethod.NONE),
        (ceil(N / 7) / 12, 77, SearchMethod.JUMP),
        (floor(N / 7) / 12, 84, SearchMethod.JUMP),
        (ceil(N / R(7, 3)) * R(3, 5), 7 / 3, SearchMethod.JUMP),
        (ceil(N**2 / 50) / 40, sqrt(39 * 50), SearchMethod.JUMP),
        (ceil(ceil(N / 3) / 5) / 4, 45, SearchMethod.JUMP),
        (floor(N / 10) / ceil(N / 30) / 3, 30, SearchMethod.JUMP),
        (floor(N / 10) / ceil(N / 30) / R(31, 10), None, SearchMethod.NONE),
        # up at 4, down again until 6, up for good at 18
        (maximum(0, 3 - N / 2) * floor(N / 4) + ceil(N / 9) / 3, 4, SearchMethod.JUMP),
        # a needle between whole numbers
        (R(99, 100) + ceil(N / 4) / 100 - (N - R(21, 2)) ** 2, 10.5 - sqrt(0.02), None),
        (N / ceil(square_root(N)) / 10, 100, SearchMethod.BRACKETED_ROOT),
        (square_root(N) / 10, 100, SearchMethod.BRACKETED_ROOT),
        (exp(-N / 10) / 2 + R(1, 4) + N / 100, 74.9723, SearchMethod.BRACKETED_ROOT),
        # it hardly rises above 1 between 99 and 101, and comes down again
        (1 + R(1, 10**6) - (square_root(N) - 10) ** 2, 99.98, SearchMethod.BRACKETED_ROOT),
        (1 - R(1, 10**6) - (square_root(N) - 10) ** 2, None, SearchMethod.NONE),
        (1 - apply("erlang_b", N, 10), None, SearchMethod.NONE),
        (1 - exp(-N), None, SearchMethod.NONE),
        (minimum(1, N / 10) * ceil(N / 100) / 2, 100, None),
    ],
)
def test_saturation_points(load: Formula, at: float | None, method: SearchMethod | None) -> None:
    found = saturation_point(load, N, 1)
    assert found.at == (None if at is None else pytest.approx(at, rel=1e-4))
    assert method is None or found.method is method


@pytest.mark.parametrize(
    ("load", "reaches", "passes"),
    [
        # full at the start alone; from 100 on and no more; from 20 to 40, then beyond
        (1 / N, 1, None),
        (1 / square_root(N), 1, None),
        (1 - ceil(N / 5) / 9 + R(1, 9), 1, None),
        (minimum(1, square_root(N) / 10), 100, None),
        (minimum(1, N / 10) + maximum(0, N - 40), 10, 40),
        (ceil(N / 20) / 2 + 0 * N, 20, 40),
        (minimum(1, ceil(N / 20) / 2), 20, None),
        # full at one population, and beyond at another one
        (1 - (N - 10) ** 2 / 1000 + maximum(0, N - 15), 10, 15.02525),
    ],
)
def test_what_stays_full_counts_but_where_it_is_filled(
    load: Formula, reaches: float | None, passes: float | None
) -> None:
    assert saturation_point(load, N, 1).at == reaches
    found = saturation_point(load, N, 1, passes=True).at
    assert found == (None if passes is None else pytest.approx(passes, rel=1e-5))


# -- the law -----------------------------------------------------------------------------

EXAMPLES = int(os.environ.get("QPS_LAW_EXAMPLES", "0")) or examples(40)
"""How many specs are drawn; the closing note of issue 13 tells of a run with 2,000."""

_COUNTS = [
    "ceil(N / {k})",
    "floor(N / {k}) + 1",
    "ceil(N * N / {square})",
    "ceil(N * 0.0{k})",
    "ceil(ceil(N / 3) / {k})",
    "max(2, ceil(N / {k}))",
    "ceil(N / {k}) + ceil(N / {j})",
    "min(3, ceil(N / {k}))",
    "{k}",
]
_STEPS = [
    "work",
    "work * ceil(N / {j})",
    "fwd to all u",
    "fwd to all in room",
    "fwd to others in room",
    "work * (N - 1)",
    "work * floor(N / {j})",
]
_QUEUES = ["", "", ", queueing mm1", ", queueing md1", ", queueing mg1 cv 0.5"]


@st.composite
def _jumping_specs(draw: st.DrawFn) -> str:
    """Draw a spec of several resources, of which machines and steps are counted by roundings."""
    whole = st.integers(2, 9)
    k, j, room = draw(whole), draw(whole), draw(st.integers(1, 12))
    written = {"k": k, "j": j, "square": draw(st.integers(2, 400))}

    def drawn(texts: list[str]) -> str:
        return draw(st.sampled_from(texts)).format(**written)

    low = draw(st.integers(2, 9))
    # Round costs meet their limit exactly, others do not.
    cost = st.one_of(st.sampled_from([10, 20, 50, 100, 125]), st.integers(1, 400))
    medium = draw(st.sampled_from(["switched", "shared", "duplex"]))
    rate = draw(st.sampled_from([10, 64, 100_000]))
    more = draw(st.sampled_from(["0", "05", "1"]))
    step = drawn(_STEPS)
    spread = step.startswith("fwd")
    back = "; at u { }" if spread else ""
    return "\n".join(
        [
            f"users N in {low}..{low + draw(st.integers(5, 30))}",
            f"group room of {room} users",
            "machine pc { cpu 1 core }",
            f"machine box {{ cpu {draw(st.integers(1, 3))} core{drawn(_QUEUES)} }}",
            f"machine db {{ cpu 1 core{drawn(_QUEUES)} }}",
            f"network lan {{ {medium}; rate {rate} kbit/s }}",
            f"component work {{ cpu {draw(cost)}.{more} ms/packet }}",
            f"component fwd {{ cpu {draw(cost)} ms/packet }}",
            f"component store {{ cpu {draw(cost)} ms/packet }}",
            "topology {",
            "  node u = pc * N",
            f"  node b = box * ({drawn(_COUNTS)})",
            f"  node d = db * ({drawn(_COUNTS)})",
            "  link l = lan between u, b, d",
            "}",
            "stream v for each u {",
            f"  traffic 1 packet/s, 100 byte/packet; at u {{ }}; at b {{ {step} }}{back}",
            "}",
            "stream w for each u { traffic 0.5 packet/s, 80 byte/packet; at u { }; at d { store } }",
            "",
        ]
    )


def _grid(low: int, high: int) -> list[Fraction]:
    """Return every whole population, and some between each two, near both ends as well."""
    hair = Fraction(1, 10**9)
    parts = [Fraction(0), hair, Fraction(1, 3), Fraction(1, 2), Fraction(5, 6), 1 - hair]
    return [*(n + part for n in range(low, high) for part in parts), Fraction(high)]


LOADS_THAT_MEET_AT_A_JUMP = """users N in 2..7
group room of 3 users
machine pc { cpu 1 core }
machine box { cpu 1 core }
machine db { cpu 1 core }
network lan { switched; rate 10 kbit/s }
component work { cpu 10.0 ms/packet }
component fwd { cpu 10 ms/packet }
component store { cpu 10 ms/packet }
topology {
  node u = pc * N
  node b = box * (ceil(N * N / 2))
  node d = db * (ceil(N / 2))
  link l = lan between u, b, d
}
stream v for each u {
  traffic 1 packet/s, 100 byte/packet; at u { }; at b { fwd to all in room }; at u { }
}
stream w for each u { traffic 0.5 packet/s, 80 byte/packet; at u { }; at d { store } }
"""


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(_jumping_specs())
@example(LOADS_THAT_MEET_AT_A_JUMP)
def test_saturations_and_the_answer_are_those_of_trying_all(text: str) -> None:
    spec = checked(text)
    configuration = spec.configuration()
    graph = lower(spec.model, configuration)
    solution = solve(graph)
    queued = {c.name.removesuffix(".utilization") for c in graph.criteria if c.strict}

    def loads(at: Fraction) -> dict[str, Fraction]:
        return plain_model(spec.model, configuration, at).loads

    known = {at: loads(at) for at in _grid(graph.low, graph.high)}
    largest = graph.low - 1
    while largest < graph.high and all(
        load < 1 or (load == 1 and name not in queued)
        for name, load in known[Fraction(largest + 1)].items()
    ):
        largest += 1
    assert (solution.capacity or graph.low - 1) == largest
    points = {r.name: r.saturation.at for r in solution.resources}
    for name, at in points.items():
        full = [point for point, found in known.items() if found[name] >= 1]
        if full:
            assert at is not None, name
            assert at <= float(full[0]), name
        if at is None:
            continue
        # It is full where it is said to be: there, or next to where it jumps.
        near = [Fraction(at) * (1 + sign * Fraction(1, 10**12)) for sign in (-1, 0, 1)]
        assert max(loads(max(p, Fraction(graph.low)))[name] for p in near) >= 1 - Fraction(1, 10**8)
    reached = [at for at in points.values() if at is not None]
    assert solution.bottleneck is not None
    assert solution.bottleneck.saturates_at == (min(reached) if reached else None)
    if reached:
        assert points[solution.bottleneck.resource] == pytest.approx(min(reached), rel=1e-11)


@pytest.mark.parametrize(
    "load",
    [
        "min(most, N / 100)",  # lies on its target from N = 100 on
        "most * min(N, 300) / ceil(N / 100) / 100",  # just reaches it at N = 100, and falls
        "ceil(most * N / 30) / 40",  # lies on it for a while, and passes it
        "most * (400 - (N - 100) * (N - 100) / 100) / 400",  # a parabola that just touches it
    ],
)
def test_rows_that_just_reach_their_target_are_decided_together(
    load: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_row_alone(monkeypatch)
    text = FILLED.replace("FIRST", "1").replace("AT", "").replace("LOAD", f"2 * ({load})")
    assert disagreements(text.replace("target host.cpu 50 %\n", "")) == []


def test_what_fills_its_resource_whatever_the_population_is_decided_with_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_row_alone(monkeypatch)
    spec = (
        "users N in 1..20\nmachine box { cpu 1 core }\ncomponent job { cpu 1 s/request }\n"
        "param pace elastic 0.1..10 request/s\nparam part = 0.01 in 0..1\n"
        "topology { node host = box; node other = box }\n"
        "stream jobs { traffic pace; at host { job } }\n"
        "stream more { traffic part * N * (1 request/s); at other { job } }\n"
        "matrix m { part in 0.01..0.2, 9 values }\n"
    )
    assert disagreements(spec) == []
