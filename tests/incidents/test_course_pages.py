"""The course on a page, in a file and in JSON: the same numbers everywhere."""

from __future__ import annotations

import csv
import json
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from browsers.page_numbers import Line, shown_on
from live_pages.page_settings import TYPE
from qps.cli import main
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer

OUTAGE = """
users shoppers in {least}..10_000
machine vm {{ cpu 4 core, queueing mmc }}
network lan {{ switched; rate 10 Gbit/s }}
topology {{ node web = vm * 5; node db = vm * 4; link net = lan between web, db }}
component page  {{ cpu 240 ms/request }}
component query {{ cpu 180 ms/request }}
cache hits {{ items 50_000; zipf 0.8; size 15_000 }}
{profile}
stream browse for each user {{
  traffic 0.1 request/s{times}, 2 kB/request
  event hit = hits
  at web {{ page; not hit: call db {{ query }} }}
}}
require {{ browse.p99 <= 5 s }}
autoscale web in 4..20 {{ target 70 %; startup 60 s }}
retry browse {{ timeout 2 s; retries 3; backoff 1 s; budget 10 % }}
incident database_down {{ lose db after 10 s for 1 minute; empty hits after 10 s }}
incident surge {{ surge browse by 300 % for 5 s }}
"""
DAY = """profile visits over day {
  06:30..22:00 = 0.5
  18:00..20:00 = 1
  else = 0.1
}"""
AT = 490


def _spec(folder: Path, *, day: bool = False) -> str:
    file = folder / "shop.qps"
    text = OUTAGE.format(
        least=900 if day else 1, profile=DAY if day else "", times=" * visits" if day else ""
    )
    file.write_text(text)
    return str(file)


@pytest.fixture
def solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Solve each incident of the spec without a day once, whatever is made of its course."""
    monkeypatch.setattr("qps.commands.incident.incident_answer", _solved)


def _solved(
    model: ir.Model, configuration: Configuration, incident: ir.Incident, at: int, *, advice: bool
) -> IncidentAnswer:
    assert (at, advice) == (AT, False)
    if incident.name not in _ANSWERS:
        _ANSWERS[incident.name] = incident_answer(model, configuration, incident, at, advice=advice)
    return _ANSWERS[incident.name]


_ANSWERS: dict[str, IncidentAnswer] = {}


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    main([*arguments, "--format", "json"])
    return json.loads(capsys.readouterr().out)


def _lines(page: Any) -> dict[tuple[str, str], Line]:
    found = shown_on(page.page).lines
    return {(one.of.removeprefix("picture-figure-"), one.name): one for one in found}


def _values(line: Line, scale: float = 1) -> list[float]:
    return [scale * (one or 0) for one in line.values]


@pytest.mark.usefixtures("solved_once")
@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_the_page_of_an_incident_has_the_numbers_of_its_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], open_page: Callable[..., Any]
) -> None:
    spec, page = _spec(tmp_path), tmp_path / "shop.html"
    command = ["incident", spec, "database_down", "--at", str(AT), "--no-advice"]
    main([*command, "-o", str(page)])
    assert "database_down, over:" in capsys.readouterr().out
    view = _printed(capsys, *command)
    (incident,) = view["incidents"]
    course = incident["course"]
    opened = open_page(page.read_text(encoding="utf-8"), settings=False)
    lines = _lines(opened)
    wanted: dict[tuple[str, str], tuple[float, list[float]]] = {
        ("load-db.cpu", "load"): (0.01, [one["loads"]["db.cpu"] for one in course]),
        ("load-db.cpu", "capacity"): (0.01, [one["capacities"]["db.cpu"] for one in course]),
        ("requests", "first attempts"): (1, [one["offered"] for one in course]),
        ("requests", "retries"): (1, [one["retries"] for one in course]),
        ("requests", "answered in time"): (1, [one["answered"] for one in course]),
        ("requests", "lost"): (1, [one["lost"] for one in course]),
        ("backlog", "db CPU"): (1, [one["backlogs"]["db.cpu"] for one in course]),
        ("hits", "hits"): (0.01, [one["hit_rates"]["hits"] for one in course]),
    }
    assert {(f"database_down-{of}", name) for of, name in wanted} <= set(lines)
    minutes = 60 if course[-1]["at"] >= 120 else 1
    for (of, name), (scale, numbers) in wanted.items():
        line = lines[f"database_down-{of}", name]
        assert [minutes * at for at in line.at] == pytest.approx([one["at"] for one in course])
        assert _values(line, scale) == pytest.approx(numbers, rel=1e-5, abs=1e-9), (of, name)
    # db is not there for a minute
    capacities = lines["database_down-load-db.cpu", "capacity"].values
    assert min(one or 0 for one in capacities) == 0
    assert max(one or 0 for one in capacities) == pytest.approx(100)
    assert "db is lost from 10 s to 70 s" in opened.page.inner_text("main")


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_a_report_has_the_day_and_all_incidents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], open_page: Callable[..., Any]
) -> None:
    spec, page = _spec(tmp_path, day=True), tmp_path / "shop.html"
    main(["report", spec, "-o", str(page), "--no-advice", "-q"])
    course = _printed(capsys, "solve", spec, "--no-advice")["course"]
    opened = open_page(page.read_text(encoding="utf-8"))
    lines = _lines(opened)
    load = lines["course-load", "utilization"]
    starts = [one["start"] for one in course["times"]]
    for hour, value in zip(load.at, _values(load, 0.01), strict=True):
        moment = course["times"][bisect_right(starts, min(round(60 * hour), 24 * 60 - 1)) - 1]
        assert value == pytest.approx(moment["utilization"], rel=1e-5), hour
    assert {round(60 * hour) for hour in load.at} >= set(starts)
    (backlog,) = course["backlog_courses"]
    assert backlog["resource"] == "web.cpu"
    drawn = lines["course-backlog", "web CPU"]
    worst = max(one["backlog"] for one in backlog["points"])
    assert worst == pytest.approx(course["backlogs"][0]["worst"])
    unit = 60 if 120 <= worst < 7200 else 1 if worst < 120 else 3600
    assert [60 * hour for hour in drawn.at] == pytest.approx(
        [one["at"] for one in backlog["points"]], rel=1e-5
    )
    assert _values(drawn, unit) == pytest.approx(
        [one["backlog"] for one in backlog["points"]], rel=1e-5, abs=1e-3
    )
    text = opened.page.text_content("#over-time")
    assert "Incident: database_down" in text
    assert "Incident: surge" in text


def test_the_backlog_of_a_day_is_cleared_where_its_peak_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = _spec(tmp_path, day=True)
    course = _printed(capsys, "solve", spec, "--no-advice")["course"]
    (backlog,), (peak,) = course["backlog_courses"], course["backlogs"]
    points = {one["at"]: one["backlog"] for one in backlog["points"]}
    assert points[peak["start"]] == 0
    assert points[peak["worst_at"]] == pytest.approx(peak["worst"])
    assert points[peak["cleared_at"]] == 0
    assert min(points) == 0
    assert max(points) == 24 * 60


@pytest.mark.usefixtures("solved_once")
def test_tables_have_the_numbers_of_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    spec = _spec(tmp_path)
    view = _printed(capsys, "incident", spec, "--at", str(AT), "--no-advice")
    files = [tmp_path / f"course.{ending}" for ending in ("parquet", "csv", "json")]
    for file in files:
        main(["incident", spec, "--at", str(AT), "--no-advice", "-o", str(file), "-q"])
    table = parquet.read_table(files[0]).to_pylist()
    with files[1].open(encoding="utf-8", newline="") as read:
        rows = list(csv.DictReader(read))
    assert json.loads(files[2].read_text(encoding="utf-8")) == view
    wanted = [(one["name"], point) for one in view["incidents"] for point in one["course"]]
    assert len(table) == len(rows) == len(wanted)
    for (name, point), row, line in zip(wanted, table, rows, strict=True):
        assert row["incident"] == line["incident"] == name
        for key in ("at", "offered", "retries", "answered", "lost", "wait"):
            assert row[key] == float(line[key]) == point[key]
        for key in ("backlogs", "loads", "capacities", "utilizations", "machines", "hit_rates"):
            for of, value in point[key].items():
                assert row[f"{key}.{of}"] == float(line[f"{key}.{of}"]) == value


def test_a_file_of_another_kind_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = _spec(tmp_path)
    assert main(["incident", spec, "-o", str(tmp_path / "shop.txt")]) == 2
    assert "use the extension `.html`, `.parquet`, `.csv` or `.json`" in capsys.readouterr().err
    page = spec.replace(".qps", ".html") + "/none.html"
    assert main(["incident", spec, "surge", "--no-advice", "-o", page]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_a_report_states_why_there_is_no_course(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec, page = _spec(tmp_path), tmp_path / "shop.html"
    main(["report", spec, "--set", "shoppers=9_000", "-o", str(page), "--no-advice", "-q"])
    capsys.readouterr()
    text = page.read_text(encoding="utf-8")
    assert "is overloaded before the incident" in text


TWO_LOADS = """
users shoppers in 1..200_000
profile visits over day { 08:00..22:00 = 0.6; 18:00..21:00 = 1; else = 0.1 }
profile nightly over day { 01:00..04:00 = 1; else = 0 }
machine vm { cpu 4 core, queueing mmc }
component render { cpu 10 ms/request }
component report { cpu 200 ms/request }
topology { node app = vm * 4 }
stream page for each user { traffic 0.1 request/s * visits; at app { render } }
stream etl in all { traffic 10 request/s * nightly; at app { report } }
require { page.p99 <= 300 ms }
"""


@pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
def test_the_day_follows_the_settings_of_the_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], open_page: Callable[..., Any]
) -> None:
    file, page = tmp_path / "day.qps", tmp_path / "day.html"
    file.write_text(TWO_LOADS)
    main(["report", str(file), "-o", str(page), "--no-advice", "-q"])
    opened = open_page(page.read_text(encoding="utf-8"))
    before = _lines(opened)
    assert ("course-backlog", "app CPU") not in before
    for at, demand in ((9_000, None), (20_000, None), (20_000, "9")):
        opened.page.evaluate("(at) => { qps.shown.follows = false; qps.shown.n = at; }", at)
        settings = ["--set", f"shoppers={at}"]
        if demand is None:
            opened.page.evaluate("() => qps.change(true)")
        else:
            assert opened.page.evaluate(TYPE, ["render.cpu.request", demand])
            settings += ["--set", f"render.cpu.request={demand} ms/request"]
            opened.page.wait_for_function("() => qps.shown.good.numbers.has('render.cpu.request')")
        opened.page.evaluate("() => qps.pictures.forEach((one) => one.redraw())")
        course = _printed(capsys, "solve", str(file), *settings, "--no-advice")["course"]
        lines = _lines(opened)
        load = lines["course-load", "utilization"]
        starts = [one["start"] for one in course["times"]]
        for hour, value in zip(load.at, _values(load, 0.01), strict=True):
            moment = course["times"][bisect_right(starts, min(round(60 * hour), 24 * 60 - 1)) - 1]
            assert value == pytest.approx(moment["utilization"], rel=1e-5), (at, hour)
        backlogs = course["backlog_courses"]
        assert (("course-backlog", "app CPU") in lines) == bool(backlogs) == (at == 20_000)
        for one in backlogs:
            worst = max(point["backlog"] for point in one["points"])
            unit = 60 if 120 <= worst < 7200 else 1 if worst < 120 else 3600
            drawn = _values(lines["course-backlog", "app CPU"], unit)
            assert drawn == pytest.approx([point["backlog"] for point in one["points"]], rel=1e-5)
        assert f"Day at {at:,} shoppers" in opened.page.text_content("#over-time")
