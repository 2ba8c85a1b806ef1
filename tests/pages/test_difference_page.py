"""The page of `qps diff`: what changed, and which change moved the answer, as a picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from browsers.browser import CHROMIUM, MISSING
from live_pages.page_settings import CONTRASTS, EVIL
from qps.cli import main
from qps.compiler.diagnostics.source import Source
from qps.compiler.pipeline import check_source
from qps.reports.pages.difference_page import DifferencePage, difference_page
from qps.reports.pages.html_page import render_difference
from qps.reports.text.changes.difference_text import (
    DifferenceView,
    difference_view,
    spec_difference_view,
)
from qps.reports.text.solutions.solve_view import solve_view
from qps.solver.complete_answer import complete_answer
from qps.solver.spec_difference import spec_difference
from qps.solver.what_if.assumption_changes import ConfiguredModel
from qps.solver.what_if.difference import difference
from what_if.difference_specs import BASE

OLD, NEW = BASE.format(work=10, pace=1), BASE.format(work=20, pace=2)
in_browser = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)


def view_of(old: str, new: str, names: tuple[str, str] = ("old.qps", "new.qps")) -> DifferenceView:
    """Return the difference of two texts as plain values."""
    sides = []
    for name, text in zip(names, (old, new), strict=True):
        spec = check_source(Source(name, text)).value
        assert spec is not None
        sides.append(ConfiguredModel(spec.model, spec.configuration()))
    found = difference(*sides)
    views = [
        solve_view(complete_answer(side.model, side.configuration, solution))
        for side, solution in zip(sides, (found.old, found.new), strict=True)
    ]
    return difference_view(found, *views)


def page_of(old: str, new: str) -> DifferencePage:
    """Return the page of two texts."""
    return difference_page(view_of(old, new))


def test_the_page_says_what_the_command_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.qps").write_text(OLD)
    Path("new.qps").write_text(NEW)
    assert main(["diff", "old.qps", "new.qps"]) == 0
    plain = capsys.readouterr().out
    assert main(["diff", "old.qps", "new.qps", "-o", "d.html", "--fail-on", "worse"]) == 1
    output = capsys.readouterr()
    assert output.out == plain
    assert output.err.startswith("d.html written\nfails: capacity falls from 100 to 25")
    page = Path("d.html").read_text(encoding="utf-8")
    assert "Capacity     100 -> 25 users (-75, -75 %)" in plain
    assert "Capacity falls from 100 to 25 users (-75, -75 %)." in page
    for cells in (("pace", "1 packet/s", "2 packet/s"), ("work.cpu.packet", "10 ms", "20 ms")):
        for cell in cells:
            assert re.search(rf"<td[^>]*>{re.escape(cell)}", page)
    assert "Content-Security-Policy" in page
    assert main(["diff", "old.qps", "new.qps", "-o", "d.pdf"]) == 2
    assert "an HTML page" in capsys.readouterr().err
    assert main(["diff", "old.qps", "new.qps", "-o", "no/d.html"]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_shares_lead_from_the_old_answer_to_the_new() -> None:
    page = page_of(OLD, NEW)
    assert page.view.users < 0
    ways: Any = page.data["ways"]
    assert [way["name"] for way in ways] == [
        "mean over all orders (Shapley)",
        "cumulative, in table order",
    ]
    for way in ways:
        assert sum(step["users"] for step in way["steps"]) == -75
    assert {step["change"] for step in ways[0]["steps"]} == {
        "1 packet/s → 2 packet/s",
        "10 ms/packet → 20 ms/packet",
    }


def test_its_picture_leads_from_headline_to_headline() -> None:
    specs = []
    for text in (OLD, NEW):
        source = Source("a.qps", text.replace("packet/s source", "packet/s +- 20 % source", 1))
        spec = check_source(source).value
        assert spec is not None
        specs.append(spec)
    page = difference_page(spec_difference_view(spec_difference(*specs)))
    assert page.view.headlines is not None
    before, after = page.view.headlines.before.capacity, page.view.headlines.after.capacity
    assert (page.data["before"], page.data["after"]) == (before, after) != (100, 25)
    ways: Any = page.data["ways"]
    for way in ways:
        assert way["steps"][-1]["name"] == "uncertainty, model error"
        assert before + sum(step["users"] for step in way["steps"]) == after
        assert sum(step["users"] for step in way["steps"][:-1]) == -75


def test_other_formulas_are_a_change_with_a_name() -> None:
    page = page_of(OLD, OLD.replace("at host { work }", "at host { work; work }"))
    ways: Any = page.data["ways"]
    assert ways[0]["steps"] == [{"name": "other model changes", "change": "", "users": -50}]


def test_numbers_that_only_one_has_stand_in_a_table() -> None:
    more = OLD.replace("at host { work }", "at host { work; more }")
    more = more.replace("param pace", "component more { cpu 5 ms/packet }\nparam pace")
    page = page_of(OLD, more)
    assert [row[:3] for row in page.numbers.rows] == [("added", "more.cpu.packet", "5 ms/packet")]


def test_nothing_changed() -> None:
    page = page_of(OLD, OLD)
    assert (page.data["ways"], page.omission, page.changes.rows) == ([], "", ())
    assert page.remark == "No input or formula that affects capacity has changed."


def test_no_picture_where_half_way_lies_no_answer() -> None:
    view = view_of(OLD, NEW)
    first, *rest = view.changes
    unknown = replace(view, changes=(replace(first, share=None, step=None), *rest))
    page = difference_page(unknown)
    assert page.data["ways"] == []
    assert page.omission.startswith("No chart: some combination of the changes")
    assert page.omission in render_difference(page)
    shared = difference_page(replace(view, changes=(replace(first, step=None), *rest)))
    ways: Any = shared.data["ways"]
    assert [way["name"] for way in ways] == ["mean over all orders (Shapley)"]


@in_browser
def test_the_picture_leads_from_before_to_after(open_page: Any) -> None:
    page = open_page(render_difference(page_of(OLD, NEW))).page
    figure = page.locator("#picture-changes")
    assert figure.locator("figcaption").text_content() == (
        "Capacity from 100 to 25 users, by change"
    )
    texts = figure.locator("svg.chart text").all_text_contents()
    assert {"Before", "100", "pace", "−37.5", "work.cpu.packet", "After", "25"} <= set(texts)
    figure.locator("select").select_option("cumulative, in table order")
    texts = figure.locator("svg.chart text").all_text_contents()
    assert {"−50", "−25"} <= set(texts)
    figure.locator("svg.chart rect").nth(1).hover()
    assert "−50 users, to 50" in figure.locator(".readout").text_content()
    figure.locator(".canvas").focus()
    page.keyboard.press("ArrowRight")
    assert figure.locator(".readout").text_content()
    figure.locator("summary").click()
    figure.locator("tbody tr").first.wait_for()
    assert figure.locator("tbody tr").count() == 4
    with page.expect_download() as download:
        figure.get_by_role("button", name="Download as SVG").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("<svg")


@in_browser
def test_many_changes_and_large_answers(open_page: Any) -> None:
    names = [f"p{i}" for i in range(20)]
    declared = "".join(f"param {name} = {{{name}}} packet/s\n" for name in names)
    total = " + ".join(names)
    text = (
        (
            "users N in 1..10_000_000\nmachine box { cpu 1 core }\n"
            "component work { cpu 1 ns/packet }\n"
        )
        .replace("{", "{{")
        .replace("}", "}}")
        + declared
        + (
            "topology {{ node host = box }}\n"
            f"stream flow {{{{ traffic N * ({total}); at host {{{{ work }}}} }}}}\n"
        )
    )
    old = text.format(**dict.fromkeys(names, 100))
    new = text.format(**{name: 100 + i / 100 for i, name in enumerate(names)})
    page = open_page(render_difference(page_of(old, new)))
    figure = page.page.locator("#picture-changes")
    axis = figure.locator("svg.chart text", has_text="users (axis starts at ")
    axis.first.wait_for(state="attached")  # a busy machine draws later
    texts = figure.locator("svg.chart text").all_text_contents()
    assert any(one.startswith("users (axis starts at ") for one in texts)
    assert any(one.endswith(" smaller changes") for one in texts)
    assert page.run("() => document.documentElement.scrollWidth") <= 1280


@in_browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_can_be_read_anywhere(open_page: Any, scheme: str, width: int) -> None:
    page = open_page(render_difference(page_of(OLD, NEW)), width=width, scheme=scheme)
    assert page.run("() => document.documentElement.scrollWidth") <= width
    assert page.run(CONTRASTS) == []


@in_browser
def test_without_scripts_the_tables_are_there(open_page: Any) -> None:
    page = open_page(render_difference(page_of(OLD, NEW)), scripts=False).page
    assert not page.is_visible("#picture-changes")
    assert page.is_visible("#changes td:has-text('pace')")
    assert page.is_visible("#answers td:has-text('Capacity')")


@in_browser
def test_a_strangers_text_is_text(open_page: Any) -> None:
    said = EVIL.replace('"', "'")
    text = f'"""{said}"""\n' + OLD.replace('"us"', f'"{said}"')
    changed = text.replace("1 packet/s", "3 packet/s")
    view = view_of(text, changed, (f"{said}.qps", "new.qps"))
    opened = open_page(render_difference(difference_page(view)))
    assert said in opened.page.text_content("h1")
    assert opened.run("() => document.scripts.length") == 2
    assert opened.run("() => document.images.length") == 0
    assert opened.run("() => document.querySelectorAll('[onerror]').length") == 0
