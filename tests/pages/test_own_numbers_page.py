"""What a page is set to, a command answers: costs, ratings, capacities and limits, too."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.nightly import nightly
from helpers.reports import html_of
from helpers.specs import checked
from language.test_own_numbers import ELASTIC, LAWS, SHOP
from live_pages.page_settings import ANSWERS, TYPE
from names.test_names_by_place import SHOP as BY_PLACE
from qps.cli import main

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

MOVED = {
    "shop": (SHOP, {
        "wan.rate": "90", "wan.cap": "80000", "page.cpu.request": "3.5", "web.cpu.speed": "7",
        "web.price": "0.3", "limit of ask.latency": "120", "target of cpu": "65", "log.flows": "3",
    }),
    "laws": (LAWS, {"near.rate": "100", "a.cpu.speed": "30", "box.score": "8"}),
    "elastic": (ELASTIC, {"pace.least": "7", "pace.most": "30"}),
    "by_place": (BY_PLACE, {
        "work.cpu.request at auth": "20000", "browse.auth.sends (2)": "900",
    }),
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=nightly if case in ("shop", "laws") else ()) for case in MOVED],
)
def test_the_command_of_a_page_answers_what_the_page_says(
    case: str, open_page: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, moved = MOVED[case]
    page = open_page(html_of(checked(text)))
    before = page.run(ANSWERS)["largest"]
    typed = {name: value for name, value in moved.items() if value}
    for name, value in typed.items():
        assert page.run(TYPE, [name, value]), name
    answers = page.run(ANSWERS)
    assert answers["trouble"] is None
    assert answers["largest"] != before, answers
    command = shlex.split(page.run("() => document.querySelector('.command').textContent"))
    assert command.count("--set") == len(typed)
    monkeypatch.chdir(tmp_path)
    Path("spec.qps").write_text(text, encoding="utf-8")
    assert main([*command[1:], "--no-advice", "--format", "json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert output["capacity"] == answers["largest"]
    for resource in output["resources"]:
        shown = answers["saturations"][resource["name"]]
        assert shown == pytest.approx(resource["saturates_at"], rel=1e-9)
    # The lines of spec that make this state, too.
    lines = page.run("() => document.querySelector('pre.command').textContent")
    Path("spec.qps").write_text(text + lines, encoding="utf-8")
    scenario = ["--scenario", "tried", "--no-advice", "--format", "json"]
    assert main(["solve", "spec.qps", *scenario]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["capacity"] == output["capacity"]


def test_what_was_set_and_is_moved_again_is_set_once(
    open_page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("spec.qps").write_text(SHOP, encoding="utf-8")
    settings = ["--set", "wan.rate=90 Mbit/s", "--set", "web.cpu.cores=2"]
    assert main(["report", "spec.qps", "-o", "page.html", "--no-advice", *settings]) == 0
    page = open_page(Path("page.html").read_text(encoding="utf-8"))
    text = "() => document.querySelector('.command').textContent"
    assert shlex.split(page.run(text)) == ["qps", "solve", "spec.qps", *settings]
    assert page.run(TYPE, ["wan.rate", "80"])
    moved = ["--set", "web.cpu.cores=2", "--set", "wan.rate=80 Mbit/s"]
    assert shlex.split(page.run(text)) == ["qps", "solve", "spec.qps", *moved]
