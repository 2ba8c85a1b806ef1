"""Pools within closed networks, and questions that ask for a population: what was to be reached."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import requested
from measures import (
    APPLICATIONS,
    LIMIT,
    S_OF_TARGETS,
    SPECS,
    BenchmarkTarget,
    Found,
    command,
    made,
    measured_with_unit,
    qps,
    ratio,
    row,
)
from timings import ROOT, used


def _s(what: str, before: str, goal: float, measure: Callable[[], Found]) -> BenchmarkTarget:
    return BenchmarkTarget(what, before, goal, " S", measure)


def targets() -> Iterator[BenchmarkTarget]:
    """Yield what takes pools within closed networks, and questions that ask for a population."""
    own = APPLICATIONS[1]
    pay, tower, two = (own / f"{name}.qps" for name in ("pay", "tower", "two_classes"))
    shop, llm = (SPECS / "applications" / f"{name}.qps" for name in ("shop", "llm"))
    asked = (
        (shop, "30000", "clicks", "over 60 S", "10 S"),
        (pay, "1500", "pool", "2.7 S", "23 S"),
        (tower, "60", "m2", "1.2 S", "over 90 S"),
        (llm, "1500", "gpus", "6.2 S", "2.5 S"),
    )
    for spec, users, name, before_for, before in asked:
        words = ("solve", "-q", spec, "--users", users)
        yield _s(f"{spec.stem} --users {users}", before, 5, partial(command, *words))
        told = f"{spec.stem} --for {name} --users {users}"
        yield _s(told, before_for, 5, partial(command, *words, "--for", name))
    for spec in (pay, tower, two):
        words = ("solve", "-q", "--no-advice", spec)
        yield _s(f"qps solve of {spec.stem}", "", 3, partial(command, *words))
    rows = ((tower, "m3", 50), (pay, "pool", 50), (two, "pool", 200), (shop, "clicks", 200))
    for spec, axis, goal in rows:
        what = f"a row: {spec.stem}, {axis}"
        yield BenchmarkTarget(what, "", goal, " us", partial(row, spec, axis))
    calls = partial(row, made("calls", requested.CALLS), "work")
    yield BenchmarkTarget("a row: p99 over calls", "530 us", 50, " us", calls)
    measure = partial(row, SPECS / "iri.qps", "line_rate")
    yield BenchmarkTarget("a row: iri, line_rate", "2,500 us", 50, " us", measure)
    columns = {
        "one column": ("clicks in 0.05..1 request/s, # values", "largest_acceptable"),
        ".p05": ("threads in 100..300 thread, # values", "largest_acceptable.p05"),
    }
    for what, (axis, column) in columns.items():
        measure = partial(_further, shop, f"{axis}\nselect largest_acceptable, {column}")
        yield BenchmarkTarget(f"a row: shop, {what}", "", 10_000, " us", measure)
    for most in ("1_000", "1_000_000_000"):
        yield BenchmarkTarget(
            f"shop with N to {most} against N to 1_000_000", "", 2, " x", _ranges(most)
        )


def _further(spec: Path, axis: str) -> Found:
    """Return us for a further row of a matrix with columns of its own, of four beside two."""
    words = (str(Path(__file__).parent / "further_rows.py"), "--own", str(ROOT), str(spec))
    took, unit = measured_with_unit(partial(used, [*words, axis, "2", "4"], LIMIT), 1)
    us, _ = json.loads(took.text) if took.text else (LIMIT * 1e6, "")
    return Found(us * S_OF_TARGETS / unit, took.seconds, took.megabytes, took.is_late)


def _ranges(most: str) -> Callable[[], Found]:
    """Return what another largest population costs the shop, as a ratio."""
    text = (SPECS / "applications" / "shop.qps").read_text(encoding="utf-8")
    text = text.partition("expect ")[0]  # its claims are of other populations
    one, other = (
        made(f"shop_{end}", text.replace("1..200_000", f"1..{end}")) for end in (most, "1_000_000")
    )
    solves = [qps("solve", "-q", "--no-advice", spec) for spec in (one, other)]
    return partial(ratio, *solves)
