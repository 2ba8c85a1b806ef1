"""Nothing on a page that a keyboard or a screen reader cannot use: axe finds no fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browsers import browser
from browsers.axe import faults
from browsers.browser import CHROMIUM, MISSING
from helpers.cases.matrix_pages import SMALL
from helpers.cases.matrix_pages import html_of as matrix_of
from helpers.cases.plan_pages import html_of_plan
from helpers.nightly import nightly
from helpers.reports import html_of, html_of_text
from helpers.skips import missing_in_ci
from pages.test_difference_page import NEW, OLD
from pages.test_difference_page import page_of as difference_of
from pages.test_uncertainty_page import SITE
from qps.compiler.pipeline import load
from qps.reports.pages.html_page import render_difference

SPECS = Path(__file__).parents[2] / "specs"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

PAGES: dict[str, Callable[[], str]] = {
    "plain": lambda: html_of(load(SPECS / "textbook" / "courses" / "lots.qps"), most=2),
    "Speak": lambda: html_of(load(SPECS / "audioconference.qps"), most=4, claims=()),
    "uncertain": lambda: html_of_text(SITE),
    "compared": lambda: html_of(
        load(SPECS / "textbook" / "courses" / "printers.qps"),
        others=[load(SPECS / "applications" / "shop.qps")],
        most=2,
        claims=(),
    ),
    "matrix": lambda: matrix_of(SMALL),
    "plan": html_of_plan,
    "difference": lambda: render_difference(difference_of(OLD, NEW)),
}
OPEN = """async () => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  document.querySelectorAll(".long").forEach((one) => { one.style.contentVisibility = "visible"; });
  window.qps?.drawAll?.();
  for (let turn = 0; turn < 3; turn++) await new Promise(requestAnimationFrame);
}"""


_LONG = {"Speak", "uncertain", "compared", "matrix"}
"""They take half a minute or more: what others have of them is looked at by day."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[nightly] if name in _LONG else []) for name in PAGES]
)
def test_axe_finds_no_fault(name: str, open_page: Any) -> None:
    html = PAGES[name]()
    page = open_page(html)
    page.run(OPEN)
    assert "\n".join(faults(page)) == ""
    page.page.emulate_media(color_scheme="dark")
    page.run("() => window.qps?.redraw?.()")
    assert "\n".join(faults(page, "color-contrast")) == ""


def test_axe_finds_faults(open_page: Any) -> None:
    page = open_page(
        "<!doctype html><html><body><main><p><a href='#x'></a></p></main></body></html>"
    )
    assert {one.split(":")[0] for one in faults(page)} >= {"html-has-lang", "link-name"}


def test_ci_does_not_go_without_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "CHROMIUM", None)
    monkeypatch.setenv("CI", "")
    assert missing_in_ci() == ""
    monkeypatch.setenv("CI", "true")
    assert missing_in_ci() == browser.MISSING
