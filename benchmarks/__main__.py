"""Measure how long QPS takes: `python benchmarks`.

All parts are measured; `results.md` and `results.svg` are written beside this file, and the figures
of docs/benchmarks.md are put into it. Parts that are named are measured alone and printed, no
more: `python benchmarks matrices starts`; with `--keep` their sections of `results.md` are written
anew. `--quick` compares with what was stored. Nothing is asserted: machines differ, the ratios
tell.
Processor time stands beside time by the clock, which other work on the machine disturbs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "tests")]

import axes_of_specs  # noqa: E402
import baseline  # noqa: E402
import keystrokes  # noqa: E402 - found by the lines above
import matrix_runs  # noqa: E402
import networks  # noqa: E402
import page_figures  # noqa: E402
import pages  # noqa: E402
import queues  # noqa: E402
import rereading  # noqa: E402
import rows  # noqa: E402
import samples  # noqa: E402
import screens  # noqa: E402
import starts  # noqa: E402
import survey  # noqa: E402
import works  # noqa: E402
from timings import TimingTable, machine  # noqa: E402

_LARGEST = 10**7
_RESULTS = HERE / "results.md"


def main() -> None:
    """Measure what is asked for."""
    arguments = _arguments()
    if arguments.quick:
        sys.exit(baseline.compare(arguments.only))
    arguments.keep |= not arguments.parts
    began, about = perf_counter(), machine()
    print(about, flush=True)
    found: dict[str, TimingTable] = {}
    drawn = matrix_runs.Drawn()
    parts = {
        "targets": lambda: baseline.measured_targets(arguments.only, is_stored=arguments.keep),
        "axes": axes_of_specs.all_axes,
        "matrices": lambda: matrix_runs.throughput(arguments.largest, drawn),
        "bare": lambda: matrix_runs.against_bare(drawn),
        "files": lambda: matrix_runs.files(arguments.largest, drawn),
        "starts": starts.cold_starts,
        "specs": works.growth,
        "advice": works.advising,
        "traces": works.replays,
        "pages": pages.changes,
        "screens": screens.seen,
        "rereading": rereading.rereading,
        "rows": rows.changes,
        "queues": queues.numbers,
        "closed": networks.closed,
        "keystrokes": keystrokes.keystrokes,
        "samples": samples.beyond_the_solve,
        "survey": lambda: survey.survey(arguments.also, arguments.progress, arguments.only),
    }
    for name, measure in parts.items():
        is_long = name == "survey"  # half an hour by itself: where it is named
        if name not in arguments.parts and (arguments.parts or is_long):
            continue
        try:
            found[name] = measure()
        except Exception as error:
            if arguments.parts:
                raise
            # The others are not lost by it.
            found[name] = TimingTable(name, f"failed: {type(error).__name__}: {error}", ("",), ())
        print("\n" + found[name].as_markdown(), flush=True)
    took = perf_counter() - began
    print(f"all of it took {took:.0f} s")
    if arguments.parts and arguments.keep:
        _put(found.values())
    if arguments.parts:
        return
    sections = [measured.as_markdown() for measured in found.values()]
    _RESULTS.write_text(_page(about, sections, took), encoding="utf-8")
    drawn.draw(HERE / "results.svg", about)
    page_figures.quote(about, found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python benchmarks", description=__doc__)
    parser.add_argument(
        "parts",
        metavar="PART",
        nargs="*",
        help="targets, axes, matrices, bare, files, starts, specs, advice, traces, pages, rows, "
        "queues, closed, keystrokes, rereading, samples or survey (default: all but survey)",
    )
    parser.add_argument(
        "--largest",
        metavar="ROWS",
        type=int,
        default=_LARGEST,
        help=f"of the matrices (default: {_LARGEST:,})",
    )
    parser.add_argument("--keep", action="store_true", help="keep parts that are named")
    parser.add_argument(
        "--only",
        metavar="PATTERN",
        default="",
        help="targets, or commands of the survey, that hold it",
    )
    parser.add_argument(
        "--also", metavar="FOLDER", type=Path, action="append", default=[], help="of the survey"
    )
    parser.add_argument(
        "--progress", metavar="FILE", type=Path, help="gets what the survey has measured, as JSON"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="compare with the results that were stored last, in two minutes; status 1 where "
        "anything got slower",
    )
    return parser.parse_args()


def _page(about: str, sections: list[str], took: float) -> str:
    """Return the page of results."""
    return (
        "# How long QPS takes\n\n"
        f"Measured by `python benchmarks` on {datetime.now(UTC):%d %B %Y} in {took:.0f} s on "
        f"this machine:\n{about}.\n\n"
        "![Rows a second by the size of a matrix and by cores](results.svg)\n\n"
        + "\n".join(sections)
    )


def _put(found: Iterable[TimingTable]) -> None:
    """Put sections into the page of results, in place of those of the same titles or behind all."""
    head, *sections = _RESULTS.read_text(encoding="utf-8").split("\n## ")
    kept_sections = {text.partition("\n")[0]: text for text in sections}
    for measured in found:
        text = measured.as_markdown().removeprefix("## ").removesuffix("\n")
        kept_sections[measured.title] = text
    page = "\n## ".join([head, *(text.rstrip("\n") + "\n" for text in kept_sections.values())])
    _RESULTS.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
