"""Measure how fast pages follow: `python tests/benchmarks/pages.py [reports|matrix]`.

For each spec of the repository: the size of its page, and the time in the browser from a change to
the page that shows it, layout and all, when the population moves, when a number moves, and when a
choice is made. Then the same for pages of a matrix with 10,000 and 50,000 rows: sorting, filtering,
drawing along an axis, choosing a row and scrolling, and the longest frame until pictures have
followed too. A frame has 16 ms. Nothing is asserted: machines differ.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

TURNS = 40

# Each change is made as a reader makes it, by an event of its input; reading the layout at the end
# makes the browser finish what it would else do before the next frame.
MEASURE = """async (turns) => {
  const told = {};
  const measure = async (name, change) => {
    const times = [];
    for (let turn = 0; turn < turns; turn++) {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      const start = performance.now();
      change(turn);
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
      clearTimeout(qps.thinking);
    }
    times.sort((a, b) => a - b);
    told[name] = [times[Math.floor(turns / 10)], times[Math.floor(turns / 2)], times.at(-1)];
  };
  const set = (field, value, event) => {
    field.value = value;
    field.dispatchEvent(new Event(event));
  };
  const slider = document.getElementById("population");
  const step = Number(slider.max) / 20;
  await measure("population", (turn) => set(slider, String((turn % 20) * step), "input"));
  qps.shown.follows = true;
  const number = document.querySelector("#controls .number input.amount:not([disabled])");
  const usual = Number(number?.value);
  if (number) {
    const other = (turn) => String(Number((usual * (1 - turn / 400)).toPrecision(4)));
    await measure("number", (turn) => set(number, other(turn), "input"));
  }
  const held = (select) => [...select.options].filter((one) => !one.disabled).map((o) => o.value);
  const select = [...document.querySelectorAll("#controls select")]
    .find((one) => one.id !== "control-start" && held(one).length > 1);
  if (select) {
    const choices = held(select);
    await measure("choice", (turn) => set(select, choices[turn % choices.length], "change"));
  }
  return told;
}"""


# What a reader does with rows, each by the event of its element: the time until the page is laid
# out again, and the longest of the frames until all pictures have been drawn.
MEASURE_ROWS = """async (turns) => {
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
  const axis = qps.lines.axes.find((one) => one.column.name === "largest_acceptable");
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

CHOICES = """
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
SIZES = (20, 99)  # values of `size`: 10,080 and 49,896 rows


def main(which: Sequence[str]) -> None:
    """Print tables."""
    from helpers.browser import browser

    with tempfile.TemporaryDirectory() as folder, browser() as started:
        if "reports" in which:
            reports(started, Path(folder))
        if "matrix" in which:
            matrices(started, Path(folder))


def matrices(started: object, folder: Path) -> None:
    """Print a table of pages of rows."""
    from helpers.browser import opened
    from qps.cli import main as qps

    spec = folder / "many.qps"
    shutil.copytree(ROOT / "specs" / "audioconference", folder / "audioconference")
    text = (ROOT / "specs" / "audioconference.qps").read_text(encoding="utf-8")
    names = ("sort", "filter", "draw along", "choose", "scroll")
    print("\nms from a change to the table that shows it: half, all; the longest frame: half, all")
    print(f"{'rows':>6} {'kB':>5}" + "".join(f"  {name:>27}" for name in names))
    for size in SIZES:
        spec.write_text(text + CHOICES % size, encoding="utf-8")
        file = folder / "many.html"
        qps(["matrix", str(spec), "many", "-q", "-o", str(file)])
        with opened(started, file) as found:
            times = found.run(MEASURE_ROWS, TURNS)
            rows = found.run("() => qps.all.length")
        told = "".join("  {:6.1f} {:6.1f} {:6.0f} {:6.0f}".format(*times[name]) for name in names)
        print(f"{rows:6,} {file.stat().st_size / 1000:5.0f}{told}")


def reports(started: object, folder: Path) -> None:
    """Print a table of the specs' reports."""
    from helpers.browser import opened
    from qps.cli import main as qps

    print(f"ms from a change to the page that shows it: tenth, half, all of {TURNS}")
    print(f"{'page':16} {'kB':>4}  {'population':>19}  {'number':>19}  {'choice':>19}")
    for spec in sorted((ROOT / "specs").glob("*.qps")):
        file = folder / f"{spec.stem}.html"
        qps(["report", str(spec), "--no-advice", "-q", "-o", str(file)])
        with opened(started, file) as found:
            found.page.wait_for_selector("#advice table, #advice p")
            times = found.run(MEASURE, TURNS)
        print(f"{spec.stem:16} {file.stat().st_size / 1000:4.0f}{told(times)}")


def told(times: dict[str, list[float]]) -> str:
    """Return the columns of a row."""
    return "".join(
        "  {:5.1f} {:6.1f} {:6.1f}".format(*times[name])
        for name in ("population", "number", "choice")
        if name in times
    )


if __name__ == "__main__":
    main(sys.argv[1:] or ("reports", "matrix"))
