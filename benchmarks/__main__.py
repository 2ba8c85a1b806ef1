"""Measure how long QPS takes: `python benchmarks`.

All parts are measured; `results.md` and `results.svg` are written beside this file, and the figures
that the README quotes are put into it. Parts that are named are measured alone and printed, no
more: `python benchmarks matrices starts`. Nothing is asserted:
machines differ, the ratios tell. Processor time stands beside time by the clock, which other work
on the machine disturbs.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "tests")]

import matrices  # noqa: E402 - found by the lines above
import pages  # noqa: E402
import queues  # noqa: E402
import readme  # noqa: E402
import rows  # noqa: E402
import starts  # noqa: E402
import works  # noqa: E402
from measuring import Measured, machine  # noqa: E402

_LARGEST = 10**7


def main() -> None:
    """Measure what is asked for."""
    arguments = _arguments()
    began, about = perf_counter(), machine()
    print(about, flush=True)
    found: dict[str, Measured] = {}
    drawn = matrices.Drawn()
    parts = {
        "matrices": lambda: matrices.throughput(arguments.largest, drawn),
        "bare": lambda: matrices.against_bare(drawn),
        "files": lambda: matrices.files(arguments.largest, drawn),
        "starts": starts.cold_starts,
        "specs": works.growth,
        "advice": works.advising,
        "traces": works.replays,
        "pages": pages.changes,
        "rows": rows.changes,
        "queues": queues.numbers,
    }
    for name, measure in parts.items():
        if arguments.parts and name not in arguments.parts:
            continue
        try:
            found[name] = measure()
        except Exception as error:
            if arguments.parts:
                raise
            # The others are not lost by it.
            found[name] = Measured(name, f"failed: {type(error).__name__}: {error}", ("",), ())
        print("\n" + found[name].as_markdown(), flush=True)
    took = perf_counter() - began
    print(f"all of it took {took:.0f} s")
    if arguments.parts:
        return
    sections = [measured.as_markdown() for measured in found.values()]
    (HERE / "results.md").write_text(_page(about, sections, took), encoding="utf-8")
    drawn.draw(HERE / "results.svg", about)
    readme.quote(about, found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python benchmarks", description=__doc__)
    parser.add_argument(
        "parts",
        metavar="PART",
        nargs="*",
        help="matrices, bare, files, starts, specs, advice, traces, pages, rows or queues "
        "(default: all)",
    )
    parser.add_argument(
        "--largest",
        metavar="ROWS",
        type=int,
        default=_LARGEST,
        help=f"of the matrices (default: {_LARGEST:,})",
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


if __name__ == "__main__":
    main()
