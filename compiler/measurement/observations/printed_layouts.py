"""How load generators print at their end: where a run begins and ends, and what is twice there.

A file may hold the outputs of several runs, one after the other; one that was broken off is left
out, and that is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import LoadRun, Twice
from qps.compiler.measurement.observations.run_texts import NUMBER, RunText, plain_text

Printed = tuple[list[LoadRun], list[str]]
"""The runs of a file, and what to know of them."""

_MOST_RUNS = 10_000
_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
TIME = rf"{NUMBER}(?:ns|us|µs|ms|s|m|h)"


class PrintedLayout(Struct, frozen=True, kw_only=True):
    """How a tool prints: the first of `begins` that is found begins each run, `end` its result.

    `read` reads one run, None where it was broken off; `sign` is the end in words.
    """

    begins: tuple[str, ...]
    end: str
    sign: str
    read: Callable[[RunText], LoadRun | None]


def printed_runs(text: str, file: str, layout: PrintedLayout) -> Printed:
    """Read each part of a text."""
    parts = list(_parts(plain_text(text), file, layout))
    found = [layout.read(part) for part in parts]
    whole = [run for run in found if run is not None]
    if not whole and any(re.search(layout.end, part.text, re.MULTILINE) for part in parts):
        raise DataError(
            f"`{shortened(file)}` contains no run with completed requests",
            "check that the server responded, and save the complete output of the tool",
        )
    if not whole:
        raise DataError(
            f"`{shortened(file)}` contains no result: no line `{layout.sign}`",
            "save the complete output of the tool: `… > run.txt`",
        )
    broken = len(found) - len(whole)
    if not broken:
        return whole, []
    verb = "is incomplete and" if broken == 1 else "are incomplete and"
    return whole, [f"warning: {broken} of {len(found)} runs in `{file}` {verb} ignored"]


def _parts(text: str, file: str, layout: PrintedLayout) -> Iterator[RunText]:
    """Yield the text of each run; a first one may have lost its beginning."""
    starts: list[int] = []
    for begin in layout.begins:
        starts = starts or [match.start() for match in re.finditer(begin, text, re.MULTILINE)]
    if len(starts) > _MOST_RUNS:
        raise DataError(f"`{shortened(file)}` contains more than {_MOST_RUNS:,} runs", "split it")
    results = [match.start() for match in re.finditer(layout.end, text, re.MULTILINE)]
    if starts and results and results[0] < starts[0]:
        starts.insert(0, 0)
    if not starts:
        return
    line, place = 1, 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        line, place = line + text.count("\n", place, start), start
        of_run = [result for result in results if start <= result < end]
        results = results[len(of_run) :]
        if len(of_run) > 1:
            second = line + text.count("\n", start, of_run[1])
            raise DataError(
                f"`{shortened(file)}`, line {second}: a second result of one run",
                "keep the lines that the tool prints at the start of each run, or split the file",
            )
        yield RunText(file=file, text=text[start:end], line=line)


def rate_twice(
    what: str, stated: float, count: float, seconds: float, rounding: float = 0.0
) -> Twice:
    """Return a rate as it is stated, and as a count and a time give it."""
    return Twice(
        what=what,
        stated=stated,
        derived=count / seconds,
        derived_from=f"{count:,g} in {seconds:g} s",
        rounding=rounding,
    )


def place_of(run: RunText) -> str:
    """Return where in its file a run begins, for what is printed of it."""
    """Return where in its file a run begins, for what is printed of it."""
    return "" if run.line == 1 else f", line {run.line}"


def seconds_of(text: str) -> float:
    """Return a time of a number and a unit: `25.25ms`."""
    number, unit = re.fullmatch(r"([\d.]+)([a-zµ]+)", text).groups()  # type: ignore[union-attr]
    return float(number) * _TIMES[unit]
