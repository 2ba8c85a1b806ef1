"""Incidents request by request: the fluid model is as accurate as it states.

The simulation itself is compared with another one, which shares nothing with QPS.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers.nightly import nightly
from incidents.request_simulator import Outcome, Scaler, Setting, Simulation, Tier
from qps.cli import main
from qps.simulation.courses.recently_used import RecentlyUsed, RequestedItems

AT = 490
SHOP = """
users shoppers in 1..1_000_000
machine vm  {{ cpu 4 core, queueing mmc }}
machine big {{ cpu 16 core, queueing mmc }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{ node web = vm * 5; node db = big * 1; link net = lan between web, db }}
component page  {{ cpu 240 ms/request }}
component query {{ cpu 180 ms/request }}
cache hits {{ items 50_000; zipf 0.8; size 15_000 }}
stream browse for each user {{
  traffic 0.1 request/s, 2 kB/request
  event hit = hits
  at web {{ page; not hit: call db {{ query }} }}
}}
require {{ browse.p99 <= 5 s }}
autoscale web in 4..20 {{ target 70 %; startup 60 s }}
retry browse {{ timeout 2 s; retries 3; backoff 1 s{budget} }}
incident short {{ lose db after 10 s for 100 s; empty hits after 10 s }}
incident long {{ lose db after 100 s for 10 minute; empty hits after 100 s }}
incident surge {{ surge browse by 150 % for 5 minute }}
incident slower {{ slow db by 75 % for 3 minute }}
"""


def _other(down: tuple[float, float], budget: float | None, seconds: int) -> Outcome:
    setting = Setting(
        rate=0.1 * AT,
        front=Tier(service=0.24, cores=4, ready=5),
        database=Tier(service=0.18, cores=16, ready=1),
        timeout=2,
        retries=3,
        backoff=1,
        budget=budget,
        down=down,
        items=50_000,
        exponent=0.8,
        size=15_000,
        empty_at=down[0],
        scaler=Scaler(least=4, most=20, target=0.7, startup=60, count=5),
    )
    return Simulation(setting, seconds, seed=1).run()


def _simulated(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    *,
    budget: str = "; budget 10 %",
    runs: int = 2,
) -> tuple[dict[str, dict[str, float | None]], int, dict[str, object]]:
    file = folder / "shop.qps"
    file.write_text(SHOP.format(budget=budget))
    capsys.readouterr()
    over = ["--over", name, "--at", str(AT), "--runs", str(runs), "--workers", "1"]
    status = main(["simulate", str(file), *over, "--format", "json"])
    view = json.loads(capsys.readouterr().out)
    return {one["measure"]: one for one in view["results"]}, status, view


def test_an_outage_is_as_the_fluid_model_and_another_simulation_have_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, status, view = _simulated(tmp_path, capsys, "short")
    assert status == 0
    assert (view["runs"], view["runs_over"], view["agrees"]) == (2, 2, True)
    other = _other((10.0, 110.0), 0.1, 300)
    assert found["lost"]["simulated"] == pytest.approx(sum(other.lost), rel=0.05)
    cleared = next(s for s in range(110, 300) if other.backlog[s] <= 5)
    assert found["over_at"]["simulated"] == pytest.approx(cleared, rel=0.06)
    worst = max(other.backlog) * 0.18 / 16
    assert found["backlog"]["simulated"] == pytest.approx(worst, rel=0.05)


@nightly
@pytest.mark.parametrize("name", ["long", "surge", "slower"])
@pytest.mark.parametrize("budget", ["", "; budget 10 %"])
def test_many_incidents_are_as_the_fluid_model_has_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, budget: str
) -> None:
    _, status, view = _simulated(tmp_path, capsys, name, budget=budget, runs=4)
    assert status == 0, view


def test_text_names_both_and_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "small.qps"
    file.write_text(
        "users N in 1..900\nmachine box { cpu 1 core, queueing mmc }\n"
        "component work { cpu 10 ms/request }\ntopology { node host = box }\n"
        "stream flow for each user { traffic 0.1 request/s; at host { work } }\n"
        "require { flow.p99 <= 500 ms }\nincident outage { lose host for 30 s }\n"
    )
    arguments = ["simulate", str(file), "--over", "outage", "--at", "500", "--runs", "2"]
    assert main([*arguments, "--workers", "1"]) == 0
    text = capsys.readouterr().out
    assert "Simulation of outage at 500 users" in text
    assert "host CPU: largest backlog" in text
    assert "all 2 compared results agree" in text
    assert main(["simulate", str(file), "--over", "none"]) == 2
    assert "this spec declares no incident `none`" in capsys.readouterr().err


def test_too_many_requests_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "large.qps"
    file.write_text(
        "users N in 1..90_000_000\nmachine box { cpu 64 core, queueing mmc }\n"
        "component work { cpu 10 us/request }\ntopology { node host = box }\n"
        "stream flow for each user { traffic 0.1 request/s; at host { work } }\n"
        "require { flow.p99 <= 500 ms }\nincident outage { lose host for 30 s }\n"
    )
    assert main(["simulate", str(file), "--over", "outage", "--at", "30000000"]) == 2
    assert "at most 20,000,000 are simulated" in capsys.readouterr().err


def test_a_cache_in_use_has_the_items_that_were_used_last() -> None:
    requested = RequestedItems(2000, 0.9, seed=1)
    cache = RecentlyUsed(400, requested, 2000)
    hits = 0
    for _ in range(20_000):
        item = requested.next()
        hits += cache.has(item)
        cache.store(item)
    # a list of the items that were used last, from the first request on
    used: list[int] = []
    found = 0
    for number in range(40_000):
        item = requested.next()
        is_hit = item in used
        found += is_hit and number >= 20_000
        if is_hit:
            used.remove(item)
        used.insert(0, item)
        del used[400:]
    assert hits / 20_000 == pytest.approx(found / 20_000, abs=0.015)
    full = RecentlyUsed(5000, requested, 2000)
    assert all(full.has(item) for item in range(2000))


BUSY = """
users shoppers in 1..2_000
machine vm {{ cpu 1 core, queueing mmc }}
profile visits over {cycle} {{ {days}00:00..24:00 = 0.2; {day}10:00..10:20 = 1 }}
profile down over {cycle} {{ {days}00:00..24:00 = 0; {day}10:00..10:20 = 1 }}
topology {{ node app = vm * (2 - down) }}
component render {{ cpu 100 ms/request }}
stream page for each user {{ traffic 0.1 request/s * visits; at app {{ render }} }}
require {{ page.p99 <= 20 s }}
"""


@pytest.mark.parametrize("cycle", ["day", "week"])
def test_hours_of_a_day_are_as_the_fluid_model_has_them(
    cycle: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "busy.qps"
    days, day = ("monday, tuesday, weekday, weekend ", "friday ") if cycle == "week" else ("", "")
    days = "" if cycle == "day" else days.replace("monday, tuesday, ", "")
    file.write_text(BUSY.format(cycle=cycle, days=days, day=day))
    at = ["--at", "150", "--runs", "2", "--workers", "1"]
    over = f"{day}09:55..10:50"
    assert main(["simulate", str(file), "--over", over, *at, "--format", "json"]) == 0
    view = json.loads(capsys.readouterr().out)
    found = {one["measure"]: one for one in view["results"]}
    # 15 requests/s for 20 minutes at one server, of 10 a second; later 3 of 20, at both machines
    cleared = 300 + 1200 + 600 / 1.7
    assert found["backlog"]["fluid"] == pytest.approx(600 / 2)
    assert found["backlog"]["simulated"] == pytest.approx(600 / 2, rel=0.1)
    assert found["cleared_at"]["fluid"] == pytest.approx(cleared)
    assert found["cleared_at"]["simulated"] == pytest.approx(cleared, rel=0.05)


def test_hours_that_are_none_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "busy.qps"
    file.write_text(BUSY.format(cycle="day", days="", day=""))
    for over, expected in (
        ("17:00..", "no hours"),
        ("friday 17:00..18:00", "no hours"),
        ("18:00..17:00", "no hours"),
        ("week", "are over a day"),
        ("night", "no incident"),
    ):
        assert main(["simulate", str(file), "--over", over, "--at", "100"]) == 2
        assert expected in capsys.readouterr().err, over


LOADED = """
users shoppers in 1..2_000
param weight = 1
machine vm { cpu 1 core, queueing mmc }
profile visits over day { 00:00..24:00 = 0.2; 10:00..10:20 = 1 }
topology { node app = vm * 2 }
component render { cpu 100 ms/request * weight }
stream page for each user { traffic 0.1 request/s * visits; at app { render } }
require { page.p99 <= 20 s }
"""


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        ("mode usual { }\nmode heavy { weight = 2 }\n", "heavy"),
        ("survive any one of app\n", "app_lost"),
    ],
)
def test_a_day_is_simulated_in_its_worst_mode(
    lines: str, mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "loaded.qps"
    file.write_text(LOADED + lines)
    at = ["--at", "150", "--runs", "2", "--workers", "1"]
    command = ["simulate", str(file), "--over", "09:55..10:59", *at]
    assert main([*command, "--format", "json"]) == 0
    view = json.loads(capsys.readouterr().out)
    assert view["mode"] == mode
    found = {one["measure"]: one for one in view["results"]}
    # 15 requests/s for 20 minutes at a capacity of 10 a second; later 3 a second
    assert found["backlog"]["fluid"] == pytest.approx(600)
    assert found["backlog"]["simulated"] == pytest.approx(600, rel=0.1)
    assert found["cleared_at"]["simulated"] == pytest.approx(1500 + 6000 / 7, rel=0.05)
    other = "usual" if mode == "heavy" else "none_lost"
    assert main([*command, "--set", f"mode={other}"]) == 0
    text = capsys.readouterr().out
    assert f"at 150 shoppers in mode {other}" in text
    assert "nothing to compare" in text


def test_profile_modes_autoscaler_and_forecast_in_one_incident(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "all.qps"
    file.write_text(
        LOADED.replace("vm * 2", "vm * 3")
        + "calendar date in 2026-12..2027-12\nforecast shoppers = 100 + 5 * date\n"
        "mode usual { }\nmode heavy { weight = 1.2 }\n"
        "autoscale app in 2..8 { target 70 %; startup 30 s; stabilization 30 s }\n"
        "retry page { timeout 20 s; retries 2; backoff 1 s; budget 10 % }\n"
        "incident outage { lose app after 30 s for 2 minute }\n"
    )
    command = ["--over", "outage", "--runs", "8", "--workers", "1", "--format", "json"]
    assert main(["simulate", str(file), "--at", "2027-10", *command]) == 0
    view = json.loads(capsys.readouterr().out)
    assert (view["at"], view["mode"], view["runs_over"]) == (150, "heavy", 8)
    compared = [one for one in view["results"] if one["agrees"] != "not_compared"]
    assert {one["measure"] for one in compared} >= {"backlog", "over_at"}


def test_a_day_of_a_week_is_simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "week.qps"
    week = "profile visits over week { weekday = 0.1; friday 10:00..10:20 = 1; else = 0.1 }"
    day = "profile visits over day { 00:00..24:00 = 0.2; 10:00..10:20 = 1 }"
    file.write_text(LOADED.replace(day, week))
    arguments = ["--over", "friday", "--at", "10", "--runs", "2", "--workers", "1"]
    assert main(["simulate", str(file), *arguments, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["until"] == 86_400
    assert main(["simulate", str(file), *arguments, "--set", "visits=1"]) == 2
    assert "all profiles are set to a value" in capsys.readouterr().err


def test_a_time_that_some_runs_reach_is_not_the_same_as_one_that_none_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "four.qps"
    path.write_text("""
users rps in 1..100
machine vm { cpu 4 core, queueing mmc }
component work { cpu 100 ms/request }
topology { node api = vm }
stream order for each user { traffic 1 request/s; at api { work } }
require { order.p99 <= 2 s }
retry order { timeout 1 s; retries 2; backoff 200 ms }
incident short { lose api for 1 second }
""")
    assert main(["simulate", str(path), "--at", "36", "--over", "short"]) in (0, 1)
    text = " ".join(capsys.readouterr().out.split())
    found = re.search(r"(\d+) of (\d+) were over within", text)
    assert found is not None
    over, runs = map(int, found.groups())
    assert 0 < over < runs
    assert f"Over at not over not over in {runs - over} of {runs} runs" in text
