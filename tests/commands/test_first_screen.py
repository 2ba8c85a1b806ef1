"""What `qps solve` prints first: each thing once, within the width, in colors where wanted."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import qps
from helpers.reasons import reason
from qps.cli import main
from qps.commands.terminal.console import wants_color, width_of
from qps.compiler.quantities.certainty import upper_bound
from qps.reports.text.layout.facts import fact_lines
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.nouns import counted
from qps.solver import solved_spec

ROOT = Path(__file__).parents[2]
COLOR = re.compile(r"\x1b\[[0-9;]*m")
SITE = """\
users shoppers in 1..10_000
machine server { cpu 4 core }
machine laptop { cpu 1 core }
network wire { switched; rate 1 Gbit/s }
component answer { cpu 8 ms/request }
topology {
  node web = server
  node browser = laptop * shoppers
  link wan = wire between web, browser
}
stream replies for each browser {
  traffic 0.1 request/s, 80 kB/request
  at web { answer }
  over wan
  at browser { }
}
require { web.cpu.load <= 75 %; replies.latency <= 100 ms }
"""
MANY = (
    "users N in 1..1000\nmachine box { cpu 1 core }\n"
    + "".join(f"component c{n} {{ cpu {n} ms/request }}\n" for n in range(1, 33))
    + "topology { "
    + "; ".join(f"node n{n} = box" for n in range(1, 33))
    + " }\n"
    + "".join(
        f"stream s{n} for each user {{ traffic 0.1 request/s; at n{n} {{ c{n} }} }}\n"
        for n in range(1, 33)
    )
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    Path("site.qps").write_text(SITE, encoding="utf-8")
    Path("many.qps").write_text(MANY, encoding="utf-8")


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["solve", *arguments])
    return capsys.readouterr().out


def test_capacity_is_reported_in_the_noun_of_the_spec_and_the_limiter_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = reported(capsys, "site.qps")
    lines = text.splitlines()
    assert lines[:2] == [f"{'site':72}site.qps", ""]
    assert lines[2] == "  Capacity     3,750 shoppers (upper bound)"
    assert lines[3] == "  Bottleneck   web CPU: utilization at its 75 % limit"
    assert lines[4].startswith("  Next limit   none up to 10,000 shoppers ")
    assert lines[5:8] == [
        "  p99          replies ≥ 8.64 ms",
        "  Mean latency replies ≥ 8.64 ms (limit 100 ms)",
        "  Unverified   model error of replies latency; run `qps simulate site.qps`",
    ]
    assert lines[8].startswith("  Uncertainty  none stated: inputs are taken as exact ")
    assert "web.cpu.utilization" not in text.replace("limit of web.cpu.utilization", "")
    assert "\n  Ways to raise capacity" in text
    assert "\n  Recommended  web.cpu.cores: 4 -> 8 " in text
    assert " 7,500\n                   --set 'web.cpu.cores = 8 core'\n" in text
    assert "\n  Relax goal   web CPU limit: 75 -> 87.5 % " in text
    assert "\n  Cost         no prices set; add " in text
    nothing = "Next limit none up to 10,000 shoppers (the maximum of `users shoppers`)"
    assert nothing in " ".join(text.split())
    values = [line[15:] for line in lines[2:9] if line[2:3].strip()]
    assert all(value[:1].strip() for value in values)


@cache
def kafka_screen() -> str:
    """Return what is printed of a spec with prices, uncertain inputs and model errors."""
    with redirect_stdout(StringIO()) as out:
        main(["solve", str(ROOT / "specs/applications/kafka.qps"), "--samples", "1000", "-q"])
    return out.getvalue()


def test_changes_are_bought_made_or_serve_less_traffic(capsys: pytest.CaptureFixture[str]) -> None:
    """What is bought comes first, and what has a price before what has none."""
    text = kafka_screen()
    changes = text[text.index("  Ways to raise capacity") : text.index("  Cost ")]
    labels = re.findall(r"^  (\S.{11}) (\w+)", changes, re.MULTILINE)
    assert labels == [
        ("Recommended ", "broker"),
        ("Buy         ", "broker"),
        ("Change      ", "copies"),
    ]
    assert changes.index("+$1,753/month") < changes.index("no price set")
    spec = str(ROOT / "specs/applications/llm.qps")
    llm = reported(capsys, spec, "--samples", "1000", "-q")
    assert "\n  Less traffic pace: 1 -> 0.9 requests/minute" in llm


def test_a_utilization_is_a_bar_with_a_tick_at_its_target(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = reported(capsys, str(ROOT / "specs/sfu.qps"), "-q", "--no-advice")
    assert "\n  wan egress from sfu     ████░░|░░  49.3 % " in text
    assert "\n  sfu CPU                 ██████|░░  74.6 % " in text


def test_what_can_be_done_comes_first_where_nobody_is_supported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slow = SITE.replace("replies.latency <= 100 ms", "replies.latency <= 5 ms")
    Path("slow.qps").write_text(slow, encoding="utf-8")
    text = reported(capsys, "slow.qps", "-q")
    assert text.index("  Violated ") < text.index("  Possible fixes ") < text.index("  Next limit")
    assert "≥ 8.6" in text
    assert "\n  Accuracy     certain for this model\n" in text


def test_the_values_of_one_quantity_have_the_unit_of_its_limit() -> None:
    text = " ".join(kafka_screen().split())
    assert "Model error included: events latency ± 10 %, reading latency ± 10 %" in text
    assert "reading ~ 0.122 ms (limit 5 ms)" in text


@pytest.mark.parametrize("queueing", ["", ", queueing mmc"])
def test_the_bottleneck_saturates_at_one_figure(
    queueing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where a queue grows without end at 100 %, one less is the last with a latency."""
    text = SITE.replace("web.cpu.load <= 75 %; replies.latency <= 100 ms", "shoppers <= 100")
    text = text.replace("cpu 4 core", f"cpu 4 core{queueing}")
    Path("few.qps").write_text(text, encoding="utf-8")
    text = reported(capsys, "few.qps", "--no-advice")
    assert "\n  Busiest " not in text  # it is the next limit
    assert "\n  Next limit   web CPU: saturated at 5,000 shoppers (2 % at 100)\n" in text


def test_quality_is_reported_by_the_requirements_behind_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = reported(capsys, str(ROOT / "specs/audioconference.qps"), "--no-advice", "-q")
    assert "1.00" not in text
    assert "  Limit        overall quality penalty: voice latency ≥ 227 ms (limit" in text


def test_eight_resources_are_reported_and_how_full_the_others_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = reported(capsys, "many.qps", "--no-advice")
    rows = re.findall(r"^  n(\d+) CPU ", text, re.MULTILINE)
    assert rows == [str(n) for n in range(32, 24, -1)]
    largest = qps.load("many.qps").solve().capacity
    assert largest == 312
    share = 24 * 312 * 0.1 * 0.001 * 100  # of n24, the fullest of the others
    assert f"\n  24 more resources below {int(share) + 1} % utilization\n" in text
    assert (
        len(re.findall(r" n\d+\.cpu$", reported(capsys, "many.qps", "--all"), re.MULTILINE)) == 32
    )


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("spec", ["site.qps", "many.qps", "iri", "capacity", "sfu"])
def test_it_fits_the_terminal(
    columns: int, spec: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    path = spec if spec.endswith(".qps") else str(ROOT / f"specs/{spec}.qps")
    monkeypatch.chdir(Path(path).resolve().parent)
    lines = reported(capsys, Path(path).name, "--no-advice", "-q").splitlines()
    assert max(map(len, lines)) <= columns
    if columns == 200 and spec == "iri":
        assert max(map(len, lines)) > 150


def test_colors_take_nothing_away_and_go_where_they_are_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    bare = reported(capsys, "many.qps", "--no-advice")
    shown = reported(capsys, "many.qps", "--no-advice", "--color", "always")
    assert "\x1b" not in bare
    assert COLOR.sub("", shown) == bare
    assert "\x1b[1;32m  Capacity     312 users\x1b[0m" in shown
    assert "\x1b[1;33m  n32 CPU " in shown
    assert "\x1b[1;33m  Bottleneck" in shown
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert reported(capsys, "many.qps", "--no-advice") == shown
    monkeypatch.setenv("NO_COLOR", "1")
    assert reported(capsys, "many.qps", "--no-advice") == bare


def test_an_answer_of_none_is_a_miss(capsys: pytest.CaptureFixture[str]) -> None:
    Path("none.qps").write_text(SITE.replace("<= 100 ms", "<= 1 us"), encoding="utf-8")
    shown = reported(capsys, "none.qps", "--no-advice", "--color", "always")
    assert "\x1b[1;31m  Capacity     none: not even 1 shopper is supported" in shown
    assert "Violated     replies latency: " in shown


@pytest.mark.parametrize("measure", ["latency", "p99", "p99_9", "p50"])
def test_what_a_latency_is_made_of_stands_below_a_violated_one(
    measure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SITE.replace("replies.latency <= 100 ms", f"replies.{measure} <= 1 ms")
    Path("slow.qps").write_text(text, encoding="utf-8")
    assert main(["solve", "slow.qps", "--no-advice"]) == 1
    cause = "\n  Cause        answer at web 8 ms, wan transmission 0.64 ms (mean latency)\n"
    assert cause in capsys.readouterr().out


def test_parts_of_a_violated_latency_add_up_to_it(capsys: pytest.CaptureFixture[str]) -> None:
    steps = "; ".join(f"s{one}" for one in range(1, 7))
    parts = "\n".join(f"component s{one} {{ delay {one} ms }}" for one in range(1, 7))
    text = SITE.replace("replies.latency <= 100 ms", "replies.latency <= 1 ms")
    text = text.replace("{ answer }", f"{{ answer; {steps} }}") + parts
    Path("slow.qps").write_text(text, encoding="utf-8")
    assert main(["solve", "slow.qps", "--no-advice"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    mean = float(re.search(r"Violated replies latency: (?:. )?([\d.]+) ms", shown)[1])  # type: ignore[index]
    cause = re.search(r"Cause (.*?) \(mean latency\)", shown)[1]  # type: ignore[index]
    assert ", other " in cause
    assert sum(map(float, re.findall(r"([\d.]+) ms", cause))) == pytest.approx(mean, abs=0.1)


@pytest.mark.parametrize("name", ["evil\u202e", "e\x1b[31mvil"])
def test_a_title_drives_no_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("evil.qps").write_text(f'"""{name}"""\n' + MANY, encoding="utf-8")
    shown = reported(capsys, "evil.qps", "--no-advice", "--color", "always")
    assert name not in shown
    assert "\x1b" not in COLOR.sub("", shown)
    assert "\x1b[31m" not in shown


@pytest.mark.parametrize(
    ("count", "name", "expected"),
    [
        (2, "N", "2 users"),
        (1, "N", "1 user"),
        (1, "calls", "1 call"),
        (1, "classes", "1 class"),
        (1, "parties", "1 party"),
        (1, "people", "1 person"),
        (1_000, "data_centres", "1,000 data centres"),
    ],
)
def test_a_noun_is_counted(count: int, name: str, expected: str) -> None:
    assert counted(count, name) == expected


def test_numbers_stay_with_their_units() -> None:
    for width in range(26, 60):
        lines = wrapped("loaded 79.8 % of at most 80 % or >= 12 ms with 163 users", width)
        assert not any(line.endswith((" 79.8", " 80", ">=", " 12", " 163")) for line in lines)


def test_labels_stand_in_a_column() -> None:
    facts = [("a label of its own", "one"), ("short", "two")]
    assert fact_lines(facts) == [["  a label of its own one"], ["  short              two"]]


def test_headings_of_numbers_are_folded_before_a_table_is_too_wide() -> None:
    headings = ("fails", *(f"request.p{level}" for level in (50, 95, 99)))
    rows = (("0 %", "~ 3.334 ms", "~ 12.8 ms", "~ 19.26 ms"),)
    table = Table(headings, rows, frozenset(range(4)))
    assert table.as_text(width=46).splitlines() == [
        "  fails  request.p50  request.p95  request.p99",
        "    0 %   ~ 3.334 ms    ~ 12.8 ms   ~ 19.26 ms",
    ]
    assert table.as_text(width=42).splitlines() == [
        "  fails    request.   request.    request.",
        "                p50        p95         p99",
        "    0 %  ~ 3.334 ms  ~ 12.8 ms  ~ 19.26 ms",
    ]


def test_a_table_cuts_texts_and_never_numbers() -> None:
    table = Table(("name", "load", ""), (("a" * 40, "123,456,789", "b" * 60),), frozenset([1]))
    lines = table.as_text(width=50).splitlines()
    assert max(map(len, lines)) <= 50
    assert "123,456,789" in lines[1]
    assert lines[1].count("…") == 2
    assert table.as_text() == table.as_text(width=200)


def test_columns_are_those_that_are_requested(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as stream:
        assert width_of(stream, {"COLUMNS": "123"}) == 123
        assert width_of(stream, {"COLUMNS": "wide"}) == 80
        assert width_of(stream, {}) == 80
        assert not wants_color("auto", stream, {})
        assert wants_color("auto", stream, {"FORCE_COLOR": "1"})


def test_a_bound_is_reported_as_such() -> None:
    from qps.reports.text.words.certainty_marks import users_as_known

    assert users_as_known(upper_bound(reason("x"))) == "upper bound"


def test_capacity_is_reported_before_advice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("site.qps").write_text(SITE, encoding="utf-8")
    whole = reported(capsys, "site.qps")
    tried = solved_spec.helpful_changes
    early: list[str] = []

    def looked_at(*given: Any) -> Any:
        early.append(capsys.readouterr().out)
        return tried(*given)

    monkeypatch.setattr(solved_spec, "helpful_changes", looked_at)
    later = reported(capsys, "site.qps")
    assert "Capacity     3,750 shoppers (upper bound)" in early[0]
    assert "Ways to raise capacity" in later
    assert early[0] + later == whole


@pytest.mark.parametrize(
    ("demand", "is_nominal"), [("8 ms/request", False), ("8 ms/request +- 20 %", True)]
)
def test_measures_say_that_inputs_are_nominal_where_the_capacity_is_reliable(
    demand: str, is_nominal: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    site = SITE.replace("8 ms/request", demand).replace("cpu 4 core", "cpu 4 core, queueing mmc")
    Path("site.qps").write_text(f"{site}measure replies.latency p50, p90\n", encoding="utf-8")
    main(["solve", "-q", "site.qps", "--no-advice"])
    assert ("(with nominal inputs)" in capsys.readouterr().out) is is_nominal


def test_what_acts_in_incidents_alone_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    acting = "retry replies { timeout 2 s; retries 1 }\nautoscale web in 2..8 { target 60 % }\n"
    for more, expected in (("", False), (acting, True)):
        Path("site.qps").write_text(SITE + more, encoding="utf-8")
        main(["solve", "-q", "site.qps", "--no-advice"])
        shown = " ".join(capsys.readouterr().out.split())
        text = "without timeouts and retries of replies and the autoscaler of web, which act in"
        assert (text in shown) is expected


CLOSED = """\
users N in 1..500
machine small { cpu 1 core, queueing ps; price 1 $/hour }
machine laptop { }
component work { cpu 10 ms/request }
topology { node db = small; node pay = small; node user = laptop * N }
stream browse for each user { traffic 1 request, think 1 s; at db { work } }
stream buy for each user { traffic 0.1 request/s; at pay { work } }
require { browse.latency <= 100 ms }
"""


def test_the_busiest_resource_is_that_with_the_highest_utilization(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also where users wait for its responses, so that it is never overloaded."""
    Path("closed.qps").write_text(CLOSED, encoding="utf-8")
    text = reported(capsys, "closed.qps", "--no-advice")
    used = {
        line.split(" CPU ")[0].strip(): float(found[1])
        for line in text.partition("Utilization")[2].splitlines()
        if (found := re.search(r"([\d.]+) %", line))
    }
    assert max(used, key=lambda name: used[name]) == "db"
    assert f"Busiest      db CPU: utilization {used['db']:g} %" in text


def test_where_nobody_is_supported_nothing_costs_so_much_per_user(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("closed.qps").write_text(CLOSED.replace("100 ms", "1 ms"), encoding="utf-8")
    assert main(["solve", "closed.qps", "--no-advice"]) == 1
    text = capsys.readouterr().out
    assert "not even 1 user is supported" in text
    assert "$1,461/month" in text
    assert "per user" not in text
