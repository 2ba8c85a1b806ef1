"""Names of measures: current and former ones mean the same, names of a spec's own come first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import qps
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.measure_renaming import with_current_names
from qps.compiler.pipeline import check_source
from qps.reports.text.schemas.json_encoding import as_json

SITE = """users N in 1..20_000
param effort = 8 ms/request
machine server { cpu 4 core, queueing ps }
machine browser { }
network lan { switched; rate 1 Gbit/s }
component answer { cpu effort }
topology {
  node web = server * 2
  node client = browser * N
  link wan = lan between web, client
}
stream replies for each client {
  traffic 1 request / 20 s, 1 kB/request
  at client { }
  at web { answer }
  over wan
  at client { }
}
"""
PAIRS = [
    ("require { web.cpu.load <= 70 % }", "require { web.cpu.utilization <= 70 % }"),
    ("require { wan.web.in.load <= 1 % }", "require { wan.web.in.utilization <= 1 % }"),
    ("require { web.load <= 70 % }", "require { web.utilization <= 70 % }"),
    (
        "require { quantile(replies.latency, 99 %) <= 30 ms }",
        "require { replies.p99 <= 30 ms }",
    ),
    (
        "require { quantile(replies.latency, 99.9 %) <= 60 ms }",
        "require { replies.p99_9 <= 60 ms }",
    ),
    ("require { quantile(replies.latency, 0.05) <= 3 ms }", "require { replies.p05 <= 3 ms }"),
    (
        "require { max(web.cpu.load, wan.load) <= 60 % }\nmode m { web.cpu.load <= 50 % }",
        (
            "require { max(web.cpu.utilization, wan.utilization) <= 60 % }\n"
            "mode m { web.cpu.utilization <= 50 % }"
        ),
    ),
    (
        "param jittery = 1\nnetwork far { rate 1 Gbit/s; jitter 4 ms^2 * load }",
        "param jittery = 1\nnetwork far { rate 1 Gbit/s; jitter 4 ms^2 * utilization }",
    ),
    (
        "scenario s { limit of web.cpu.load = 50 % }\nrequire { web.cpu.load <= 70 % }",
        (
            "scenario s { limit of web.cpu.utilization = 50 % }\n"
            "require { web.cpu.utilization <= 70 % }"
        ),
    ),
    (
        "expect e { largest_acceptable >= 5; saturation(web.cpu) > 5; source model }",
        "expect e { capacity >= 5; saturation(web.cpu) > 5; source model }",
    ),
    (
        (
            "matrix m { effort in [8 ms/request]; where largest_acceptable > 3 and limited_by != "
            "web.cpu.load; select largest_acceptable, web.cpu.load; "
            "order by web.cpu.load, largest_acceptable descending }"
        ),
        (
            "matrix m { effort in [8 ms/request]; where capacity > 3 and limited_by != "
            "web.cpu.utilization; select capacity, web.cpu.utilization; "
            "order by web.cpu.utilization, capacity descending }"
        ),
    ),
]
OWN = [
    "param capacity = 5\nexpect e { largest_acceptable >= capacity; source model }",
    "func two(capacity) = 2 * capacity\nexpect e { largest_acceptable >= two(1); source model }",
    "param utilization = 5\nnetwork far { rate 1 Gbit/s; jitter 4 ms^2 * utilization * load }",
    (
        "matrix m { effort in [8 ms/request]; column capacity = 2 * N; "
        "where largest_acceptable > 3; select capacity, largest_acceptable }"
    ),
    "machine other { load 5 request/s }\nrequire { web.load <= 70 % }",
    "expect e { quantile(replies.latency, 1/3) >= 0 s; source model }",
]


def renamed(text: str) -> str:
    return with_current_names(Source("site.qps", text)).text


def answers_of(text: str) -> object:
    model = qps.loads(text)
    claims = [(claim.predicted, claim.verdict) for claim in model.test(simulate=False)]
    rows = [model.matrix(m.name).to_arrow().to_pylist() for m in model.spec.model.matrices]
    scenarios = [None, *(one.name for one in model.spec.model.scenarios)]
    return claims, rows, [as_json(model.solve(one)) for one in scenarios]


@pytest.mark.parametrize(("former", "current"), PAIRS)
def test_both_names_mean_the_same_and_the_former_is_rewritten(former: str, current: str) -> None:
    assert answers_of(SITE + former) == answers_of(SITE + current)
    assert renamed(SITE + former) == SITE + current
    assert renamed(SITE + current) == SITE + current


@pytest.mark.parametrize("own", OWN)
def test_a_name_of_the_specs_own_comes_first_and_stays(own: str) -> None:
    outcome = check_source(Source("site.qps", SITE + own))
    assert outcome.value is not None, outcome.diagnostics
    assert renamed(SITE + own) == SITE + own


def test_a_parameter_called_capacity_is_meant_by_it() -> None:
    claim = "expect e { capacity == 5; largest_acceptable > 5; source model }"
    results = qps.loads(f"{SITE}param capacity = 5\n{claim}").test(simulate=False)
    assert [one.holds for one in results] == [True, True]


def test_a_column_called_capacity_and_the_answer_are_both_columns() -> None:
    matrix = (
        "matrix m { effort in [8 ms/request, 16 ms/request]; column capacity = 2 * 3\n"
        "select capacity, largest_acceptable; order by largest_acceptable }"
    )
    table = qps.loads(SITE + matrix).matrix().to_arrow()
    assert table.column("capacity").to_pylist() == [6, 6]
    assert table.column("answer:capacity").to_pylist() == [9_999, 19_999]


def test_what_an_instance_measures_is_renamed_and_what_it_declares_stays(tmp_path: Path) -> None:
    part = "let load = 3\n" + SITE.replace("N in 1..20_000", "people in 1..9").replace("* N", "")
    (tmp_path / "part.qps").write_text(part)
    text = 'users N in 1..9\nuse "part.qps" as p with population = N\n'
    claims = "expect e {{ p.load == 3; p.web.cpu.{0} < 1 with N = 1; source model }}\n"
    source = Source("main.qps", text + claims.format("load"), tmp_path)
    assert with_current_names(source).text == text + claims.format("utilization")


@pytest.mark.parametrize(
    ("wrong", "fix"),
    [
        ("replies.latency.p99", "`replies.p99`"),
        ("replies.latency.p999", "`replies.p99_9`"),
        ("p99(replies.latency)", "`replies.p99`"),
        ("replies.p99.9", "`p99_9`"),
        ("web.cpu.lod", "`web.cpu.utilization`"),
        ("quantile(replies.loss, 99 %)", "`replies.p99_9`"),
    ],
)
def test_messages_say_the_current_name(wrong: str, fix: str) -> None:
    found = check_source(Source("site.qps", f"{SITE}require {{ {wrong} <= 1 s }}")).diagnostics
    assert fix in str(found[0].hints)


def test_fmt_rewrites_names_and_its_check_asks_for_the_layout_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "site.qps"
    path.write_text(SITE + PAIRS[0][0] + "\n")
    current = tmp_path / "current.qps"
    current.write_text(SITE + PAIRS[0][1] + "\n")
    main(["fmt", "-q", str(current)])
    laid_out = current.read_text().replace("utilization", "load")
    path.write_text(laid_out)
    assert main(["fmt", "--check", str(path)]) == 0
    assert main(["fmt", "--check", "--upgrade", str(path)]) == 1
    assert main(["fmt", "-q", str(path)]) == 0
    assert path.read_text() == current.read_text() != laid_out


def test_a_spec_with_current_names_is_no_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = []
    for number, needs in enumerate(PAIRS[0]):
        specs.append(tmp_path / f"{number}.qps")
        specs[-1].write_text(SITE + needs)
    assert main(["diff", *map(str, specs), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["changes"], found["added"], found["removed"]) == ([], [], [])


@pytest.mark.parametrize(
    "name",
    ["web.cpu.load", "web.cpu.utilization", "quantile(replies.latency, 99 %)", "replies.p99"],
)
def test_explain_takes_both_names(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "site.qps"
    path.write_text(SITE)
    assert main(["explain", str(path), name, "--at", "10", "--format", "json"]) == 0
    current = "replies.p99" if "replies" in name else "web.cpu.utilization"
    assert json.loads(capsys.readouterr().out)["name"] == current
