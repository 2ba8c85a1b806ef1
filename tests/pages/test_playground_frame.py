"""The frame of the playground's live page, framed by others: nothing is written into its address.

It is the file as it stands in `playground/src`, which the build copies.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from browsers.browser import CHROMIUM, LONGEST, MISSING, SharedBrowser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)

ROOT = Path(__file__).parents[2]
REFUSED = "This page is a part of the playground and shows nothing by itself."
WRITTEN = "<title>written</title><body>written<script>self.hit = self.origin</script>"

FRAMING = """<!doctype html><title>a stranger</title>
<iframe id="frame" src="ADDRESS" SANDBOX></iframe>
<script>
  const frame = document.getElementById("frame");
  const send = () => frame.contentWindow.postMessage({ html: MESSAGE, number: 1 }, "*");
  self.heard = [];
  addEventListener("message", ({ data }) => { self.heard.push(data); send(); });
  frame.addEventListener("load", () => { send(); self.isLoaded = true; });
</script>
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def chromium(shared_browser: SharedBrowser) -> Any:
    return shared_browser.context(scripts=True)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Give the address of the playground's files, and their folder."""
    folder = tmp_path / "site"
    folder.mkdir()
    for name in ("page.html", "page.js"):
        (folder / name).write_bytes((ROOT / "playground" / "src" / name).read_bytes())
    with served(folder) as address:
        yield address, folder


def framing(address: str, sandbox: str) -> str:
    text = FRAMING.replace("ADDRESS", f"{address}page.html").replace("SANDBOX", sandbox)
    return text.replace("MESSAGE", json.dumps(WRITTEN).replace("</", r"<\/"))


def shown(page: Any, url: str) -> Any:
    """Open a page that frames the playground's frame, and return that frame once it is there."""
    page.goto(url)
    page.wait_for_function("() => self.isLoaded", timeout=LONGEST)
    # Whatever was sent has come long before; a test that cannot wait for it waits for time.
    page.evaluate("() => new Promise((done) => setTimeout(done, 200))")
    return page.frames[1]


@pytest.mark.parametrize("is_same_origin", [False, True], ids=["elsewhere", "same origin"])
@pytest.mark.parametrize(
    "sandbox", ["", 'sandbox="allow-scripts allow-same-origin"'], ids=["no sandbox", "its origin"]
)
def test_nothing_is_written_into_an_origin_that_is_not_opaque(
    chromium: Any, site: tuple[str, Path], tmp_path: Path, sandbox: str, *, is_same_origin: bool
) -> None:
    address, folder = site
    other = tmp_path / "other"
    other.mkdir()
    (folder if is_same_origin else other).joinpath("framing.html").write_text(
        framing(address, sandbox), encoding="utf-8"
    )
    page = chromium.new_page()
    with served(other) as elsewhere:
        frame = shown(page, f"{address if is_same_origin else elsewhere}framing.html")
        assert frame.evaluate("self.origin") == address.rstrip("/")
        assert frame.evaluate("document.body.textContent") == REFUSED
        assert frame.evaluate("document.title") == "Live report"
        assert frame.evaluate("self.hit") is None
        assert page.evaluate("self.heard") == []
    page.close()


def test_nothing_is_written_where_it_is_opened_by_itself(
    chromium: Any, site: tuple[str, Path]
) -> None:
    page = chromium.new_page()
    page.goto(f"{site[0]}page.html")
    page.evaluate("html => postMessage({ html, number: 1 }, '*')", WRITTEN)
    page.evaluate("() => new Promise((done) => setTimeout(done, 200))")
    assert page.inner_text("body") == REFUSED
    page.close()


def test_what_is_sent_is_written_where_the_origin_is_opaque(
    chromium: Any, site: tuple[str, Path], tmp_path: Path
) -> None:
    address, folder = site
    folder.joinpath("framing.html").write_text(
        framing(address, 'sandbox="allow-scripts"'), encoding="utf-8"
    )
    page = chromium.new_page()
    page.goto(f"{address}framing.html")
    page.frame_locator("#frame").get_by_text("written").wait_for(timeout=LONGEST)
    frame = page.frames[1]
    assert frame.evaluate("self.hit") == "null"
    assert page.evaluate("self.heard")[0] == "ready"
    page.close()


def test_the_playground_frames_it_with_an_opaque_origin() -> None:
    text = (ROOT / "playground" / "src" / "index.html").read_text(encoding="utf-8")
    [frame] = [line for line in text.splitlines() if "<iframe" in line]
    assert 'sandbox="' in frame
    assert "allow-same-origin" not in frame
