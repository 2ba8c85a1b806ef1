"""What the page says would help: copies of machines too, and changes that help only together."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from shlex import split
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of
from helpers.specs import PRELUDE, checked
from qps.cli import main
from qps.compiler.pipeline import load
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.reports.text.changes.sizing_sentences import sizing_answer
from qps.reports.text.words.labels import labels_of
from qps.solver.answers.answer_parts import ChangeKind
from qps.solver.answers.worst_mode import solve_model
from qps.solver.what_if.advice import advise
from qps.solver.what_if.sizing import size

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

# What is read: spaces at which no line breaks are spaces.
ROWS = """() => [...document.querySelectorAll("#advice tbody tr")].map(
  (row) => [...row.cells].slice(0, -1).map((cell) => cell.textContent.replaceAll("\u00a0", " ")))"""
ONE_MACHINE = (
    PRELUDE + "machine server { cpu 1 core; price 900 $ }\n"
    "topology { node host = server\n node user = box * N }\n"
    "stream flow for each user { traffic 1 packet/s; at host { work } }\n"
)
THREE = (
    PRELUDE + "machine one { cpu 1 core }\n"
    "topology { node web, app, db = one\n node user = box * N }\n"
    "stream first for each user { traffic 1 packet/s; at web { work } }\n"
    "stream second for each user { traffic 1 packet/s; at app { work } }\n"
    "stream third for each user { traffic 1 packet/s; at db { work } }\n"
)


def test_copies_of_a_machine_are_advised_as_the_solver_does_with_what_they_cost(
    open_page: Any,
) -> None:
    spec = checked(ONE_MACHINE.replace("1..100\n", "1..1000\n"))
    page = open_page(html_of(spec))
    page.page.wait_for_selector("#advice button")
    rows = {row[1]: row for row in page.run(ROWS)}
    configuration = spec.configuration()
    answer = advise(spec.model, configuration, solve_model(spec.model, configuration))
    (copies,) = (one for one in answer if one.change == "host = server * 2")
    assert rows["host: 1 → 2 servers"][2].endswith(f"{copies.capacity:,}")
    assert rows["host: 1 → 2 servers"][3] == "+$900"
    assert copies.price == 900
    page.page.click("[aria-label='Try host: 1 → 2 servers']")
    assert "--set 'host=server * 2'" in page.page.inner_text(".command")
    assert page.run("() => qps.shown.solved.largest") == copies.capacity


def test_where_three_are_full_at_once_it_takes_all_three(open_page: Any) -> None:
    spec = checked(THREE.replace("1..100\n", "1..1000\n"))
    page = open_page(html_of(spec))
    page.page.wait_for_selector("#advice button")
    (row,) = page.run(ROWS)
    assert row[0] == "Buy", row
    assert len(row[1].split(" and ")) == 3
    command = page.page.locator("#advice tbody span[title]").get_attribute("title") or ""
    words = split(command)
    settings = [result for before, result in pairwise(words) if before == "--set"]
    assert len(settings) == 3, command
    configuration = spec.configuration(None, settings)
    largest = solve_model(spec.model, configuration).capacity
    assert row[2].endswith(f"{largest:,}")
    page.page.click("#advice button")
    assert page.run("() => qps.shown.solved.largest") == largest
    # from there it would take combinations that the page does not hold: so it says
    page.page.wait_for_selector("#advice p:has-text('that this page can make')")


def test_where_nothing_helps_that_is_said(open_page: Any) -> None:
    text = THREE + "measure left = 50 - N\nrequire { left >= 0 }\n"  # zero is no goal to relax
    page = open_page(html_of(checked(text)))
    page.page.wait_for_selector(
        "#advice p:has-text('No change that this page can make increases capacity')"
    )


def test_a_report_states_what_more_users_need(tmp_path: Path) -> None:
    file = tmp_path / "one.qps"
    file.write_text(ONE_MACHINE.replace("1..100\n", "1..190\n"), encoding="utf-8")
    written = tmp_path / "one.html"
    assert main(["report", str(file), "-q", "-o", str(written)]) == 0
    page = written.read_text(encoding="utf-8")
    spec = load(file)
    for share, users in ((10, 110), (50, 150)):
        text = sizing_answer(size(spec.model, spec.configuration(), users))
        assert "host.cpu" in text
        in_words = spec.model.derived(labels_of).sentence(text)
        assert "host.cpu" not in in_words
        assert f"<li>{share} % more: {in_words}</li>" in page
    assert "100 % more" not in page  # beyond the range


NOBODY = (
    "users N in 1..100\nmachine server { cpu 4 core }\ncomponent answer { cpu 8 ms/request }\n"
    "topology { node web = server }\n"
    "stream page for each user { traffic 50 request/s; at web { answer } }\n"
    "require { page.latency <= 5 ms }\n"
)


def test_where_no_user_is_supported_larger_steps_are_tried(open_page: Any) -> None:
    spec = checked(NOBODY)
    page = open_page(html_of(spec))
    page.page.wait_for_selector("#advice button")
    rows = {row[1]: row for row in page.run(ROWS)}
    words = "answer.cpu.request: 8 → 4.8 ms/request"
    setting = "answer.cpu.request = 4.8 ms/request"
    changed = spec.with_parts_of((setting,))
    answer = solve_model(changed.model, changed.configuration(None, (setting,)))
    assert rows[words][2].endswith(f"{answer.capacity:,}")


def test_a_goal_is_relaxed_as_the_solver_does_behind_what_can_be_had(open_page: Any) -> None:
    text = ONE_MACHINE.replace("cpu 1 core", "cpu 1 core, queueing mm1")
    spec = checked(text.replace("1..100\n", "1..1000\n") + "require { flow.p99 <= 50 ms }\n")
    page = open_page(html_of(spec))
    page.page.wait_for_selector("#advice button")
    rows = page.run(ROWS)
    first = [row[0] for row in rows[: [row[0] for row in rows].index("Relax goal") + 1]]
    assert "Buy" in first
    assert first[-1] == "Relax goal"
    configuration = spec.configuration()
    answer = advise(spec.model, configuration, solve_model(spec.model, configuration))
    (goal,) = (one for one in answer if one.kind is ChangeKind.GOAL)
    (row,) = (row for row in rows if row[0] == "Relax goal")
    assert row[1] == "flow p99 limit: 50 → 75 ms"
    assert row[2].endswith(f"{printed_capacity(goal.capacity, high=1000):,}")
    page.page.click(f"[aria-label='Try {row[1]}']")
    assert "--set 'limit of flow.p99=75 ms'" in page.page.inner_text(".command")
    assert page.run("() => qps.shown.solved.largest") == goal.capacity
