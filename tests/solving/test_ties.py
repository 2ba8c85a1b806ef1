"""Where several resources give out at once: one rule for whoever tells which one it is."""

from __future__ import annotations

import pytest

import qps
from helpers.answers import answer_of
from helpers.specs import checked
from matrices.test_matrices import disagreements
from qps.reports.text.solutions.answer_text import solve_text
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model

SHOP = """
users N in 100..10_000
param speed = 1 Mbit/s in 0.01..1000 Mbit/s
param power = 0.1 core in 0.0001..100 core
machine box { cpu power }
machine pc { }
network wire { duplex; rate speed }
component serve { cpu 2 ms/request }
topology {
  node web  = box
  node user = pc * N
  link line = wire between web, user
}
stream pages for each user {
  traffic 1 request/s, 50 kB/request
  at web { serve }
  at user { }
}
"""

BOTH_WAYS = """
users peers in 2..20_000
machine relay { }
network line { duplex; rate 200 Mbit/s }
component pass { }
topology {
  node peer = relay * peers
  node turn = relay
  link wan  = line between peer, turn
}
stream media for each peer {
  traffic 2 Mbit/s
  at peer { }
  at turn { pass }
  at peer { }
}
"""


def answered(text: str, *settings: str) -> tuple[Solution, SolveView, str]:
    spec = checked(text)
    answer = answer_of(spec, *settings)
    solution = solve_model(spec.model, spec.configuration(None, settings))
    return solution, solve_view(answer), solve_text(answer, "shop")


@pytest.mark.parametrize(
    ("settings", "first", "second"),
    [
        ((), "line.forth utilization is 4,000 %", "web.cpu"),
        (("power = 0.001 core",), "web.cpu utilization is 20,000 %", "line.forth"),
        # What counts is the load against its target: 200 % of 1 %.
        (("target cpu",), "web.cpu utilization is 200 %", "line.forth"),
    ],
)
def test_of_what_is_saturated_from_the_start_the_heaviest_is_the_bottleneck(
    settings: tuple[str, ...], first: str, second: str
) -> None:
    planned = "target cpu 1 %\n" if settings == ("target cpu",) else ""
    solution, view, text = answered(SHOP + planned, *(s for s in settings if "=" in s))
    name = first.split(maxsplit=1)[0]
    assert view.answer.startswith(f"Not even 100 users are supported: {first}")
    assert solution.limited_by == f"{name}.utilization"
    assert view.bottleneck is not None
    assert (view.bottleneck.resource, view.bottleneck.from_start) == (name, True)
    assert view.bottleneck.saturates_at == 100
    assert view.next_limit is not None
    assert view.next_limit.requirement == f"{second}.utilization"
    full = "above its target" if planned else "saturated"
    bottleneck = f"Bottleneck {name} is {full} at 100 users, the start of the range."
    assert bottleneck in " ".join(text.split())
    assert view.bottleneck.initially == name


def test_what_fails_at_the_same_population_is_reported_by_where_it_saturates() -> None:
    # The processor is full at 150.9 users, the line at 150.2: with 151 both are too much.
    solution, view, text = answered(SHOP, "speed = 60.08 Mbit/s", "power = 0.3018 core")
    assert [f.first for f in solution.failures] == [151, 151]
    assert view.answer.startswith("150 users. At 151, line.forth utilization is")
    assert "Bottleneck   first to saturate: line.forth, above 150 users." in text
    assert view.bottleneck is not None
    assert not view.bottleneck.from_start


def test_what_saturates_at_the_same_point_is_reported_in_the_order_of_declaration() -> None:
    solution, view, text = answered(BOTH_WAYS)
    assert solution.limited_by == "wan.forth.utilization"
    assert "Bottleneck   first to saturate: wan.forth, above 100 peers." in text
    assert view.bottleneck is not None
    assert view.bottleneck.initially == "wan.forth"


MATRIX = (
    "matrix m { speed in [0.01, 0.5, 1, 10, 50, 60.08, 70 Mbit/s];"
    " power in [0.001, 0.01, 0.1, 0.3, 0.3018, 4 core] }\n"
)


@pytest.mark.parametrize("extra", ["", "target cpu 50 %, link 20 %\n"])
def test_matrices_give_the_same_result(extra: str) -> None:
    assert disagreements(SHOP + extra + MATRIX, count=42) == []


def test_matrices_of_what_saturates_at_the_same_point() -> None:
    matrix = "param share = 1 in 0.1..2\nmatrix m { share in [0.5, 1, 2] }\n"
    spec = BOTH_WAYS.replace("2 Mbit/s\n", "2 Mbit/s * share\n") + matrix
    assert disagreements(spec, count=3) == []
    table = qps.loads(spec).matrix().to_arrow().to_pylist()
    assert {(row["limited_by"], row["bottleneck"]) for row in table} == {
        ("wan.forth.utilization", "wan.forth")
    }


@pytest.mark.parametrize(
    ("cost", "at"), [("7 ms", 4000 / 7), ("8 ms", 500)], ids=["between", "at a whole number"]
)
@pytest.mark.parametrize(
    "machine", ["threads 4 thread; cpu 4 core", "cpu 4 core; threads 4 thread"]
)
def test_of_a_pool_and_the_cpu_that_keeps_it_full_the_cpu_is_the_bottleneck(
    machine: str, cost: str, at: float
) -> None:
    text = (
        "users N in 1..4000\nunit thread\nparam cost = 7 ms/request\n"
        f"machine service {{ {machine} }}\n"
        "component handle { cpu cost }\n"
        "topology { node api = service }\n"
        "stream request for each user { traffic 1 request/s; "
        "at api { take threads; handle; give threads } }\n"
        "matrix costs { cost in [7 ms/request, 8 ms/request] }\n"
    )
    solution, view, printed = answered(text, f"cost = {cost}/request")
    assert [one.saturation.at for one in solution.resources] == [pytest.approx(at)] * 2
    assert solution.capacity == int(
        at - 1e-9
    )  # a pool that is exactly full is waited for without end
    assert solution.limited_by == "api.cpu.utilization"
    assert view.bottleneck is not None
    assert view.bottleneck.resource == "api.cpu"
    assert {one.parameter for one in solution.sensitivity} >= {"cost", "api.cpu.cores"}
    assert f"users, api.cpu utilization is {'100.1 %' if at % 1 else '100 %'}" in printed
    assert disagreements(text) == []
