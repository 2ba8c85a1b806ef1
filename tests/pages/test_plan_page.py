"""The page of `qps plan`: what it says is what the command prints as JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from cheapest.random_systems import System
from qps.cli import main

in_browser = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
_MONTH = 365.25 * 86_400 / 12
_LARGER = {"": 1, "k": 1e3, "M": 1e6}
_TABLES = """() => Object.fromEntries([...document.querySelectorAll("section[id]")].map((section) =>
  [section.id, [...section.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent.trim()))]))"""
EVIL = """
machine small { cpu 2 core; price 60 $/month }
machine large { cpu 8 core; price 200 $/month }
component serve { cpu 8 ms/request }
users N in 1..100_000
topology { node web = small * 2 }
stream page for each user { traffic 0.1 request/s; at web { serve } }
choose { web in [small * 1..9, large * 1..4] }
"""


def _made(folder: Path, text: str, users: int, capsys: pytest.CaptureFixture[str]) -> Any:
    """Write a plan as a page, and return it as JSON."""
    spec, page = folder / "site.qps", folder / "plan.html"
    spec.write_text(text, encoding="utf-8")
    main(["plan", str(spec), "--users", str(users), "-o", str(page), "--format", "json"])
    printed = capsys.readouterr()
    assert "plan.html written" in printed.err
    return json.loads(printed.out)


def _money(text: str) -> float:
    """Return a printed cost in $/s."""
    found = re.fullmatch(r"\$([\d,.]+)(k|M|)/month", text)
    assert found is not None, text
    return float(found[1].replace(",", "")) * _LARGER[found[2]] / _MONTH


def _is_printed(text: str, users: int | None) -> bool:
    """Return whether a number of users is printed, rounded down to three digits."""
    shown = int(re.sub(r"\D", "", text))
    return users is not None and shown <= users < shown + 10 ** max(0, len(str(users)) - 3)


def _same_cost(text: str, cost: float) -> bool:
    return _money(text) == pytest.approx(cost, rel=5e-4)


def _as_people_say(choices: dict[str, str]) -> dict[str, str]:
    """Return the choices of a plan as its page prints them: `m1 * 2` is `2 × m1`."""
    return {
        place: re.sub(r"^([a-z]\w*) \* (\d+)$", r"\2 × \1", chosen)
        for place, chosen in choices.items()
    }


def _agree(tables: dict[str, list[list[str]]], plan: Any) -> None:
    """Compare all numbers of the tables of a page with those of the plan."""
    named = [plan["cheapest"], plan["runner_up"]]
    cost, capacity, reliable, *choices = tables["configurations"]
    for place, one in enumerate(named, start=1):
        assert _same_cost(cost[place], one["cost"])
        assert f"{one['capacity']:,}" in capacity[place]
        assert _is_printed(reliable[place], one["reliable_capacity"]["capacity"])
        assert {row[0]: row[place] for row in choices} == _as_people_say(one["choices"])
    assert len(tables["front"]) == len(plan["front"]) > 2
    for row, one in zip(tables["front"], plan["front"], strict=True):
        found = one["configuration"]
        assert row[0] == f"{one['users']:,}"
        if found is None:
            assert row[1:] == ["–", "–", "none"]
            continue
        assert _same_cost(row[1], found["cost"])
        assert _is_printed(row[2], found["reliable_capacity"]["capacity"])
        chosen = _as_people_say(found["choices"])
        assert row[3] == ", ".join(f"{name} {value}" for name, value in chosen.items())
    assert len(tables["limit-costs"]) == len(plan["relaxed_requirements"])
    for row, one in zip(tables["limit-costs"], plan["relaxed_requirements"], strict=True):
        assert _same_cost(row[3], one["saves"])
        changed = dict(part.split(" ", 1) for part in row[4].split(", "))
        assert changed.items() <= _as_people_say(one["configuration"]["choices"]).items()
        assert one["relaxed"] == pytest.approx(one["limit"] * 1.2)


@in_browser
@pytest.mark.parametrize(("kind", "seed"), [("plain", 0), ("certain", 1)])
def test_every_number_of_the_page_is_that_of_the_plan(
    kind: str, seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a browser: the answer, both configurations, the front with its picture, the limits."""
    from browsers.browser import browser, opened

    plan = _made(tmp_path, System(seed, kind, 2).text(), 3000, capsys)
    with browser() as started, opened(started, tmp_path / "plan.html") as page:
        _agree(page.run(_TABLES), plan)
        answer = page.run("() => document.getElementById('answer').innerText").splitlines()
        assert _same_cost(answer[0], plan["cheapest"]["cost"])
        points = page.run("() => document.querySelectorAll('#front circle').length")
        assert points == sum(one["configuration"] is not None for one in plan["front"])
        said = page.run("() => document.querySelector('#front').textContent")
        assert f"3,000 users: {answer[0]}" in said
        assert page.complaints == []
        assert len(page.requests) <= 1  # the page itself
        for width in (320, 390, 1200):
            page.page.set_viewport_size({"width": width, "height": 800})
            assert page.run("() => document.documentElement.scrollWidth") <= width


def test_the_page_says_that_nothing_supports_the_population(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then it has the configuration that supports most, and no front."""
    plan = _made(tmp_path, System(0, "plain", 2).text(), 900_000, capsys)
    assert plan["cheapest"] is None
    text = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert 'class="answer no"' in text
    assert f"{plan['most']['capacity']:,}" in text
    assert 'id="front"' not in text


def test_the_page_needs_no_script_and_loads_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its policy allows none; and titles of a spec are escaped."""
    _made(tmp_path, EVIL.replace("choose {", 'choose buy "<b>x</b>" {'), 1000, capsys)
    text = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "script-src 'none'" in text
    assert "<script" not in text
    assert "<b>x" not in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_a_page_does_not_replace_the_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is it anything but a page."""
    spec = tmp_path / "site.html"
    spec.write_text(EVIL, encoding="utf-8")
    assert main(["plan", str(spec), "--users", "1000", "-o", str(spec)]) == 2
    assert "would overwrite" in capsys.readouterr().err or spec.read_text() == EVIL
    other = tmp_path / "site.qps"
    other.write_text(EVIL, encoding="utf-8")
    assert main(["plan", str(other), "--users", "1000", "-o", "plan.pdf"]) == 2
    assert "a report is an HTML page" in capsys.readouterr().err
