"""What takes long on a page is solved in slices: no frame waits, and the page says that it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, MISSING
from helpers.reports import html_of_text
from helpers.specs import PRELUDE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

SPEC = (
    PRELUDE.replace("1..100\n", "1..1000\n") + "param pace = 1 packet/s in 0.1..10 packet/s\n"
    "machine server { cpu 1 core }\n"
    "topology { node host = server\n node user = box * N }\n"
    "stream flow for each user { traffic pace; at host { work } }\n"
)
IMPATIENT = "() => { qps.patience = -1; }"  # a slice is a single step
SET = """(value) => {
  const field = document.getElementById("number-pace");
  field.value = value;
  field.dispatchEvent(new Event("input"));
}"""
WHAT_IF = " what if"
REPORTED = f"""() => [
  document.querySelector("#decision .many").textContent.replace("{WHAT_IF}", ""),
  document.getElementById("small-answer").textContent, qps.shown.solved.largest]"""
WORD = "computing …"


def test_a_change_is_reported_once_it_is_solved_and_until_then_that_it_is_not(
    open_page: Any,
) -> None:
    page = open_page(html_of_text(SPEC))
    before = page.run(REPORTED)
    page.run(SET, "2")
    at_once = page.run(REPORTED)
    assert WORD not in "".join(at_once[:2])
    page.run(SET, "1")
    assert page.run(REPORTED) == before

    page.run(IMPATIENT)
    # A value of which no answer is kept from before.
    many, small, largest = page.run(f"() => {{ ({SET})('5'); return ({REPORTED})(); }}")
    assert WORD in many
    assert WORD in small
    assert largest == before[2], "what is shown stays whole"
    # Of two changes one after the other the last one is told.
    page.run(f"() => {{ ({SET})('4'); ({SET})('2'); }}")
    assert page.run(REPORTED) == at_once  # who asks is answered when the page rests
    # So is how far each number moves it, which takes longer still.
    page.run("() => document.getElementById('picture-tornado').scrollIntoView()")
    page.page.wait_for_selector("#picture-tornado svg rect")
    assert page.complaints == []


def test_what_rests_on_an_answer_waits_for_it(open_page: Any) -> None:
    page = open_page(html_of_text(SPEC))
    page.run(IMPATIENT)
    page.run(f"() => {{ ({SET})('2'); document.getElementById('pin').click(); }}")
    largest = page.run("() => qps.columns.map((one) => one.solved.largest)")
    page.run("() => { qps.patience = Infinity; }")
    page.run(SET, "1")
    assert largest == [page.run(REPORTED)[2] // 2] * 2


def test_a_page_that_is_slow_to_begin_comes_alive(tmp_path: Path, shared_browser: Any) -> None:
    file = tmp_path / "page.html"
    file.write_text(html_of_text(SPEC), "utf-8")
    page = shared_browser.context(scripts=True).new_page()
    page.add_init_script("globalThis.qpsPatience = -1")
    page.goto(file.as_uri())
    page.wait_for_selector("#controls input", state="attached")
    assert page.evaluate("() => qps.shown.solved.largest") > 0
    page.close()
