"""A beginner's first hour: ten first specs, and the tutorial that they were written from.

The specs of tests/first_hour stand as they came to mind (its README counts them): one that is accepted has its
answer here, one that is refused its messages, each with the fix that it names.
"""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

import re
from pathlib import Path

import pytest

from documents.docs import ROOT, blocks
from qps.cli import main
from qps.compiler.pipeline import check_file

FIRST = Path(__file__).parents[1] / "first_hour"
ACCEPTED = {
    "cache": "At 4,001 clients, api CPU utilization is 100.03 % (saturated).",
    "chat": "At 78,140 people, chat CPU utilization is 70.0004 %, above the limit of 70 %.",
    "regions": "At 66,667 users, us CPU utilization is 100.001 % (saturated).",
    "sessions": "At 5,761 players, game memory utilization is 90.02 %, above the limit of 90 %.",
    "shop": "At 24,001 shoppers, web CPU utilization is 100.004 % (saturated).",
}
ONE_NAME = "a machine and a node cannot share a name"
REFUSED = {
    "batch": [*[("QPS0201", "declare it with `unit job`")] * 2, ("QPS0202", ONE_NAME), *[("QPS0201", "`unit job`")] * 2],
    "cost": [("QPS0201", "declare it with `unit photo`"), ("QPS0204", "`phones`"), *[("QPS0201", "`unit photo`")] * 2, ("QPS0302", "`running_cost`")],
    "fast": [("QPS0101", "`cpu …, queueing mmc`"), ("QPS0201", "`query.p99`")],
    "sensors": [("QPS0204", "`field`")],
    "wall": [*[("QPS0202", ONE_NAME)] * 2, ("QPS0202", "a network and a link cannot share a name"), ("QPS0201", "`encode to all screen`")],
}  # fmt: skip
MENDED = {
    "batch": [("component fetch", "unit job\ncomponent fetch"), ("machine queue", "machine broker"), ("= queue\n", "= broker\n")],
    "cost": [("each phone ", "each phones "), ("component resize", "unit photo\ncomponent resize"), ("  cost <=", "  running_cost <=")],
    "fast": [("core; queueing cpu mmc", "core, queueing mmc"), ("query.latency.p99", "query.p99")],
    "sensors": [("each sensor", "each field")],
    "wall": [("machine camera", "machine lens"), ("= camera *", "= lens *"), ("machine screen", "machine panel"), ("= screen *", "= panel *"), ("network lan", "network office"), ("= lan between", "= office between"), ("forward; send to", "forward to"), ("stream video", "stream video for each camera")],
}  # fmt: skip
"""What the messages say, done."""


def test_ten_first_specs_are_looked_at() -> None:
    assert {path.stem for path in FIRST.glob("*.qps")} == {*ACCEPTED, *REFUSED}
    assert len({*ACCEPTED, *REFUSED}) == 10


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_first_spec_answers(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--all", "--no-advice", str(FIRST / f"{name}.qps")]) == 0
    assert ACCEPTED[name] in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("name", REFUSED)
def test_a_first_spec_is_refused_with_the_fix(name: str) -> None:
    found = [one for one in check_file(FIRST / f"{name}.qps").diagnostics if one.is_error]
    assert [one.code.id for one in found] == [code for code, _ in REFUSED[name]]
    for one, (_, fix) in zip(found, REFUSED[name], strict=True):
        assert any(fix in hint for hint in one.hints)


@pytest.mark.parametrize("name", MENDED)
def test_what_its_messages_say_makes_it_sound(name: str, tmp_path: Path) -> None:
    text = (FIRST / f"{name}.qps").read_text(encoding="utf-8")
    for wrong, right in MENDED[name]:
        assert wrong in text
        text = text.replace(wrong, right)
    fixed = tmp_path / f"{name}.qps"
    fixed.write_text(text, encoding="utf-8")
    assert [one for one in check_file(fixed).diagnostics if one.is_error] == []


# -- the tutorial ------------------------------------------------------------------------

TUTORIAL = ROOT / "docs" / "tutorial"
FIRST_PAGE = (TUTORIAL / "first-answer.md").read_text(encoding="utf-8")


def test_the_first_spec_of_the_tutorial_answers_on_the_first_screen() -> None:
    spec, answer = blocks(FIRST_PAGE)[:2]
    assert spec.file == "first.qps"
    assert answer.body.startswith("$ qps solve first.qps\n")
    said = answer.body.index("5,000 users")
    assert FIRST_PAGE[: answer.start + said].count("\n") < 30


def test_no_page_of_the_tutorial_has_more_than_three_new_ideas() -> None:
    pages = [page.read_text(encoding="utf-8") for page in sorted(TUTORIAL.glob("*.md"))]
    found = [match[1] for text in pages if (match := re.search(_NEW, text))]
    assert len(found) > 8
    for new in found:
        ideas = re.sub(r"\([^()]*\)|`[^`]*`", "", new).split(",")
        assert 1 <= len(ideas) <= 3, new


_NEW = r"\n\*Introduces: ((?:[^*`]|`[^`]*`)+)\.\*\n"


FIVE = {
    "shortener": ["QPS0407"],
    "rides": ["QPS0101", "QPS0302"],
    "rag": ["QPS0303"],
    "images": [],
    "crm": ["QPS0203", "QPS0303"],
}


@pytest.mark.parametrize("name", FIVE)
def test_five_of_today_as_they_were_first_typed(name: str) -> None:
    spec = check_file(FIRST / "five" / f"{name}.qps")
    assert [found.code.id for found in spec.diagnostics if found.is_error] == FIVE[name]
