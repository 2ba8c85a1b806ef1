"""How fast the page of a matrix follows: sorting, filtering, brushing, choosing and scrolling."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from browsers.browser import CHROMIUM, MISSING, browser, opened
from qps.cli import main
from timings import ROOT, TimingTable

_TURNS = 40
_CHANGES = ("sort", "filter", "draw along", "choose", "scroll")

# What a reader does with rows, each by the event of its element: the time until the page is laid
# out again, and the longest of the frames until all pictures have been drawn.
_MEASURE = """async (turns) => {
  const told = {};
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const settled = async () => {
    let longest = 0, last = performance.now();
    do {
      await frame();
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
    } while (qps.lines.jobs.size || qps.later);
    return longest;
  };
  const measure = async (name, change) => {
    const times = [], frames = [];
    for (let turn = 0; turn < turns; turn++) {
      await frame();
      const start = performance.now();
      change(turn);
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
      frames.push(await settled());
    }
    for (const list of [times, frames]) list.sort((a, b) => a - b);
    const half = Math.floor(turns / 2);
    told[name] = [times[half], times.at(-1), frames[half], frames.at(-1)];
  };
  document.getElementById("picture-lines").scrollIntoView();
  await settled();
  const { scroller, sorters } = qps.table;
  await measure("sort", (turn) => sorters[turn % sorters.length].click());
  const fields = qps.table.fields.filter((one) => !one.column.isWord);
  await measure("filter", (turn) => {
    const { element, column } = fields[turn % fields.length];
    element.value = `>= ${column.tell(Math.ceil(column.values.length * (turn % 3 + 1) / 4))}`;
    element.dispatchEvent(new Event("input"));
  });
  qps.clear(null);
  await settled();
  const axis = qps.lines.axes.find((one) => one.column.name === "capacity");
  await measure("draw along", (turn) => {
    const box = axis.hit.getBoundingClientRect(), clientX = box.x + 5, pointerId = 1;
    const send = (type, clientY) =>
      axis.hit.dispatchEvent(new PointerEvent(type, { clientX, clientY, pointerId }));
    axis.hit.setPointerCapture = () => {};
    send("pointerdown", box.y + 20);
    send("pointermove", box.y + 60 + 5 * turn);
    send("pointerup", box.y + 60 + 5 * turn);
  });
  qps.clear(null);
  await settled();
  await measure("choose", (turn) => qps.choose(qps.view[turn * 7], true));
  await measure("scroll", (turn) => {
    scroller.scrollTop = (turn * 7919 * 29) % (qps.view.length * 29);
    scroller.dispatchEvent(new Event("scroll"));
  });
  return told;
}"""

_CHOICES = """
matrix many {
  station  in [ ws.ipx, ws.sparc5, ws.alpha ]
  lan      in [ net.ethernet, net.hippi ]
  deletion in [ on, off ]
  cast     in [ unicast, multicast ]
  size     in 600..1800 byte/packet, %d values
  kept     in 50..100 %%, 21 values
  column margin = longest_delay - voice.latency
}
"""
_SIZES = (20, 99, 198)  # values of `size`: 10,080, 49,896 and 99,792 rows


def changes() -> TimingTable:
    """Return for matrices of 10,000 to 100,000 rows how large a page is, and how it follows."""
    rows = [] if CHROMIUM is None else _measured()
    return TimingTable(
        "A change in the page of a matrix",
        MISSING
        if CHROMIUM is None
        else f"In ms, medians of {_TURNS}: until the table is laid out again, and the longest "
        "frame until all pictures have followed. A frame has 16 ms.",
        ("rows", "kB", *(f"{name}{end}" for name in _CHANGES for end in ("", ", frame"))),
        tuple(rows),
    )


def _measured() -> list[tuple[str, ...]]:
    rows = []
    with tempfile.TemporaryDirectory() as name, browser() as started:
        folder = Path(name)
        spec, file = folder / "many.qps", folder / "many.html"
        shutil.copytree(ROOT / "specs" / "audioconference", folder / "audioconference")
        text = (ROOT / "specs" / "audioconference.qps").read_text(encoding="utf-8")
        for size in _SIZES:
            spec.write_text(text + _CHOICES % size, encoding="utf-8")
            main(["matrix", str(spec), "many", "-q", "-o", str(file)])
            with opened(started, file) as found:
                times = found.run(_MEASURE, _TURNS)
                count = found.run("() => qps.all.length")
            cells = [cell for one in _CHANGES for cell in _cells(times[one])]
            rows.append((f"{count:,}", f"{file.stat().st_size / 1000:.0f}", *cells))
    return rows


def _cells(times: list[float]) -> tuple[str, str]:
    """Return the median until the table is laid out, and that of the longest frames."""
    return f"{times[0]:.1f}", f"{times[2]:.0f}"
