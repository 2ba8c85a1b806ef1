"""What a reader of a report sees and feels: shifts, what is covered, paper, contrast, frames."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from browsers.axe import faults
from browsers.browser import CHROMIUM, MISSING, Opened, browser, opened
from qps.cli import main
from timings import ROOT, TimingTable

_TURNS = 40
_SPECS = (
    "specs/applications/kafka.qps",
    "specs/sfu.qps",
    "specs/applications/kubernetes.qps",
    "benchmarks/applications/site.qps",
    "benchmarks/applications/infeasible.qps",
    "benchmarks/applications/tower.qps",
)
_PHONE = (390, 844)
_LAPTOP = (1280, 800)

# Changes of the layout that no reader caused, from the first paint on.
_SHIFTS = """new PerformanceObserver((list) => {
  for (const one of list.getEntries()) {
    if (!one.hadRecentInput) globalThis.shifted = (globalThis.shifted ?? 0) + one.value;
  }
}).observe({ type: "layout-shift", buffered: true })"""

# The part of the window that stays covered when a reader scrolls: the highest of what is fixed.
_COVERED = """() => {
  scrollTo(0, document.body.scrollHeight / 2);
  const fixed = [...document.querySelectorAll("body *")].filter((one) =>
    ["fixed", "sticky"].includes(getComputedStyle(one).position) && one.getClientRects().length);
  const boxes = fixed.map((one) => one.getBoundingClientRect())
    .filter(({ top, bottom }) => top < 1 || bottom > innerHeight - 1);
  const covered = boxes.map(({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0));
  const is_wider = document.documentElement.scrollWidth > innerWidth;
  return [Math.max(0, ...covered) / innerHeight, is_wider];
}"""
_OPEN = """async () => {
  document.querySelectorAll("details").forEach((one) => { one.open = true; });
  document.querySelectorAll(".long").forEach((one) => { one.style.contentVisibility = "visible"; });
  qps.drawAll?.();
  for (let turn = 0; turn < 3; turn++) await new Promise(requestAnimationFrame);
}"""

# A change as a reader makes it, with the layout that its frame has; what takes longer goes on
# behind the frame, and is waited for before the next one.
_CHANGE = """([field, turn]) => {
  document.body.getBoundingClientRect();
  const one = field === "population"
    ? document.getElementById("population")
    : document.querySelector("#controls .number input.amount:not([disabled])");
  if (!one) return false;
  globalThis.usual ??= {};
  usual[field] ??= Number(one.value);
  one.value = field === "population"
    ? String((turn % 20) * Number(one.max) / 20)
    : String(Number((usual[field] * (1 - (turn + 1) / 400)).toPrecision(4)));
  one.dispatchEvent(new Event("input"));
  document.body.getBoundingClientRect();
  return true;
}"""
_REST = """async () => {
  while (qps.pending) await new Promise((done) => setTimeout(done));
  clearTimeout(qps.thinking);
}"""


def seen() -> TimingTable:
    """Return for each report what its readers see, and what a change takes to its frame."""
    rows = [] if CHROMIUM is None else _measured()
    return TimingTable(
        "The screen of a report",
        MISSING
        if CHROMIUM is None
        else "Layout shift on a laptop and on a phone (at most 0.05 each); the part of a phone's "
        "screen that stays covered when one scrolls (at most 10 %), and whether it scrolls "
        "sideways; sheets of A4 (one); faults that axe finds in light and dark with all open; "
        f"median and longest of {_TURNS} changes to the frame that follows, in ms of processor "
        "time of the page's main thread (10 at the median, of the tower 16).",
        (
            "page",
            "shift",
            "shift, phone",
            "covered, phone",
            "sideways",
            "sheets",
            "axe",
            "axe, dark",
            *(f"{name}{end}" for name in ("population", "number") for end in ("", ", longest")),
        ),
        tuple(rows),
    )


def _measured() -> list[tuple[str, ...]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        for name in _SPECS:
            file = Path(folder) / f"{Path(name).stem}.html"
            main(["report", str(ROOT / name), "-q", "-o", str(file)])
            rows.append((Path(name).stem, *_of_page(started, file)))
            print(rows[-1], flush=True)
    return rows


def _of_page(started: Any, file: Path) -> list[str]:
    shifts = [_shift(started, file, *size) for size in (_LAPTOP, _PHONE)]
    with opened(started, file, width=_PHONE[0]) as found:
        found.page.set_viewport_size({"width": _PHONE[0], "height": _PHONE[1]})
        covered, is_wider = found.run(_COVERED)
    with opened(started, file) as found:
        sheets = len(re.findall(rb"/Type /Page\b", found.page.pdf(format="A4")))
        found.page.emulate_media(media="screen")
        found.run(_OPEN)
        light = len(faults(found))
        found.page.emulate_media(color_scheme="dark")
        found.run("() => qps.redraw?.()")
        dark = len(faults(found, "color-contrast"))
    with opened(started, file, patient=False) as found:
        times = [_processor_times(found, field) for field in ("population", "number")]
    return [
        *(f"{shift:.3f}" for shift in shifts),
        f"{covered:.1%}".replace("%", " %"),
        "yes" if is_wider else "no",
        *(str(count) for count in (sheets, light, dark)),
        *(cell for one in times for cell in _cells(one)),
    ]


def _shift(started: Any, file: Path, width: int, height: int) -> float:
    """Return by how much what is in sight moves while a page opens; its advice comes last."""
    context = started.new_context(viewport={"width": width, "height": height})
    page = context.new_page()
    page.add_init_script(_SHIFTS)
    page.goto(file.as_uri())
    page.wait_for_selector("#advice button, #advice p", timeout=200_000)
    page.wait_for_timeout(3_000)
    shift: float = page.evaluate("() => globalThis.shifted ?? 0")
    context.close()
    return shift


def _processor_times(found: Opened, field: str) -> list[float]:
    """Return what each change takes of the page's main thread, in ms; a script takes as long."""
    page = found.page.own
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def took(script: str, argument: object = None) -> tuple[float, object]:
        before = _thread_time(session)
        made = page.evaluate(script, argument)
        return (_thread_time(session) - before) * 1000, made

    page.wait_for_timeout(2_000)
    nothing = median(took("() => document.body.getBoundingClientRect().top")[0] for _ in range(10))
    times = []
    for turn in range(_TURNS):
        time, is_made = took(_CHANGE, [field, turn])
        if not is_made:
            return []
        times.append(max(0.0, time - nothing))
        page.evaluate(_REST)
    return times


def _thread_time(session: Any) -> float:
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(one["value"]) for one in metrics if one["name"] == "ThreadTime")


def _cells(times: list[float]) -> tuple[str, str]:
    return (f"{median(times):.1f}", f"{max(times):.1f}") if times else ("–", "–")
