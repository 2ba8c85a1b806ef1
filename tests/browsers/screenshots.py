"""Draw the pictures of the documentation: `python tests/browsers/screenshots.py [SPEC…]`.

Writes the report of every spec and photographs it as a reader sees it first, the pictures of
Speak on a phone and in the dark, and pages that the documents tell how to make, from the specs that
stand there. Each is checked to be small; pages are checked to be below 1 MB.
`QPS_PLAYGROUND=FOLDER` names a playground that was built (`python playground FOLDER`), which is in
the picture `playground`.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

MOST_PICTURE = 200_000
MOST_PAGE = 1_000_000
COLORS = 128
PATIENCE = 120_000
UNFOLDED = """(start) => {
  for (const one of start.closest("section")?.querySelectorAll(".part") ?? []) one.open = true;
}"""
"""What a picture is of, as a reader who wants to see it has it."""


@dataclass(frozen=True)
class Shot:
    """A picture: of which report, how wide, how high, from which element on."""

    name: str
    spec: str
    arguments: tuple[str, ...] = ()
    width: int = 1280
    height: int = 1500
    scheme: str = "light"
    start: str = "h1"


SHOTS = (
    Shot("report", "audioconference", ("--scenario", "midrange")),
    Shot("report_flying", "flying"),
    Shot("report_virtual_cockpit", "virtual_cockpit", ("--scenario", "indigo2_15x")),
    Shot("report_jitter", "jitter"),
    Shot("report_atm_video", "atm_video"),
    Shot("report_data_path", "data_path"),
    Shot("report_iri", "iri"),
    Shot("report_mtp", "mtp"),
    Shot("report_sfu", "sfu", height=1000),
    Shot("report_sfu_router", "sfu_router", height=1000),
    Shot("report_voip_trunk", "voip_trunk", height=1000),
    Shot("report_turn_relay", "turn_relay", height=1000),
    Shot("report_https_server", "https_server", height=1000),
    Shot("report_mqtt_broker", "mqtt_broker", height=1000),
    Shot("report_game_server", "game_server", height=1000),
    Shot("report_live_stream", "live_stream", height=1000),
    Shot("report_wifi_calls", "wifi_calls", height=1000),
    Shot(
        "report_quality", "virtual_cockpit", ("--scenario", "indigo2_15x"),
        start="#picture-waterfall",
    ),
    Shot("report_numbers", "flying", start="#picture-tornado", height=1000),
    Shot(
        "report_compare", "virtual_cockpit",
        ("--scenario", "indigo2_15x", "--scenario", "peak", "--scenario", "atm"),
        start="#comparison", height=900, scheme="dark",
    ),
    Shot("report_phone", "audioconference", ("--scenario", "midrange"), width=390, height=1100),
)  # fmt: skip


@dataclass(frozen=True)
class PageShot:
    """A picture of a page that a command makes of the files in a document.

    `read` names files that the specs of the command read.
    """

    name: str
    document: str
    command: tuple[str, ...]
    script: str
    read: tuple[str, ...] = ()
    width: int = 1280
    height: int = 1000
    scheme: str = "light"


SHOP = ("matrix", "shop.qps", "choices")
# What a reader might do: keep what is cheap, and look at a configuration of the front.
NARROWED = """() => {
  const of = (name) => qps.columns.find((one) => one.name === name);
  qps.filters.write(of("running_cost"), "<= 1,000");
  qps.filters.write(of("capacity"), ">= 5,000");
  qps.change();
  qps.choose(qps.view[qps.view.length >> 1]);
  qps.drawAll();
  document.getElementById("answer").scrollIntoView();
}"""
PAGE_SHOTS = (
    PageShot(
        "matrix", "guides/compare-and-buy/cheapest-configuration", SHOP, NARROWED, height=1500
    ),
    PageShot(
        "matrix_phone", "guides/compare-and-buy/cheapest-configuration", SHOP, NARROWED,
        width=390, height=1500, scheme="dark",
    ),
    PageShot(
        "report_sure", "guides/trust-a-result/capacity-at-95-percent-confidence",
        ("report", "plan.qps", "--no-advice"),
        "() => 0",
        read=("render.csv",),
    ),
    PageShot("diff", "ci", ("diff", "old/relay.qps", "new/relay.qps"), "() => 0", width=1000),
)  # fmt: skip


def main(chosen: list[str]) -> None:
    """Take all pictures, or those of some specs."""
    from browsers.browser import browser

    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        for shot in SHOTS:
            if chosen and shot.spec not in chosen:
                continue
            target = ROOT / "docs" / "pictures" / f"{shot.name}.png"
            target.write_bytes(taken(started, shot, Path(folder)))
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes")
        for page in PAGE_SHOTS:
            if chosen and page.name not in chosen:
                continue
            target = ROOT / "docs" / "pictures" / f"{page.name}.png"
            target.write_bytes(taken_page(started, page, Path(folder)))
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes")
        built = os.environ.get("QPS_PLAYGROUND")
        if built and (not chosen or "playground" in chosen):
            target = ROOT / "docs" / "pictures" / "playground.png"
            target.write_bytes(taken_playground(started, Path(built)))
            print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes")


def taken_playground(started: Any, built: Path) -> bytes:
    """Return a picture of a playground as it opens, with its answer and the live report."""
    handler = partial(_Quiet, directory=str(built.resolve()))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    page = started.new_page(viewport={"width": 1440, "height": 860})
    page.goto(f"http://127.0.0.1:{server.server_port}/")
    page.wait_for_selector("#told.answer", timeout=PATIENCE)
    page.frame_locator("#page").locator("#population").wait_for(state="attached", timeout=PATIENCE)
    page.frame_locator("#page").locator("#advice .card, #advice table").first.wait_for(
        timeout=PATIENCE
    )
    shot = small(page.screenshot())
    page.close()
    server.shutdown()
    return shot


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def taken_page(started: object, shot: PageShot, folder: Path) -> bytes:
    """Return a picture of a page that a document tells how to make."""
    from browsers.browser import opened
    from documents.docs import blocks
    from qps.cli import main as qps

    text = (ROOT / "docs" / f"{shot.document}.md").read_text(encoding="utf-8")
    for block in blocks(text):
        if block.file and block.file in (*shot.command, *shot.read):
            (folder / block.file).parent.mkdir(exist_ok=True)
            (folder / block.file).write_text(block.body, encoding="utf-8")
    file = folder / f"{shot.name}.html"
    os.chdir(folder)
    qps([*shot.command, "-q", "-o", str(file)])
    os.chdir(ROOT)
    checked_size(file)
    with opened(started, file, width=shot.width, scheme=shot.scheme) as found:
        found.page.set_viewport_size({"width": shot.width, "height": shot.height})
        found.run(shot.script)
        found.page.wait_for_timeout(700)
        assert found.complaints == [], found.complaints
        return small(found.page.screenshot())


def checked_size(file: Path) -> None:
    """Print how large a page is; AssertionError where it is too large."""
    size = file.stat().st_size
    assert size < MOST_PAGE, f"{file.name} has {size:,} bytes"
    print(f"{file.name}: {size:,} bytes")


def taken(started: object, shot: Shot, folder: Path) -> bytes:
    """Return a picture as a small PNG."""
    from browsers.browser import opened

    file = report(shot, folder)
    with opened(started, file, width=shot.width, scheme=shot.scheme) as found:
        page = found.page
        page.set_viewport_size({"width": shot.width, "height": shot.height})
        page.wait_for_selector(
            "#advice table, #advice p:has-text('change that'), #advice p:has-text('is needed')"
        )
        page.evaluate(f"() => ({UNFOLDED})(document.querySelector('{shot.start}'))")
        page.evaluate("() => qps.drawAll()")
        page.evaluate(f"() => document.querySelector('{shot.start}').scrollIntoView()")
        page.wait_for_timeout(500)
        assert found.complaints == [], found.complaints
        return small(page.screenshot())


def report(shot: Shot, folder: Path) -> Path:
    """Write a report, once for all pictures of it."""
    from qps.cli import main as qps

    name = "-".join([shot.spec, *shot.arguments]).replace("/", "")
    file = folder / f"{name}.html"
    if not file.exists():
        spec = f"specs/{shot.spec}.qps"
        qps(["report", spec, *shot.arguments, "--no-advice", "-q", "-o", str(file)])
        checked_size(file)
    return file


def small(png: bytes) -> bytes:
    """Return a PNG with few colors; AssertionError where it is large even so."""
    from PIL import Image

    for colors in halved(COLORS):
        buffer = io.BytesIO()
        image = Image.open(io.BytesIO(png)).convert("RGB")
        image.quantize(colors, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
        if buffer.tell() < MOST_PICTURE:
            return buffer.getvalue()
    raise AssertionError("too many colors for a small picture")


def halved(number: int) -> Iterator[int]:
    """Yield a number, its half, and so on down to 8."""
    while number >= 8:
        yield number
        number //= 2


if __name__ == "__main__":
    main(sys.argv[1:])
