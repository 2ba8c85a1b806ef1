"""Whose a stream is: of each machine of a node, of each user, some in each group, or one in all."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.solver.answers.graph_solution import solve

SPEC = """users N in 1..100_000
param size = 3
group room of size users
machine box { cpu 1 core }
machine pc { cpu 1 core }
network net { switched; rate 1 Gbit/s }
component work { cpu 1 ms/request }
topology { node web = box * 4; node client = pc * N; link lan = net between web, client }
"""


def mistakes(text: str) -> list[Diagnostic]:
    found = check_source(Source("spec.qps", text)).diagnostics
    return [diagnostic for diagnostic in found if diagnostic.is_error]


ALONE = "at web { work } }"
FROM_CLIENTS = "at client { }; at web { work } }"


@pytest.mark.parametrize(
    ("stream", "load", "largest"),
    [
        # one thousandth of a core for each request, on four machines of one core
        ("stream st in all { traffic N * 1 request/s, 1 byte/request; " + ALONE, "N/4000", 4_000),
        (
            "stream st for each user { traffic 1 request/s, 1 byte/request; " + ALONE,
            "N/4000",
            4_000,
        ),
        (
            "stream st for each client { traffic 1 request/s, 1 byte/request; " + ALONE,
            "N/4000",
            4_000,
        ),
        ("stream st for each web { traffic 1 request/s, 1 byte/request; " + ALONE, "1/1000", None),
        ("stream st in all { traffic 900 request/s, 1 byte/request; " + ALONE, "9/40", None),
        (
            "stream st for 2 in each room { traffic 1 request/s, 1 byte/request; " + FROM_CLIENTS,
            "N/6000",
            6_000,
        ),
        (
            "stream st for each user { traffic 1 request/s, 1 byte/request; " + FROM_CLIENTS,
            "N/4000",
            4_000,
        ),
    ],
)
def test_the_load_of_each_machine(stream: str, load: str, largest: int | None) -> None:
    graph = lowered(SPEC + stream)
    for users in (30, 3_000):
        exact = graph.at(users).exact(graph.resources["web.cpu"].load)
        top, _, bottom = load.partition("/")
        assert exact == Fraction(users if top == "N" else int(top), int(bottom))
    assert solve(graph).capacity == (largest or 100_000)


def test_more_machines_share_what_is_one_in_all() -> None:
    text = SPEC + "stream st in all { traffic N * 1 request/s; at web { work } }\n"
    assert solve(lowered(text)).capacity == 4_000
    assert solve(lowered(text.replace("box * 4", "box * 8"))).capacity == 8_000


def test_a_node_that_is_called_user_is_meant_where_there_is_one() -> None:
    text = SPEC.replace("node client = pc * N", "node user = pc * (N * 2)").replace(
        "client", "user"
    )
    stream = "stream st for each user { traffic 1 request/s; at web { work } }\n"
    assert solve(lowered(text + stream)).capacity == 2_000


def test_what_the_users_receive_of_a_stream_of_each_of_them() -> None:
    """A group divides the users: a stream of each user may be kept within it."""
    text = SPEC + (
        "stream st for each user { traffic 1 request/s, 1 byte/request\n"
        "  at client { }\n  at web { work to others in room }\n  at client { } }\n"
    )
    graph = lowered(text)
    # each of the N flows is handled for the two others of its room
    assert graph.at(3_000).exact(graph.resources["web.cpu"].load) == Fraction(3_000 * 2, 4_000)


@pytest.mark.parametrize(
    ("stream", "reported"),
    [
        ("for each users", "users"),
        ("for each nobody", "`nobody`"),
        ("for 2 in each user", "`user`"),
    ],
)
def test_what_is_nobodys_is_refused(stream: str, reported: str) -> None:
    (found,) = mistakes(SPEC + f"stream st {stream} {{ traffic 1 request/s; at web {{ work }} }}\n")
    assert reported in found.message


def test_one_in_all_is_no_stream_of_the_users() -> None:
    stream = (
        "stream st in all { traffic 1 request/s, 1 byte/request\n"
        "  at client { }\n  at web { work to others in room }\n  at client { } }\n"
    )
    (found,) = mistakes(SPEC + stream)
    assert "has one flow in all for any number of users" in found.message


@pytest.mark.parametrize("whose", ["user", "client"])
def test_as_many_machines_as_users_are_of_nobody_but_whom_a_stream_is_of(whose: str) -> None:
    """Each request goes to any machine, so that some wait there; at one's own nobody does."""
    text = SPEC.replace("pc { cpu 1 core }", "pc { cpu 1 core, queueing ps }")
    stream = (
        "component view { cpu 400 ms/request }\n"
        f"stream st for each {whose} {{ traffic 1 request, 1 byte/request, think 200 ms\n"
        "  at client { view } }\n"
    )
    graph = lowered(text.replace("100_000", "40") + stream)
    fixed = lowered(text.replace("100_000", "40").replace("pc * N", "pc * 40") + stream)
    at, known = graph.at(40), graph.streams["st"].latency_certainty
    latency = at.number(graph.streams["st"].mean_latency)
    if whose == "user":
        assert latency == pytest.approx(fixed.at(40).number(fixed.streams["st"].mean_latency))
        assert latency > 0.6
    else:
        assert latency == pytest.approx(0.4)
    assert known.is_exact
