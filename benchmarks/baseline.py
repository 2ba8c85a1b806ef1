"""The figures of the last stored run, and what got slower since."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from measures import BenchmarkTarget, Found
from targets import targets
from timings import TimingTable

_RESULTS = Path(__file__).parent / "results.json"
_TOGETHER = 75.0  # s of processor that a quick comparison may take
_LONGEST = 8.0
_SLOWER, _FASTER = 1.25, 0.8  # times the last figure: less is noise on a machine at work
_TRIES = 3
_MUCH = 1000  # MB


def measured_targets(only: str, *, is_stored: bool) -> TimingTable:
    """Return figures beside those before, measured where the name holds a pattern."""
    figures: dict[str, dict[str, float]] = _stored_figures()
    rows = []
    for target in targets():
        if re.search(only, target.what):
            found = _found(target)
            figures[target.what] = {"failed": 1.0} if found is None else found.as_json
            print(f"{target.what}: {_comparison(target, figures[target.what])}", flush=True)
        text = _comparison(target, figures.get(target.what))
        goal = target.as_text(target.goal)
        rows.append((target.what, target.before, goal, text, _judged(target, figures)))
    if is_stored:
        _RESULTS.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return TimingTable(
        "What was to be reached",
        "Processor time. S: what `import sympy` takes, measured beside each; us: where S is "
        "0.35 s. Before: of issue 14, or measured before its first change. Where one is missed, "
        "[limits.md](limits.md) tells what takes the time.",
        ("what", "before", "to reach", "now", "reached"),
        tuple(rows),
    )


def _stored_figures() -> dict[str, dict[str, float]]:
    if not _RESULTS.exists():
        return {}
    found: dict[str, dict[str, float]] = json.loads(_RESULTS.read_text(encoding="utf-8"))
    return found


def _found(target: BenchmarkTarget) -> Found | None:
    try:
        return target.measure()
    except Exception as error:  # noqa: BLE001 - the others are not lost by it
        print(f"{target.what}: {type(error).__name__}: {error}", flush=True)
        return None


def _comparison(target: BenchmarkTarget, found: dict[str, float] | None) -> str:
    if found is None:
        return "not measured"
    if "failed" in found:
        return "failed"
    text = ("over " if found["is_late"] else "") + target.as_text(found["figure"])
    if found["megabytes"] > _MUCH:
        text += f", {found['megabytes']:,.0f} MB"
    return text


def _judged(target: BenchmarkTarget, figures: dict[str, dict[str, float]]) -> str:
    found = figures.get(target.what)
    if found is None or "failed" in found:
        return ""
    return "yes" if found["figure"] <= target.goal and not found["is_late"] else "no"


def compare(only: str) -> int:
    """Measure again what is quick, report what got slower since it was stored; 1 where any did."""
    stored = {
        what: found
        for what, found in _stored_figures().items()
        if re.search(only, what) and "failed" not in found and not found["is_late"]
    }
    slower = faster = count = 0
    for target, figure in _quick(stored):
        now = _least(target, figure)
        count += 1
        if now is None or now > _SLOWER * figure:
            slower += 1
            text = "failed" if now is None else f"{target.as_text(figure)} → {target.as_text(now)}"
            print(f"slower: {target.what}: {text}", flush=True)
        elif now < _FASTER * figure:
            faster += 1
            print(
                f"faster: {target.what}: {target.as_text(figure)} → {target.as_text(now)}",
                flush=True,
            )
    print(f"{count} figures measured again: {slower} slower, {faster} faster")
    return 1 if slower else 0


def _quick(stored: dict[str, dict[str, float]]) -> Iterator[tuple[BenchmarkTarget, float]]:
    """Yield what was stored, the cheapest first, until the time is used up."""
    left = _TOGETHER
    known: Iterable[BenchmarkTarget] = [target for target in targets() if target.what in stored]
    for target in sorted(known, key=lambda one: stored[one.what]["seconds"]):
        seconds = stored[target.what]["seconds"]
        if seconds > min(left, _LONGEST):
            break
        left -= seconds
        yield target, stored[target.what]["figure"]


def _least(target: BenchmarkTarget, figure: float) -> float | None:
    """Return the least of some figures, taken until one is not slower."""
    found: list[float] = []
    while len(found) < _TRIES and not (found and min(found) <= _SLOWER * figure):
        now = _found(target)
        if now is None or now.is_late:
            return None
        found.append(now.figure)
    return min(found)
