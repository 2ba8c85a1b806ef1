"""The traces under specs/traces, which are synthetic: `python tests/documents/example_traces.py`.

A packet every 160 ms, as in Claypool 1997, chapter 3, whose own recordings are not published.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

FOLDER = Path(__file__).resolve().parents[2] / "specs" / "traces"
_PERIOD = 160.0
_PACKETS = 500

TRACES = {
    # name: mean lateness in ms, share of packets that meet a burst, its length in ms, share lost
    "idle": (2.0, 0.0, 0.0, 0.0),
    "loaded": (15.0, 0.01, 180.0, 0.002),
    "wireless": (25.0, 0.03, 320.0, 0.02),
    "flooded": (45.0, 0.04, 240.0, 0.01),
}


def trace_of(name: str) -> str:
    """Return the text of a trace; always the same one."""
    mean, share, length, lost = TRACES[name]
    random = Random(f"qps trace {name}")
    rows, last = [], 0.0
    burst_until = -1.0
    for number in range(_PACKETS):
        sent = number * _PERIOD
        if share and random.random() < share:
            burst_until = max(burst_until, sent + random.expovariate(1 / length))
        way = 3.0 + random.expovariate(1 / mean)
        arrival = max(sent + way, burst_until, last + 0.1)
        if random.random() >= lost:
            last = arrival
            rows.append(f"{number + 1},{arrival:.1f}")
    return "\n".join(['sequence,"arrival, ms"', *rows]) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in TRACES:
        (FOLDER / f"{name}.csv").write_text(trace_of(name), encoding="utf-8")
        print(f"{name}.csv written")
