"""How fast a report follows: the time from a change to the page that shows it, layout and all."""

from __future__ import annotations

import tempfile
from pathlib import Path

from browsers.browser import CHROMIUM, MISSING, browser, opened
from qps.cli import main
from timings import ROOT, TimingTable

_TURNS = 40
_CHANGES = ("population", "number", "choice")
_APPLICATIONS = ("chat", "shop", "thirteen_services", "fifteen_services")
_DRAWN = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"

# Tasks of 50 ms and more, from the start on.
_WATCH = """globalThis.long = [];
new PerformanceObserver((list) => long.push(...list.getEntries().map((one) => one.duration)))
  .observe({ type: "longtask", buffered: true });"""

# The first change of a page, and for two seconds all that is worked at behind it.
_FIRST = """async () => {
  await new Promise((done) => setTimeout(done, 500));
  long.length = 0;
  const number = document.querySelector("#controls .number input.amount:not([disabled])");
  if (!number || !qps.shown) return [null, 0];
  const start = performance.now();
  number.value = String(Number((Number(number.value) * 0.99).toPrecision(4)));
  number.dispatchEvent(new Event("input"));
  document.body.getBoundingClientRect();
  const took = performance.now() - start;
  await new Promise((done) => setTimeout(done, 2000));
  return [took, Math.max(0, ...long)];
}"""

# Each change is made as a reader makes it, by an event of its input; reading the layout at the end
# makes the browser finish what it would else do before the next frame. What takes longer goes on
# behind the frame: until then the page says that it is being worked out.
_MEASURE = """async (turns) => {
  const told = {};
  const measure = async (name, change) => {
    const times = [], settled = [];
    for (let turn = 0; turn < turns; turn++) {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      const start = performance.now();
      change(turn);
      document.body.getBoundingClientRect();
      times.push(performance.now() - start);
      while (qps.pending) await new Promise((done) => setTimeout(done));
      settled.push(performance.now() - start);
      clearTimeout(qps.thinking);
    }
    const median = (all) => all.sort((a, b) => a - b)[Math.floor(turns / 2)];
    told[name] = [median(times), times.at(-1), median(settled)];
  };
  const set = (field, value, event) => {
    field.value = value;
    field.dispatchEvent(new Event(event));
  };
  const slider = document.getElementById("population");
  if (!slider || !qps.shown) return told; // a page of claims alone has nothing to change
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


def changes() -> TimingTable:
    """Return for each worked spec how large its page is, and how long changes take."""
    rows = [] if CHROMIUM is None else _measured()
    return TimingTable(
        "A change in a report",
        MISSING
        if CHROMIUM is None
        else "In ms: until the first screen is drawn; how long the first change of a number "
        "takes, and the longest task in the two seconds after it (of those from 50 ms on); "
        f"median of {_TURNS} and longest of a change of the population, a number or a choice, "
        "until the page is free again, and median until its answer is there. A frame has 16 ms.",
        (
            "page",
            "kB",
            "drawn",
            "first",
            "longest task",
            *(f"{name}{end}" for name in _CHANGES for end in ("", ", longest", ", answer")),
        ),
        tuple(rows),
    )


def _measured() -> list[tuple[str, ...]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        applications = (ROOT / "specs" / "applications" / f"{name}.qps" for name in _APPLICATIONS)
        for spec in (*sorted((ROOT / "specs").glob("*.qps")), *applications):
            file = Path(folder) / f"{spec.stem}.html"
            main(["report", str(spec), "--no-advice", "-q", "-o", str(file)])
            with opened(started, file, patient=False) as found:
                found.run(_WATCH)
                drawn = f"{found.run(_DRAWN):.0f}"
                first, task = found.run(_FIRST)
                times = found.run(_MEASURE, _TURNS)
            cells = [cell for name in _CHANGES for cell in _cells(times.get(name))]
            size = f"{file.stat().st_size / 1000:.0f}"
            told = "–" if first is None else f"{first:.1f}"
            rows.append((spec.stem, size, drawn, told, f"{task:.0f}" if task else "–", *cells))
    return rows


def _cells(times: list[float] | None) -> tuple[str, ...]:
    """Return what was measured of a kind of change; a page may have no such thing to change."""
    return ("–",) * 3 if times is None else tuple(f"{one:.1f}" for one in times)
