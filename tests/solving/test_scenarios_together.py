"""Several scenarios at once, `scenario = [peak, cheap]`: as if one stated all that they change."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

import qps
from qps.api import loads
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.compiler.syntax.format import formatted

SPEC = """users N in 1..10_000
param pace = 10 request/s
param cost = { average 1 ms/request; largest 4 ms/request }
option codec = opus or g711
machine box { cpu 1 core }
component work { cpu cost }
component again { cpu 1 ms/request }
topology { node api = box }
stream jobs in all { traffic N * pace; at api { work; again if codec == g711 } }
mode hurry { jobs.latency <= 1 s; cost = 8 ms/request }
scenario fast { pace = 20 request/s }
scenario slow { pace = 5 request/s }
scenario worst { case = largest }
scenario old { codec = g711; pace = 20 request/s }
scenario big { api = box * 3 }
scenario hurried { mode = hurry }
scenario few { N = 1..40 }
"""


def carried(name: str, more: str = "") -> int | None:
    return loads(SPEC + more).solve(scenario=name).capacity


@pytest.mark.parametrize(
    ("several", "long"),
    [
        (["fast", "worst"], "pace = 20 request/s; case = largest"),
        (
            ["old", "worst", "big"],
            "codec = g711; pace = 20 request/s; case = largest; api = box * 3",
        ),
        (["fast", "old"], "codec = g711; pace = 20 request/s"),
        (["fast", "few"], "pace = 20 request/s; N = 1..40"),
        (["fast", "hurried"], "pace = 20 request/s; mode = hurry"),
    ],
)
def test_a_list_is_its_long_form_in_any_order(several: list[str], long: str) -> None:
    expected = carried("long", f"scenario long {{ {long} }}\n")
    assert expected is not None
    for order in permutations(several):
        listed = ", ".join(order)
        assert carried("all", f"scenario all {{ scenario = [{listed}] }}\n") == expected
        assert loads(SPEC).solve(scenario=list(order)).capacity == expected
        claims = (
            f"expect e {{ largest_acceptable == {expected} with scenario = [{listed}]\n"
            f"(largest_acceptable with scenario = [{listed}]) == {expected}; source model }}\n"
        )
        assert all(one.holds for one in loads(SPEC + claims).test())


def test_what_stands_next_to_a_list_decides() -> None:
    more = "scenario all { scenario = [fast, slow]; pace = 2 request/s }\n"
    more += "scenario outer { scenario = [all, big] }\n"
    for name, long in (
        ("all", "pace = 2 request/s"),
        ("outer", "pace = 2 request/s; api = box * 3"),
    ):
        assert carried(name, more) == carried("long", f"scenario long {{ {long} }}\n")


@pytest.mark.parametrize(
    "listed",
    [
        "fast, slow",
        "old, slow",
        "worst, least_",
        "hurried, other",
        "few, many",
        "big, small",
        "all, slow",
    ],
)
def test_what_two_change_otherwise_is_refused(listed: str) -> None:
    more = """scenario least_ { case = average }
mode calm { jobs.latency <= 2 s }
scenario other { mode = calm }
scenario many { N = 1..50 }
scenario small { api = box * 2 }
scenario all { scenario = [fast, worst] }
"""
    text = f"{SPEC}{more}scenario both {{ scenario = [{listed}] }}\n"
    found = check_source(Source("s.qps", text)).diagnostics
    errors = [result for result in found if result.is_error]
    assert [result.code.id for result in errors] == ["QPS0601"]
    assert errors[0].message.endswith("to different values")
    assert [label.message for label in errors[0].secondary].count("combined here") == 1
    assert len(errors[0].secondary) == 2


def test_instances_a_matrix_and_a_figure_take_lists(tmp_path: Path) -> None:
    part = SPEC.replace("scenario hurried { mode = hurry }\n", "")
    (tmp_path / "part.qps").write_text(part, encoding="utf-8")
    using = tmp_path / "using.qps"
    using.write_text(
        'use "part.qps" as eu with population = M, scenario = [fast, old], mode = hurry\n'
        'use "part.qps" as us with population = M, scenario = [fast, slow], pace = 2 request/s\n'
        "users M in 1..10_000\n"
        "scenario worst { scenario = [us.worst, us.big] }\n"
        "matrix m with scenario = [us.big, worst] { us.codec in [opus, g711] }\n"
        "figure f { over M in 1..100; line us.api.cpu.load with scenario = [us.worst, us.big] }\n",
        encoding="utf-8",
    )
    spec = qps.load(using)
    own = loads(SPEC).solve(scenario="old", set={"mode": "hurry"}).capacity
    assert spec.solve().capacity == own


def test_the_layout_keeps_a_list() -> None:
    text = "scenario both { scenario = [ fast, slow ]; pace = 2 request/s }\n"
    assert formatted(Source("s", text)).value == text
