"""Incidents on a page follow its settings: charts and facts are those of `qps incident`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from browsers.page_numbers import Line, shown_on
from live_pages.page_settings import TYPE
from qps.cli import main
from qps.reports.text.words.quantities import percent

SHOP = """
users shoppers in 1..10_000
machine vm {{ cpu 4 core, queueing mmc }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{ node web = vm * 5; node db = vm * 4; link net = lan between web, db }}
component page  {{ cpu 240 ms/request }}
component query {{ cpu 180 ms/request }}
cache hits {{ items 5_000; zipf 0.8; size 1_500 }}
component psp {{ delay 150 ms }}
stream browse for each user {{
  traffic 0.1 request/s, 2 kB/request
  event hit = hits
  at web {{ page; {call} }}
}}
stream buy for each user {{ traffic 0.01 request/s, 2 kB/request; at web {{ page; psp }} }}
require {{ browse.p99 <= 5 s; buy.p99 <= 8 s }}
{clients}
incident out {{ {out} }}
"""
MISS = "not hit: call db { query }"
RETRY = "retry browse { timeout 2 s; retries 2; backoff 500 ms; budget 10 % }"
SCALE = "autoscale web in 4..20 { target 70 %; startup 10 s; stabilization 30 s }"
CASES = {
    "autoscaled machines lost": (MISS, SCALE, "lose 2 of web for 20 s"),
    "lost database, cold cache, autoscaler": (
        MISS,
        RETRY + "\n" + SCALE,
        "lose db after 5 s for 20 s; empty hits",
    ),
    "some machines lost": ("call db { query }", RETRY, "lose 2 of web for 20 s"),
    "errors": (MISS, RETRY.replace("; budget 10 %", ""), "fail 1 of db for 20 s"),
    "slower": (MISS, RETRY, "slow web by 60 % for 20 s; surge buy by 300 % after 5 s for 10 s"),
    "calls together": (
        "together { call db { query }; call db { page } }",
        "",
        "surge buy by 900 % for 20 s",
    ),
    "modes": (
        MISS,
        """mode usual { db = vm * 5 }; mode patched { web = vm * 4 }; mode half { db = vm * 3 }
        survive any one of web""",
        "lose db after 5 s for 20 s",
    ),
}  # fmt: skip
SETTINGS: tuple[tuple[int, dict[str, str]], ...] = (
    (360, {}),
    (300, {}),
    (300, {"query.cpu.request": "120"}),
)
UNITS = {"query.cpu.request": "ms/request"}
OF = {
    "first attempts": "offered",
    "retries": "retries",
    "answered in time": "answered",
    "lost": "lost",
}


def _incident(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    main(["incident", *arguments, "--no-advice", "--format", "json"])
    (found,) = json.loads(capsys.readouterr().out)["incidents"]
    return found


def _lines(page: Any) -> dict[tuple[str, str], Line]:
    found = shown_on(page.page).lines
    start = "picture-figure-out-"
    return {(o.of.removeprefix(start), o.name): o for o in found if o.of.startswith(start)}


def _scale(line: Line, seconds: float) -> float:
    return 1 if seconds < 120 else 60 if seconds < 7200 else 3600


def _check(lines: dict[tuple[str, str], Line], incident: Any, labels: dict[str, str]) -> None:
    """The lines that are drawn are those of an incident, and none of its backlogs is left out."""
    course = incident["course"]
    times = [one["at"] for one in course]
    for (of, name), line in lines.items():
        assert [at * _scale(line, times[-1]) for at in line.at] == pytest.approx(times, rel=1e-5)
        values = [one or 0.0 for one in line.values]
        if of.startswith("load-"):
            resource = of.removeprefix("load-")
            key = "loads" if name == "load" else "capacities"
            wanted, scale = [one[key][resource] for one in course], 0.01
        elif of == "requests":
            wanted, scale = [one[OF[name]] for one in course], 1.0
        elif of == "backlog":
            wanted = [one["backlogs"][labels[name]] for one in course]
            most = max(max(one["backlogs"].values()) for one in course)
            scale = _scale(line, most)
        elif of == "servers":
            wanted, scale = [float(one["machines"][name]) for one in course], 1.0
        else:
            wanted, scale = [one["hit_rates"][name] for one in course], 0.01
        assert [scale * one for one in values] == pytest.approx(wanted, rel=1e-5, abs=1e-6), (
            of,
            name,
        )
    drawn = {labels[name] for of, name in lines if of == "backlog"}
    assert drawn == {
        name for name in course[0]["backlogs"] if max(one["backlogs"][name] for one in course) > 0.1
    }


def _check_random_waits(text: str, incident: Any) -> None:
    """Retries that random waits cause are named as `qps incident` does, where nothing worse is."""
    found = incident["timeouts_by_chance"] if incident["returns"] else []
    is_named = "from random waits alone may overload" in text
    assert is_named == (bool(found) and "may or may not be" not in text)
    if is_named:
        worst = max(found, key=lambda one: float(one["share"]))
        assert f"{percent(worst['share'])} of {worst['stream']} exceed" in text
        assert f"together are {percent(worst['load'])} of the capacity" in text


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
@pytest.mark.parametrize("case", CASES)
def test_an_incident_follows_the_settings_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], open_page: Callable[..., Any], case: str
) -> None:
    call, clients, out = CASES[case]
    spec, page = tmp_path / "shop.qps", tmp_path / "shop.html"
    spec.write_text(SHOP.format(call=call, clients=clients, out=out))
    command = ["report", str(spec), "-o", str(page), "--no-advice", "-q"]
    assert main(command) in {0, 1}
    assert page.exists(), capsys.readouterr().err
    opened = open_page(page.read_text(encoding="utf-8"))
    labels = {"web CPU": "web.cpu", "db CPU": "db.cpu"}
    for at, numbers in SETTINGS:
        opened.page.evaluate("(at) => { qps.shown.follows = false; qps.shown.n = at; }", at)
        opened.page.evaluate("() => qps.change(true)")
        settings = []
        for name, value in numbers.items():
            assert opened.page.evaluate(TYPE, [name, value])
            opened.page.wait_for_function(f"() => qps.shown.good.numbers.has('{name}')")
            settings += ["--set", f"{name}={value} {UNITS[name]}"]
        opened.page.evaluate("() => qps.pictures.forEach((one) => one.redraw())")
        opened.page.evaluate("() => qps.pictures.forEach((one) => one.redraw())")
        incident = _incident(capsys, str(spec), "out", "--at", str(at), *settings)
        _check(_lines(opened), incident, labels)
        text = opened.page.text_content("#over-time")
        assert f"{at} shoppers" in text
        assert ("not over by itself" in text) == (incident["over_at"] is None)
        _check_random_waits(text, incident)
        if case == "modes":
            assert f"in mode {incident['mode']}" in text
            for one in incident["other_modes"]:
                assert f"{one['mode']}: {one['over_at']:.4g}".rstrip("0.") in text
