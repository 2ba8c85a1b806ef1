"""Measure how fast a report follows: `python tests/benchmarks/pages.py`.

For each spec of the repository: the size of its page, and the time in the browser from a change to
the page that shows it, layout and all, when the population moves, when a number moves, and when a
choice is made. A frame has 16 ms. Nothing is asserted: machines differ.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

TURNS = 40

# Each change is made as a reader makes it, by an event of its input; reading the layout at the end
# makes the browser finish what it would else do before the next frame.
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


def main() -> None:
    """Print a table."""
    from helpers.browser import browser, opened
    from qps.cli import main as qps

    print(f"ms from a change to the page that shows it: tenth, half, all of {TURNS}")
    print(f"{'page':16} {'kB':>4}  {'population':>19}  {'number':>19}  {'choice':>19}")
    with tempfile.TemporaryDirectory() as folder, browser() as started:
        for spec in sorted((ROOT / "specs").glob("*.qps")):
            file = Path(folder) / f"{spec.stem}.html"
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
    main()
