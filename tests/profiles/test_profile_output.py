"""What commands print of profiles: `solve`, its JSON, `diff`, `matrix`, `test`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qps.cli import main

SHOP = """
users shoppers in 1..200_000
profile visits over week { 08:00..22:00 = 0.6; friday 18:00..21:00 = 1; else = 0.1 }
profile nightly over day { 01:00..04:00 = 1; else = 0 }
param clicks = 0.1 request/s
machine vm { cpu 8 core }
unit job
component query { cpu 6 ms/request }
component report { cpu 400 ms/job }
topology { node db = vm * 2 }
stream page for each user { traffic clicks * visits; at db { query } }
stream etl in all { traffic 5 job/s * nightly; at db { report } }
target cpu 80 %
expect peak { capacity ~ 21_333 within 1 %; source model }
matrix jobs { nightly in [0, 1]; select capacity }
matrix rates { clicks in [0.1 request/s, 0.2 request/s]; select capacity }
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.qps"
    file.write_text(SHOP)
    return file


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    main(list(arguments))
    return " ".join(capsys.readouterr().out.split())


def test_solve_prints_the_worst_time(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = _printed(capsys, "solve", str(shop))
    assert "Capacity 21,300 shoppers" in printed
    assert "Worst time 18:00 to 21:00 on Friday: db CPU utilization 80 %" in printed
    assert "Times capacity is limited at 18:00 on Friday; capacity by time:" in printed
    assert "Autoscaling db: " in printed


def test_all_has_the_times(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed = _printed(capsys, "solve", str(shop), "--all")
    assert "18:00 to 21:00 on Friday 1 0 80 % db CPU yes" in printed


def test_a_population_that_is_set_has_its_backlog(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys, "solve", str(shop), "--set", "shoppers=30_000")
    assert (
        "Backlog db CPU: builds up from 18:00 on Friday, 22.5 minutes of work at 21:00 on Friday, "
        "cleared at 22:04 on Friday"
    ) in printed


def test_json_has_the_times(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["solve", str(shop), "--format", "json"])
    found = json.loads(capsys.readouterr().out)["course"]
    assert (found["cycle"], found["at"], found["worst_time"]) == ("week", 21_333, "18:00 on Friday")
    assert {one["name"] for one in found["times"] if not one["supported"]} == set()
    worst = [one for one in found["times"] if one["name"] == "18:00 on Friday"]
    assert worst[0]["values"] == {"visits": 1.0, "nightly": 0.0}


def test_claims_and_matrices_take_the_worst_time(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "peak" in _printed(capsys, "test", str(shop))
    printed = _printed(capsys, "matrix", str(shop), "jobs")
    assert "21,333" in printed


def test_of_many_times_those_that_differ_are_listed(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys, "solve", str(shop), "--all")
    table = printed.partition("At 21,333 shoppers")[2]
    assert table.count(" db CPU yes") == 4
    assert "27 more like these" in table
    main(["solve", str(shop), "--format", "json"])
    assert len(json.loads(capsys.readouterr().out)["course"]["times"]) == 4 + 27


def test_of_many_different_times_the_nearest_to_limits_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "hours.qps"
    hours = "; ".join(f"{hour:02}:00..{hour + 1:02}:00 = {hour + 1} %" for hour in range(24))
    file.write_text(
        SHOP.replace("over day { 01:00..04:00 = 1; else = 0 }", f"over day {{ {hours} }}").replace(
            "over week { 08:00..22:00 = 0.6; friday 18:00..21:00 = 1; else = 0.1 }",
            "over day { else = 1 }",
        )
    )
    printed = _printed(capsys, "solve", str(file), "--all")
    assert "23:00 to 24:00 1 0.24 " in printed
    assert "12:00 to 13:00 1 0.13 " in printed
    assert "11:00 to 12:00 1 0.12 " not in printed
    assert "12 more, further from limits" in printed


@pytest.mark.parametrize(
    ("time", "capacity"), [("18:00 on Friday", "21,300"), ("01:00 on Monday", "180,000")]
)
def test_a_time_can_be_selected(
    time: str, capacity: str, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = _printed(capsys, "solve", str(shop), "--set", f"mode = {time}")
    assert f"Capacity {capacity} shoppers" in printed


def test_a_time_that_cannot_limit_says_what_to_set(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", str(shop), "--set", "mode=12:00 on Monday"]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "unknown time `12:00 on Monday`" in error
    assert "times that can limit capacity: `01:00 on Monday`, `18:00 on Friday`" in error
    assert "for another one, use `--set visits=… --set nightly=…`" in error
