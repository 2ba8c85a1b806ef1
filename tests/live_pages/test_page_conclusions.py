"""The lines of folded sections: what they come to is counted as `qps solve` has it."""

from __future__ import annotations

import json
import re
from math import factorial
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of
from helpers.specs import checked
from qps.cli import main
from qps.compiler.pipeline import load

SITE = Path(__file__).parents[2] / "benchmarks" / "applications" / "site.qps"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

SATURATING = """users N in 1..150
machine web { cpu 2 core, queueing mmc }
machine base { cpu 3 core, queueing mdc }
machine laptop { }
component answer { cpu 10 ms/request }
component query { cpu 14 ms/request }
param pace = 1.5 request/s in 0.1..9 request/s
network lan { switched; rate 1 Gbit/s }
topology {
  node front = web; node store = base; node user = laptop * N
  link wire = lan between front, store
}
stream pages for each user {
  traffic pace, 1 kB/request; at front { answer }; over wire; at store { query }
}
stream reports { traffic 50 request/s; at store { query } }
require { pages.latency <= LIMIT }
require { reports.latency <= 400 ms }
"""
FOUND = """() => {
  const { run, solved, graph } = qps.shown;
  const first = (step) => {
    for (let n = graph.low; n <= graph.high; n++) {
      const value = run.at(n).value(step);
      if (!Number.isFinite(value) || value > 1e-9) return n;
    }
    return null;
  };
  const before = (n) => n === null ? graph.high : n === graph.low ? null : n - 1;
  return solved.criteria.map(({ criterion, failure, holds }) => [
    [failure, holds],
    [first(criterion.over), before(first(criterion.overShown ?? criterion.over))]]);
}"""


def _counts(line: str) -> tuple[int, ...]:
    met, count, unknown = re.fullmatch(
        r"(\d+) of (\d+) met at [\d,]+(?:, (\d+) not known)?", line
    ).groups()  # type: ignore[union-attr]
    return int(met), int(count), int(unknown or 0)


def _solved(capsys: pytest.CaptureFixture[str], file: Path, *settings: str) -> tuple[int, ...]:
    """Return how many requirements are met, of how many, and of how many that is not known."""
    options = [text for one in settings for text in ("--set", one)]
    main(["solve", str(file), *options, "--format", "json", "--all", "-q"])
    answer = json.loads(capsys.readouterr().out)
    rows = answer["requirements"]
    unknown = [
        one
        for one in rows
        if one["measure"] != answer["limited_by"]
        and one["known"]["kind"] == ("lower bound" if "<" in one["operator"] else "upper bound")
    ]
    return len(rows) - len(unknown), len(rows), len(unknown)


def test_a_requirement_of_which_nothing_is_proven_is_not_counted_as_met(
    open_page: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = _solved(capsys, SITE)
    assert expected == (1, 2, 1)  # p99 excludes the queueing delay of the link
    html = html_of(load(SITE))
    page = open_page(html)
    assert _counts(page.page.text_content("#of-users-see")) == expected
    static = open_page(html, scripts=False)
    assert _counts(static.page.text_content("#of-users-see")) == expected
    page.page.fill("#number-pace", "0.2")
    assert _counts(page.page.text_content("#of-users-see")) == expected
    page.page.fill("#population", "100000")
    assert _counts(page.page.text_content("#of-users-see")) == (0, 2, 0)


@pytest.mark.parametrize("limit", ["60 ms", "34 ms", "26 ms", "24 ms"])
def test_limits_of_what_saturates_are_found_where_a_look_at_each_population_finds_them(
    limit: str, open_page: Any
) -> None:
    page = open_page(html_of(checked(SATURATING.replace("LIMIT", limit))))
    has_shown = "() => qps.shown.solved.criteria.some((one) => one.criterion.overShown)"
    for pace in ("1.5", "0.7", "3.1", "0.2"):
        page.page.fill("#number-pace", pace)
        assert page.run(has_shown)
        for found, expected in page.run(FOUND):
            assert found == expected


UNCERTAIN = """users N in 1..2_000
param clicks = 0.1 request/s +- 20 % in 0.01..1 request/s
param think = 4 ms/request +- 5 %
param size = 20 kB/request +- 10 %
param again = 1.2 +- 1 %
machine server { cpu 4 core, queueing none }
machine laptop { }
network uplink { switched; rate 1 Gbit/s; queueing none }
component answer { cpu 20 ms/request + think * again }
topology { node web = server; node user = laptop * N; link wan = uplink between web, user }
stream pages for each user { traffic clicks, size; at web { answer }; over wan; at user { } }
require { web.cpu.utilization <= 80 % }
"""


def test_uncertain_inputs_and_both_parts_of_a_bar_have_names(
    open_page: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "uncertain.qps"
    file.write_text(UNCERTAIN, encoding="utf-8")
    main(["solve", str(file), "--format", "json", "--all", "-q"])
    answer = json.loads(capsys.readouterr().out)
    inputs = [one["number"] for one in answer["uncertainty"]["shares"]]
    assert inputs[0] == "clicks"
    named = f"4 uncertain inputs: {', '.join(inputs[:3])} and 1 more"
    (cpu,) = (
        one for one in answer["at_reliable_capacity"]["utilizations"] if one["name"] == "web.cpu"
    )
    assert cpu["value"] - cpu["nominal"] > 0.01
    gauge = f"{100 * cpu['value']:.1f} %nominal {100 * cpu['nominal']:.1f} %"
    main(["report", str(file), "-q", "-o", str(tmp_path / "uncertain.html")])
    html = (tmp_path / "uncertain.html").read_text(encoding="utf-8")
    for scripts in (False, True):
        page = open_page(html, scripts=scripts).page
        assert named in page.text_content("#picture-histogram figcaption")
        shown = page.text_content("#gauges tr:has-text('web CPU') td.num")
        assert shown.replace("\N{NO-BREAK SPACE}", " ") == gauge
    page.fill("#number-clicks", "0.2")  # it is known then
    page.wait_for_function(
        "() => document.querySelector('#picture-histogram').textContent.includes('3 uncertain')"
    )
    left = [one for one in inputs if one != "clicks"]
    caption = page.text_content("#picture-histogram")
    assert all(one in caption.partition("3 uncertain inputs: ")[2][:40] for one in left)


def test_marks_of_changes_have_an_explanation(
    open_page: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = SITE.with_name("infeasible.qps")
    main(["solve", str(file), "--format", "json", "--all", "-q"])
    (first, *_) = json.loads(capsys.readouterr().out)["advice"]
    assert first["known"]["kind"] == "upper bound"
    assert first["known"]["reasons"] == ["queueing delay at `web.cpu` is excluded"]
    main(["report", str(file), "-q", "-o", str(tmp_path / "infeasible.html")])
    html = (tmp_path / "infeasible.html").read_text(encoding="utf-8")
    explained = "≤: an upper bound, as queueing delay at web CPU is excluded"
    for scripts in (False, True):
        page = open_page(html, scripts=scripts).page
        assert explained in page.text_content("#changes-note")
    page.fill("#population", "2")
    page.fill("#controls .number input.amount:not([disabled])", "7")
    page.wait_for_function("() => qps.helps?.length && !qps.advice?.isWorking")
    if page.locator("#advice td.num", has_text="≤").count():
        assert explained in page.text_content("#changes-note")
    else:
        assert "≤" not in page.text_content("#changes-note")
    main(["solve", str(file)])
    assert explained in capsys.readouterr().out


def _replies_at(users: float, pace: float) -> tuple[float, float, float]:
    """Return service, queueing delay and transmission of a reply of the site, in s: M/M/4."""
    service, cores, servers = 8e-3 + 0.5e-9 * 80e3, 4, 2
    offered = users * pace / servers * service
    terms = [offered**k / factorial(k) for k in range(cores)]
    last = offered**cores / factorial(cores) * cores / (cores - offered)
    waiting = last / (sum(terms) + last) * service / (cores - offered)
    return service, waiting, 80e3 * 8 / 1e9


def _path_line(users: float, pace: float) -> str:
    service, waiting, sent = _replies_at(users, pace)
    total = service + waiting + sent
    shares = (f"{100 * part / total:.0f} %" for part in (service + waiting, service, waiting))
    at_web, work, queue = shares
    return f"{at_web} of replies latency is at web: {work} service time, {queue} queueing delay"


def test_the_path_of_a_request_says_where_most_of_its_time_goes(open_page: Any) -> None:
    html = html_of(load(SITE))
    for scripts in (False, True):
        page = open_page(html, scripts=scripts).page
        assert page.text_content("#of-system") == _path_line(7_460, 0.1)
    for pace in (0.05, 0.12):
        page.fill("#number-pace", str(pace))
        users = page.evaluate("() => qps.shown.n")
        assert page.text_content("#of-system") == _path_line(users, pace)
    page.click("#system summary")  # a fold without its pictures says it, too
    page.fill("#number-pace", "0.15")
    line = _path_line(page.evaluate("() => qps.shown.n"), 0.15)
    page.wait_for_function(
        "(line) => document.getElementById('of-system').textContent === line", arg=line
    )
