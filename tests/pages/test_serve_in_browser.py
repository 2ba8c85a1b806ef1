"""`qps serve` in a real browser: the page follows each save, and mistakes stand above it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from browsers.browser import CHROMIUM, LONGEST, MISSING, SharedBrowser
from qps.commands.serve import Served, listening, make, stamps, watch

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

SPEC = (
    "users calls in 1..100\nmachine box { cpu 1 core }\ncomponent work { cpu 10 ms/packet }\n"
    "topology { node host = box }\n"
    "stream flow { traffic calls * 2 packet/s; at host { work } }\n"
)


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = Path("small.qps")
    file.write_text(SPEC, encoding="utf-8")
    return file


@pytest.fixture
def address(saved: Path) -> Iterator[str]:
    """Serve the spec as the command does, but for the end of it."""
    arguments = Namespace(
        file=saved, scenario=[], set=[], advice=False, variants=1, simulate=False, quiet=True,
        color="never", format="text",
    )  # fmt: skip
    served, ended = Served(), Event()
    seen = stamps([saved, saved.resolve()])
    make(served, arguments)

    def wait(seconds: float) -> None:
        if ended.wait(seconds):
            raise KeyboardInterrupt

    def watched() -> None:
        with pytest.raises(KeyboardInterrupt):
            watch(served, arguments, seen, wait)

    with listening(served, 0) as server:
        threads = [
            Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}),
            Thread(target=watched),
        ]
        for thread in threads:
            thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        ended.set()
        server.shutdown()
        for thread in threads:
            thread.join()


def text_of(page: Any, *, said: str) -> None:
    """Wait until the page within the frame says something."""
    page.frame_locator("#page").get_by_text(said).locator("visible=true").first.wait_for(
        timeout=LONGEST
    )


def test_the_page_follows_each_save_and_shows_errors_until_they_are_fixed(
    saved: Path, address: str, shared_browser: SharedBrowser
) -> None:
    page = shared_browser.context(scripts=True).new_page()
    complaints: list[str] = []
    options: list[str] = []
    page.on(
        "console", lambda result: complaints.append(result.text) if result.type == "error" else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: options.append(request.url))
    page.goto(address)
    wrong = page.locator("#wrong")
    text_of(page, said="50 calls")
    assert wrong.is_hidden()

    saved.write_text(SPEC.replace("10 ms", "20 ms"), encoding="utf-8")
    text_of(page, said="25 calls")

    saved.write_text(SPEC.replace("{ work }", "{ <b>wrok }"), encoding="utf-8")
    wrong.wait_for(state="visible", timeout=LONGEST)
    assert "error[QPS0" in wrong.inner_text()
    assert "<b>wrok" in wrong.inner_text()  # as text: nothing that a spec holds is markup
    text_of(page, said="25 calls")  # the last page that could be made

    saved.write_text(SPEC.replace("10 ms", "5 ms"), encoding="utf-8")
    wrong.wait_for(state="hidden", timeout=LONGEST)
    text_of(page, said="100+ calls")
    assert complaints == []
    assert all(url.startswith((address, "blob:", "data:")) for url in options)
    page.close()
