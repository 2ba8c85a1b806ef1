"""Texts of the first edition: refused with the fix, or rewritten to mean the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from qps.api import load, loads
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.edition_upgrade import upgraded
from qps.compiler.pipeline import check_source

FIRST = Path(__file__).parents[1] / "first_edition"
OLD = sorted(FIRST.glob("*.qps"))
ANSWERS = json.loads((FIRST / "answers.json").read_text(encoding="utf-8"))
"""What the compiler of the first edition answered, by spec and scenario; commit 51d5117."""

HARDWARE = """users N in 1..1000
machine box { cpu 1 core }
component work { cpu 1 ms/request }
topology { node one = box; node few = box * 3; node many = box * N }
"""


def rewritten(text: str) -> str:
    outcome = upgraded(Source("old.qps", text))
    assert outcome.value is not None, outcome.diagnostics
    return outcome.value.text


def answers() -> Iterator[tuple[str, str]]:
    for name, scenarios in ANSWERS.items():
        for scenario in scenarios:
            yield name, scenario


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_text_of_the_first_edition_is_refused_with_the_fix(path: Path) -> None:
    outcome = check_source(Source(path.name, path.read_text(encoding="utf-8")))
    found = [diagnostic for diagnostic in outcome.diagnostics if diagnostic.code.id == "QPS0108"]
    assert outcome.value is None
    assert len(found) == 1
    assert "qps fmt --upgrade" in str(found[0].hints)


def test_a_time_to_think_behind_a_source_is_reported_as_its_traffic() -> None:
    text = (
        "users N in 1..9\nmachine box { cpu 1 core, queueing mm1 }\n"
        "component work { cpu 1 s/request }\ntopology { node host = box\n node seat = box * N }\n"
        "stream job for each seat {\n  source 1 request, think 15 s\n  at host { work }\n}\n"
        "require { job.latency <= 2 s }\n"
    )
    found = check_source(Source("old.qps", text)).diagnostics
    assert [result.code.id for result in found] == ["QPS0108"]
    assert "traffic 1 request, think 15 s\n" in rewritten(text)


@pytest.mark.parametrize(("name", "scenario"), list(answers()))
def test_what_is_rewritten_answers_as_it_did(name: str, scenario: str) -> None:
    text = rewritten((FIRST / f"{name}.qps").read_text(encoding="utf-8"))
    answer = loads(text).solve(scenario=scenario or None)
    was = ANSWERS[name][scenario]
    assert answer.capacity == was["largest_acceptable"]
    quality = answer.quality and [answer.quality.metric, answer.quality.at_limit]
    assert quality == was["quality"] or answer.quality.at_limit == pytest.approx(was["quality"][1])
    for resource in answer.resources:
        assert resource.utilization_at_limit == pytest.approx(
            was["loads"][resource.name], rel=1e-12
        )


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_comments_stay_and_once_is_enough(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new = rewritten(text)
    comments = [line.partition("#")[2] for line in text.splitlines() if "#" in line]
    assert [line.partition("#")[2] for line in new.splitlines() if "#" in line] == comments
    assert rewritten(new) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("stream s { source 1 request/s; at one { work } }", "stream s for each one { traffic"),
        (
            "stream s { source 1 request/s; at many { work } }",
            "stream s for each many { traffic 1 request/s;",
        ),
        (
            "stream s { source 1 request/s; at few { work }; at one { work } }",
            "stream s for each few { traffic",
        ),
        (
            "stream s { source 1 request/s; at one { work } }\nscenario more { one = box * 4 }",
            "stream s for each one { traffic",
        ),
        (
            "stream s for each many { source 1 request/s; at one { work } }",
            "stream s for each many { traffic",
        ),
        (
            "stream s in all { source 1 request/s; at few { work } }",
            "stream s in all { traffic 1 request/s;",
        ),
        (
            "stream s { source N / (1/20 s) * 1 request; at one { work } }",
            "traffic N / (1 / (20 s)) * 1 request;",
        ),
        (
            "stream s { source N * 1 s * 1 request * -1/20 s * -1/20 s; at one { work } }",
            "* -1 / (20 s) * -1 / (20 s);",
        ),
        ("stream s { source (1/20) request/s; at one { work } }", "traffic (1/20) request/s;"),
        (
            "stream s { source 80 bit/s in 8 bit/request; at one { work } }",
            "traffic 80 bit/s, 8 bit/request;",
        ),
        (
            "stream s { source (80 bit/s) in (8 bit/request); at one { work } }",
            "traffic (80 bit/s), (8 bit/request);",
        ),
        (
            "stream s { source 1 request/s, 8 bit/request in 1 bit/packet; at one { work } }",
            "traffic 1 request/s, 8 bit/request, 1 bit/packet;",
        ),
    ],
)
def test_what_the_first_edition_said_otherwise_is_rewritten(old: str, new: str) -> None:
    assert new in rewritten(HARDWARE + old)


@pytest.mark.parametrize(
    ("needs", "is_stated"),
    [
        ("require { s.latency <= 1 s }", False),
        ("require { s.latency <= 1 s; one.cpu.load <= 80 % }", False),
        ("require { s.latency <= 1 s; s.loss <= 1 % }", True),
        ("require { s.latency <= 1 s; s.loss <= 1 % }\nquality worst", False),
        ("require { s.latency <= 1 s }\nmode m { s.loss <= 1 % }", True),
        ("mode m { s.loss <= 1 % }\nmode n { s.latency <= 1 s }", False),
    ],
)
def test_the_metric_is_stated_where_it_joins_several_axes(needs: str, is_stated: bool) -> None:
    new = rewritten(HARDWARE + "stream s { source 1 request/s; at one { work } }\n" + needs)
    assert ("quality euclidean" in new) is is_stated


@pytest.mark.parametrize("top", ["", '"""What it is for."""\n'])
def test_a_text_of_this_edition_is_laid_out_and_names_it(top: str) -> None:
    text = HARDWARE + "stream s in all { traffic 1/20 request/s; at few { work } }\n"
    new = f"{top}edition 2026\n{text}"
    assert rewritten(top + text) == new
    assert rewritten(new) == new


def test_a_module_that_names_its_edition_is_not_taken_for_another() -> None:
    text = "edition 2026\nlet often = 1/20 message/s\n"
    assert rewritten(text) == text


def test_a_module_without_a_stream_is_taken_for_one_of_the_first() -> None:
    new = rewritten("let often = 1/20 message/s  # seldom\n")
    assert new == "edition 2026\nlet often = 1 / (20 message)/s  # seldom\n"


def test_the_whole_road(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.qps"
    path.write_text(HARDWARE + "stream s { source 1 request/s; at many { work } }\n")
    assert main(["check", str(path)]) == 2
    assert "QPS0108" in capsys.readouterr().err
    assert main(["fmt", "--check", "--upgrade", str(path)]) == 1
    assert main(["fmt", "--upgrade", str(path)]) == 0
    assert main(["check", str(path)]) == 0
    assert main(["fmt", "--check", str(path)]) == 0


def test_one_flow_in_all_is_never_multiplied() -> None:
    """What scaled out both carried 1,000 now halves the load: cases/language/scaling_out."""
    text = HARDWARE.replace("1..1000", "1..100_000")
    spec = loads(text + "stream s { traffic N * 1 request/s; at one { work } }\n")
    carried = [spec.solve(set={"one": f"box * {count}"}).capacity for count in (1, 4)]
    assert carried == [1000, 4000]


@pytest.mark.parametrize("between", ["/  # by\n  20 request", "# before\n  / 20 request"])
def test_a_comment_within_a_quotient_stays(between: str) -> None:
    new = rewritten(f"let often = (1 {between})\n")
    comment = between.partition("#")[2].splitlines()[0]
    assert f"#{comment}" in new
    assert "(20 request)" in new


REGION = """users n in 1..1000
machine pod { cpu 1 core }
component work { cpu 1 ms/request }
topology { node web = pod }
stream ask { source 1 request/s; at web { work } }
require { ask.latency <= 1.4 ms }
"""


@pytest.mark.parametrize("is_first", [False, True])
@pytest.mark.parametrize(
    "instances",
    [
        'use "region.qps" as eu with n = N\nuse "region.qps" as us with n = N\n',
        'kinds place { us 1; eu 1 }\nuse "region.qps" as at_each for each place with n = N\n',
    ],
)
def test_the_metric_of_instances_is_stated(instances: str, is_first: bool, tmp_path: Path) -> None:
    """Nothing of the spec says that several axes are joined: each instance has one."""
    main_spec, region = tmp_path / "main.qps", tmp_path / "region.qps"
    main_spec.write_text(f"{instances}users N in 1..1000\n")
    region.write_text(REGION)
    paths = [str(main_spec), str(region)]
    assert main(["fmt", "--upgrade", *(paths if is_first else reversed(paths))]) == 0
    assert main_spec.read_text().endswith("quality euclidean\n")
    assert load(main_spec).solve().capacity is None  # 1 by 1.4, twice: 1.01


PARTS = """users N in 1..1000
param hits = 85 % in 0..100 %
machine box {{ cpu 1 core, queueing mm1; memory 4 GB }}
component get  {{ cpu 20 us/request }}
component scan {{ {demand} }}
topology {{ node store = box }}
stream s for each user {{ {word} 1 request/s; at store {{ get; {step} }} }}
require {{ s.latency <= 1 s }}
"""


def parts(step: str, demand: str = "cpu 31 ms/request", word: str = "traffic") -> str:
    return PARTS.format(step=step, demand=demand, word=word)


@pytest.mark.parametrize("word", ["source", "traffic"])
@pytest.mark.parametrize(
    ("step", "demand", "average"),
    [
        ("scan * 1.4 %", "cpu 31 ms/request", "cpu 1.4 % * 31 ms/request"),
        ("scan * (1 - hits)", "cpu 31 ms/request", "cpu (1 - hits) * 31 ms/request"),
        ("scan * 0.5 if hits > 1 %", "delay 2 ms", "delay 0.5 * 2 ms"),
        (
            "scan * 1.4 %",
            "cpu 1 ms/request + 2 ms/request",
            "cpu 1.4 % * (1 ms/request + 2 ms/request)",
        ),
        ("scan * 1.4 %", "cpu 31 ms/request +- 10 %", "cpu 1.4 % * 31 ms/request +- 10 %"),
        (
            "scan * 0.5",
            "cpu 1 ms/request; memory 1 MB",
            "cpu 0.5 * 1 ms/request; memory 0.5 * 1 MB",
        ),
    ],
)
def test_a_part_of_a_step_is_its_average_demand(
    word: str, step: str, demand: str, average: str
) -> None:
    """As it was: a step that ran 1.4 % of a time cost every item 1.4 % of it."""
    new = rewritten(parts(step, demand, word))
    assert f"component scan {{ {average} }}" in new
    assert re.search(r"get; scan( if hits > 1 %)? }", new)
    assert "quality" not in new  # there is nothing that would join several
    assert rewritten(new) == new


def test_an_average_demand_has_the_load_of_a_chance() -> None:
    text = parts("scan * 1.4 %")
    by_chance = upgraded(Source("old.qps", text), by_chance=True).value
    assert by_chance is not None
    assert "get; 1.4 %: scan }" in by_chance.text
    loads_of = [
        loads(new).sweep(N=[500])["store.cpu.utilization"]
        for new in (rewritten(text), by_chance.text)
    ]
    assert loads_of[0] == pytest.approx(500 * (20e-6 + 1.4e-2 * 31e-3))
    assert loads_of[1] == pytest.approx(loads_of[0])
    later = [loads(new).sweep(N=[500])["s.latency"] for new in (rewritten(text), by_chance.text)]
    assert later[1] > 5 * later[0]  # a few long ones are waited for


def test_what_others_run_whole_is_copied() -> None:
    text = parts("scan; scan * 10 %; scan * 10 %; scan * 20 %").replace(
        "}\ntopology", "}  # by all\ncomponent scan_average { delay 0 s }\ntopology"
    )
    new = rewritten(text)
    assert "get; scan; scan_average2; scan_average2; scan_average3 }" in new
    lines = [line for line in new.splitlines() if line.startswith("component scan")]
    assert [" ".join(line.split()) for line in lines] == [
        "component scan { cpu 31 ms/request } # by all",
        "component scan_average2 { cpu 10 % * 31 ms/request }",
        "component scan_average3 { cpu 20 % * 31 ms/request }",
        "component scan_average { delay 0 s }",
    ]


def test_two_and_a_half_runs_of_the_first_edition_cost_as_much() -> None:
    """In this edition half of the items run a step a third time, which the first one did not."""
    new = rewritten(parts("scan * 2.5; get * 2", word="source"))
    assert "component scan { cpu 2.5 * 31 ms/request }" in new
    assert "get; scan; get * 2 }" in new
    assert "get; scan * 2.5 }" in rewritten(parts("scan * 2.5"))
    of_first = upgraded(Source("old.qps", parts("scan * 2.5", word="source")), by_chance=True)
    assert of_first.value is not None
    assert "get; scan * 2.5 }" in of_first.value.text
    assert [step.is_repeated for step in of_first.value.steps] == [True]


@pytest.mark.parametrize(
    ("step", "demand", "by_chance"),
    [
        ("both * 10 %", "cpu 1 ms/request", False),
        ("scan * 10 %", "cpu 1 ms/request; memory 1 MB", True),
        ("scan * 10 %", "cpu 3 ms/request +- 1 ms/request", False),
    ],
)
def test_what_cannot_be_rewritten_is_refused(step: str, demand: str, *, by_chance: bool) -> None:
    text = parts(step, demand).replace("topology", "component both { run scan }\ntopology")
    outcome = upgraded(Source("old.qps", text), by_chance=by_chance)
    assert outcome.value is not None
    assert outcome.value.steps == ()
    assert step in outcome.value.text
    assert [found.code.id for found in outcome.diagnostics] == ["QPS0528"]


def test_what_steps_mean_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "old.qps"
    path.write_text(parts("scan * 1.4 %"))
    assert main(["fmt", "--chance", str(path)]) == 2
    assert "`--upgrade`" in capsys.readouterr().err
    assert main(["fmt", "--check", "--upgrade", str(path)]) == 1
    told = capsys.readouterr().err
    assert "`cpu 1.4 % * 31 ms/request`" in told
    assert "`1.4 %: scan`" in told
    assert main(["fmt", "--upgrade", "--chance", str(path)]) == 0
    assert "results change" in capsys.readouterr().err
    assert "get; 1.4 %: scan }" in path.read_text()
    path.write_text(
        parts("both * 10 %").replace("topology", "component both { run scan }\ntopology")
    )
    assert main(["fmt", "--upgrade", str(path)]) == 2
    assert "QPS0528" in capsys.readouterr().err
