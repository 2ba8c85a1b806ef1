"""How fast a report follows: the time from a change to the page that shows it, layout and all."""

from __future__ import annotations

import tempfile
from pathlib import Path

from helpers.browser import CHROMIUM, MISSING, browser, opened
from qps.cli import main
from timings import ROOT, Measured

_TURNS = 40
_CHANGES = ("population", "number", "choice")
_APPLICATIONS = ("chat", "shop", "thirteen_services")
_DRAWN = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"

# Each change is made as a reader makes it, by an event of its input; reading the layout at the end
# makes the browser finish what it would else do before the next frame.
_MEASURE = """async (turns) => {
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


def changes() -> Measured:
    """Return for each worked spec how large its page is, and how long changes take."""
    rows = [] if CHROMIUM is None else _measured()
    return Measured(
        "A change in a report",
        MISSING
        if CHROMIUM is None
        else f"In ms: until the first screen is drawn; median of {_TURNS} and longest of a "
        "change of the population, a number or a choice, until the page shows it. A frame "
        "has 16 ms.",
        (
            "page",
            "kB",
            "drawn",
            *(f"{name}{end}" for name in _CHANGES for end in ("", ", longest")),
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
            with opened(started, file) as found:
                found.page.wait_for_selector("#advice table, #advice p")
                drawn = f"{found.run(_DRAWN):.0f}"
                times = found.run(_MEASURE, _TURNS)
            cells = [_cells(times.get(name)) for name in _CHANGES]
            size = f"{file.stat().st_size / 1000:.0f}"
            rows.append((spec.stem, size, drawn, *(cell for both in cells for cell in both)))
    return rows


def _cells(times: list[float] | None) -> tuple[str, str]:
    """Return the median and the longest; a page may have no such thing to change."""
    return ("–", "–") if times is None else (f"{times[1]:.1f}", f"{times[2]:.1f}")
