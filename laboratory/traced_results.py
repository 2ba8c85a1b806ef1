"""What was measured and predicted of the traced systems, stored and as a page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from qps.reports.text.layout.table import Table
from traced_designs import DESIGNS

STORED = Path(__file__).parent / "traced_systems.json"
_HEAD = """# Capacities predicted from traces, compared with real systems

Measured by `python laboratory/traced_systems.py --keep`: three systems with the SDK of \
OpenTelemetry, on loopback and on quotas of their own (control groups, which come before all other \
programs). A system is saturated by clients without think time, and started anew for runs at 10, \
20, 30 and 40 % of what it then served. From these, `qps observe traces --cpu` writes a spec, its \
questions are answered (quotas, places of the pool), and `qps solve` predicts the capacity. \
Requests use a set amount of processor time, so that it matters less what else the machine does; \
the rest, of HTTP and OpenTelemetry, is real work.

The target is an error of 15 %, with the capacity within the 90 % interval. Its width is \
mostly `std.trust.higher_load`: by how much the CPU per request of other tables changed at two to \
three times the measured load (`tests/documents/higher_loads.py`). No number of these systems is \
part of that; with sampling errors alone, none of the three below was within its interval. Of \
eleven runs that were kept, also short ones, ten are within. The other one is a run of 12 s in \
which the cache of the shop did not yet pass its context on: 30.7 /s (24.4 to 37.9) for 15.1 /s.
"""
_CALLS = """Calls as the services counted them, and as the spec has them (the target is 2 %):"""


class CountedCall(Struct, frozen=True, kw_only=True):
    """Calls of one operation by another: per request, as counted by the services and by spans."""

    caller: str
    called: str
    counted: float
    observed: float
    together: str


class TracedResult(Struct, frozen=True, kw_only=True):
    """What was measured and predicted of a system, in requests per second."""

    date: str
    machine: str
    traces: int
    spans: int
    calls: list[CountedCall]
    busiest: float
    measured: float
    used: dict[str, float]
    predicted: float
    least: float
    most: float
    bottleneck: str

    @property
    def error(self) -> float:
        """By what part of the measured capacity the prediction is off."""
        return self.predicted / self.measured - 1


def shown_cores(cores: Mapping[str, float]) -> str:
    """Return how many cores each service used."""
    return ", ".join(f"{name} {value:.3f}" for name, value in cores.items())


def keep(name: str, result: TracedResult) -> None:
    """Write the results of all systems anew, with those of one replaced."""
    found: dict[str, TracedResult] = {}
    if STORED.exists():
        found = msgspec.json.decode(STORED.read_bytes(), type=dict[str, TracedResult])
    found[name] = result
    ordered = {one: found[one] for one in DESIGNS if one in found}
    STORED.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n")
    STORED.with_suffix(".md").write_text(page(ordered), encoding="utf-8")


def page(found: Mapping[str, TracedResult]) -> str:
    """Return the page: what was predicted of each, and the calls of each."""
    capacities = tuple(
        (
            DESIGNS[name].title,
            f"{100 * one.busiest:.0f} %",
            f"{one.measured:.1f} /s",
            f"{one.predicted:.1f} /s",
            f"{one.least:.1f} to {one.most:.1f} /s",
            f"{100 * one.error:+.1f} %",
            "yes" if one.least <= one.measured <= one.most else "no",
        )
        for name, one in found.items()
    )
    calls = tuple(
        (name, one.caller, one.called, f"{one.counted:.4f}", f"{one.observed:.4f}", one.together)
        for name, result in found.items()
        for one in result.calls
    )
    headings = ("System", "Observed up to", "Capacity", "Predicted", "90 % interval", "Error")
    first = Table((*headings, "In interval"), capacities, frozenset(range(1, 6))).as_markdown()
    headings = ("System", "Caller", "Called", "Calls per request, counted", "By spans", "Order")
    second = Table(headings, calls, frozenset([3, 4])).as_markdown()
    parts = "".join(
        f"\n## {name}\n\n{one.date}; {one.machine}. {one.traces:,} traces with {one.spans:,} "
        f"spans. Cores used at capacity: {shown_cores(one.used)}.\n\n{DESIGNS[name].notes}\n"
        for name, one in found.items()
    )
    return f"{_HEAD}\n{first}\n\n{_CALLS}\n\n{second}\n{parts}"
