"""Claims of a spec that hold as it stands and not with the cheapest configuration are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import qps
from qps.cli import main

SPEC = """
users N in 1..100_000
machine vm { cpu 2 core, queueing mmc; price 60 $/month }
component serve { cpu 8 ms/request }
topology { node web = vm * 10 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
require { page.latency <= 30 ms }
choose { web in [vm * 1..40] }
expect room { web.cpu.utilization <= 20 % with N = 4_000; source model "half for a failure" }
expect always { web.cpu.utilization <= 99 % with N = 4_000; source model "it keeps up" }
expect never { web.cpu.utilization <= 1 % with N = 4_000; source model "fails before, too" }
expect budget { lowest_running_cost <= 150 $/month with N = 4_000; source model "of all" }
"""


def test_the_claim_that_the_choice_breaks_is_named() -> None:
    """4,000 users at 0.1/s take 3.2 cores of 2 x 2: 80 %, and 16 % of the ten as stated."""
    found = qps.loads(SPEC).plan(4_000)
    assert found.cheapest is not None
    assert found.cheapest.choices == {"web": "vm * 2"}
    (broken,) = found.broken_claims
    assert (broken.name, broken.line) == ("room", 9)
    assert broken.predicted == pytest.approx((0.8,))


def test_a_choice_that_breaks_nothing_names_no_claim() -> None:
    """For 12,000 users eight machines stand, and 4,000 leave 20 % and less of these in use."""
    found = qps.loads(SPEC).plan(16_000)
    assert found.cheapest is not None
    assert found.cheapest.choices == {"web": "vm * 8"}
    assert found.broken_claims == ()


def test_text_page_and_json_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what is predicted, and where it is claimed."""
    file, page = tmp_path / "shop.qps", tmp_path / "plan.html"
    file.write_text(SPEC, encoding="utf-8")
    said = "the claim room (line 9): web.cpu.utilization <= 20 % with N = 4_000; predicted 80 %"
    assert main(["plan", str(file), "--users", "4000", "-o", str(page)]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    assert "room" in page.read_text(encoding="utf-8")
    main(["plan", str(file), "--users", "4000", "--format", "json"])
    (broken,) = json.loads(capsys.readouterr().out)["broken_claims"]
    assert broken["name"] == "room"


@pytest.mark.parametrize(
    "arguments",
    [["cost <= 130 $/month"], ["running_cost<=130 $/month"], ["--budget", "cost <= 130 $/month"]],
)
def test_a_budget_may_be_stated_as_a_condition(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the one of `--budget`: two machines, and their capacity."""
    file = tmp_path / "shop.qps"
    file.write_text(SPEC, encoding="utf-8")
    main(["plan", str(file), *arguments, "--format", "json"])
    stated = json.loads(capsys.readouterr().out)
    main(["plan", str(file), "--budget", "130 $/month", "--format", "json"])
    assert stated == json.loads(capsys.readouterr().out)
    assert stated["cheapest"]["choices"] == {"web": "vm * 2"}


def test_the_former_flag_of_a_population_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--carry` is `--users`."""
    file = tmp_path / "shop.qps"
    file.write_text(SPEC, encoding="utf-8")
    main(["plan", str(file), "--carry", "4000", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["population"] == {"N": 4_000}


def test_the_message_for_a_population_without_its_flag_has_the_flag(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not that no choice has this name."""
    file = tmp_path / "shop.qps"
    file.write_text(SPEC, encoding="utf-8")
    assert main(["plan", str(file), "20000"]) != 0
    assert "write `--users '20000'`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("cheapest(4_000) <= 130 $/month", "(lowest_running_cost with N = 4_000)"),
        ("lowest_cost(4_000) <= 130 $", "(lowest_cost with N = 4_000)"),
    ],
)
def test_the_message_for_a_lowest_cost_as_a_function_has_its_measure(claim: str, hint: str) -> None:
    """And what the hint says is accepted, and true."""
    with pytest.raises(qps.QpsError) as raised:
        qps.loads(SPEC + f"expect limit {{ {claim}; source model }}")
    (found,) = raised.value.diagnostics
    assert f"write `{hint}`" in " ".join(found.hints)
    written = f"expect limit {{ {hint} <= 130 $/month; source model }}"
    if "running" in hint:
        tested = qps.loads(SPEC + written).test()
        assert [one.holds for one in tested if one.name == "limit"] == [True]
