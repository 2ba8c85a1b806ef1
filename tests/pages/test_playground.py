"""The playground in a browser: what it answers, tells, holds in links, and asks of no network.

It is built by `python playground FOLDER`; `QPS_PLAYGROUND=FOLDER` names where.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, LONGEST, MISSING, browser

BUILT = os.environ.get("QPS_PLAYGROUND")
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=MISSING),
    pytest.mark.skipif(BUILT is None, reason="QPS_PLAYGROUND names no folder with a playground"),
]

ROOT = Path(__file__).parents[2]
SOON = LONGEST
"""Milliseconds: much longer than it takes, since other tests run beside."""

SMALL = """\"""A very small site.\"""
users N in 1..1000
machine server { cpu 4 core }
component page { cpu 20 ms/request }
topology { node web = server }
stream pages { traffic N * 2 request/s; at web { page } }
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = partial(_Quiet, directory=str(Path(str(BUILT))))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def tab(address: str) -> Iterator[Any]:
    with browser() as started:
        page = started.new_page(viewport={"width": 1440, "height": 900})
        page.queried, page.complaints = [], []
        page.on("request", lambda request: page.queried.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(address)
        page.wait_for_selector("#told.answer", timeout=SOON)
        yield page
        assert page.complaints == []
        kinds = (address, "data:", "blob:")
        assert [url for url in page.queried if not url.startswith(kinds)] == []


def write(tab: Any, text: str) -> None:
    """Write a text instead of the one that is there.

    What is there goes first: the editor tells a text over the same text from no change at all by
    the time that passes, which a busy machine does not keep.
    """
    tab.locator(".cm-content").click()
    tab.keyboard.press("Control+A")
    tab.keyboard.press("Delete")
    tab.wait_for_function(
        "() => document.querySelector('.cm-content').textContent === ''", timeout=SOON
    )
    tab.keyboard.insert_text(text)


def reported(tab: Any, words: str) -> str:
    """Return what stands below the text once it has some words."""
    tab.wait_for_function(
        "words => document.getElementById('told').textContent.includes(words)",
        arg=words,
        timeout=SOON,
    )
    return str(tab.inner_text("#told"))


def test_an_answer_and_its_live_page_follow_the_text(tab: Any) -> None:
    write(tab, SMALL)
    assert reported(tab, "100 users") == "100 users; limited by web.cpu.utilization"
    page = tab.frame_locator("#page")
    page.locator("h1", has_text="A very small site").wait_for(timeout=SOON)
    page.locator("#population").wait_for(state="attached", timeout=SOON)  # it is live
    write(tab, SMALL.replace("20 ms", "40 ms"))
    assert reported(tab, "50 users") == "50 users; limited by web.cpu.utilization"


def test_a_mistake_is_reported_at_its_place_as_one_types(tab: Any) -> None:
    write(tab, SMALL.replace("at web { page }", "at web { pag }"))
    text = reported(tab, "QPS0201")
    assert "did you mean `page`?" in text
    assert "site.qps:6:" in text
    assert tab.locator(".cm-lintRange-error").inner_text() == "pag"


def test_an_editor_helps_as_the_language_server_does(tab: Any) -> None:
    write(tab, SMALL.replace("at web { page }", "at web { pag }"))
    tab.locator(".cm-lintRange-error").hover()
    tab.locator(".cm-diagnosticAction", has_text="write `page`").click()
    reported(tab, "100 users")
    tab.locator(".load", has_text="100 %").wait_for(timeout=SOON)
    tab.locator(".cm-line", has_text="component page").get_by_text("page", exact=True).hover()
    assert "page, a component" in tab.inner_text(".told-of")
    tab.locator(".cm-line", has_text="topology").click()
    tab.keyboard.press("End")
    tab.keyboard.insert_text("\n")
    tab.keyboard.type("par")
    tab.locator(".cm-tooltip-autocomplete li", has_text="param").wait_for(timeout=SOON)


def test_a_text_that_takes_long_does_not_hold_up_the_next_one(tab: Any) -> None:
    write(tab, (ROOT / "specs/applications/llm.qps").read_text(encoding="utf-8"))
    tab.wait_for_function(
        "() => document.getElementById('state').textContent === 'Solving …'", timeout=SOON
    )
    write(tab, SMALL)
    reported(tab, "100 users")


def test_a_link_holds_the_text(tab: Any, address: str) -> None:
    text = SMALL.replace("A very small site.", "Ünïcode — 漢字 🙂")
    write(tab, text)
    tab.click("#link")
    tab.wait_for_function("() => location.hash.length > 50", timeout=SOON)
    link = tab.url
    write(tab, "")
    reported(tab, "QPS0210")
    tab.goto(address + "#")
    tab.goto(link)
    reported(tab, "100 users")
    lines = tab.locator(".cm-line")
    assert lines.nth(0).inner_text() == '"""Ünïcode — 漢字 🙂"""'
    assert lines.count() == text.count("\n") + 1


def test_opened_as_a_file_it_says_what_to_do(tab: Any) -> None:
    page = tab.context.browser.new_page()
    page.goto((Path(str(BUILT)).resolve() / "index.html").as_uri())
    page.get_by_text("python -m http.server").wait_for(timeout=SOON)
    page.close()


@pytest.mark.parametrize("link", ["x", "AAAA", "7cEBDQAAAMKg909tDwcQ____"])
def test_a_link_that_was_cut_is_reported(tab: Any, address: str, link: str) -> None:
    write(tab, SMALL)
    reported(tab, "100 users")
    tab.goto(address + "#" + link)
    reported(tab, "does not contain a readable spec")


def test_the_page_draws_samples_and_the_answer_states_their_uncertainty(tab: Any) -> None:
    write(tab, SMALL.replace("20 ms/request", "20 ms/request +- 10 %"))
    text = reported(tab, "with nominal inputs; limited by web.cpu.utilization90 % interval")
    page = tab.frame_locator("#page")
    page.locator("#measure-next td", has_text="100 %").first.wait_for(timeout=SOON)
    assert page.locator("#uncertainty li").first.text_content() in text
    page.locator("#gives-out summary").first.click()
    for picture in ("#picture-histogram svg rect", "#picture-loads .fan"):  # drawn once in sight
        page.locator(picture.partition(" ")[0]).scroll_into_view_if_needed()
        page.locator(picture).first.wait_for(timeout=SOON)
    write(tab, SMALL.replace("20 ms", "40 ms"))
    assert (
        reported(tab, "50 users") == "50 users; limited by web.cpu.utilization"
    )  # nothing of the text before


@pytest.mark.parametrize(
    ("work", "users", "claim", "lacks"),
    [
        (
            25,
            73,
            "chance { probability(web.cpu.load <= 1) >= 5 % with N = 90",
            "claim chance",
        ),
        (40, 46, "load { web.cpu.load ~ 50 % within 1 % with N = 25", ""),
    ],
)
def test_what_takes_more_than_a_browser_has_says_so(
    tab: Any, work: int, users: int, claim: str, lacks: str
) -> None:
    uncertain = SMALL.replace("20 ms/request", f"{work} ms/request +- 10 %")
    write(tab, f'{uncertain}expect {claim}\nsource model "ours" }}\n')
    text = reported(tab, f"{users} users at 95 % confidence")
    assert ("For everything, install QPS" in text) == bool(lacks)
    assert lacks in text
    summary = tab.frame_locator("#page").locator("#claims summary")
    assert ("1 not evaluated" in summary.text_content()) == bool(lacks)


def test_a_hostile_text_is_a_text(tab: Any) -> None:
    write(tab, SMALL.replace("A very small site.", "</script><img src=x onerror=parent.hit=1>"))
    reported(tab, "100 users")
    tab.frame_locator("#page").locator("h1", has_text="onerror").wait_for(timeout=SOON)
    assert tab.evaluate("window.hit") is None
    assert tab.locator("img[src=x]").count() == 0
