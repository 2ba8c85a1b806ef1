"""`python tests/fuzz --minutes 10`: texts, modules, tables and traces that nobody would write.

Whatever is read, nothing but diagnostics comes out, and soon. What does otherwise is made small and
kept in tests/fuzz/found, where it is a test from then on.

`--repositories` makes repositories of git instead, each of 150 hostile pieces (keys of the
configuration, entries of commits, files and links at work, names of revisions, variables), and runs
`qps ci` and another command in each. A piece is an input: it is counted once, in one repository.
Nothing that the author names may run, be read from elsewhere, end with status 3, or hide a change.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic, time

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parents[2] / "src")]

from fuzz.repository_running import (  # noqa: E402
    PIECES,
    RepositoryBatch,
    RepositoryFinding,
    run_repositories,
)
from fuzz.running import Batch, Finding, run_batch  # noqa: E402 - found by the line above

FOUND = Path(__file__).parent / "found"
_REPOSITORIES = 5
_BATCH = 200
"""Inputs that one process makes and tries before it tells how it went."""


Start = partial[Future[Batch]] | partial[Future[RepositoryBatch]]


def main() -> int:
    """Try inputs on all cores until the time is over; status 1 where one was not told in words."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--inputs", type=int, default=None, help="no more than so many inputs")
    parser.add_argument("--seed", type=int, default=int(time()), help="the first seed (the time)")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--repositories", action="store_true", help="repositories of git")
    parser.add_argument("--seconds", type=float, default=10, help="of a processor, for each input")
    options = parser.parse_args()
    end, began = monotonic() + options.minutes * 60, monotonic()
    size = _REPOSITORIES * PIECES if options.repositories else _BATCH
    most = None if options.inputs is None else -(-options.inputs // size)
    seeds = islice(iter(range(options.seed, sys.maxsize)), most)
    tried: Counter[str] = Counter()
    findings: dict[str, Finding | RepositoryFinding] = {}
    print(f"seed {options.seed}", flush=True)
    with ProcessPoolExecutor(options.workers, max_tasks_per_child=50) as pool:
        start: Start = partial(pool.submit, run_batch, inputs=_BATCH, seconds=options.seconds)
        if options.repositories:
            start = partial(pool.submit, run_repositories, count=_REPOSITORIES)
        for batch in _each(seeds, start, options.workers, end):
            tried += batch.tried
            for finding in batch.findings:
                if finding.where not in findings:
                    findings[finding.where] = finding
                    print(f"\n{finding.keep(FOUND)}\n{finding.reported}", flush=True)
    taken = monotonic() - began
    text = ", ".join(f"{count:,} {kind}" for kind, count in sorted(tried.items()))
    print(f"{tried.total():,} inputs in {taken:.0f} s ({text}); {len(findings)} findings")
    return int(bool(findings))


def _each(
    seeds: Iterator[int], start: Start, most: int, end: float
) -> Iterator[Batch | RepositoryBatch]:
    """Yield what comes of one seed after the other, so many at a time, until the end."""
    running = {start(seed) for seed in islice(seeds, most)}
    while running:
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for batch in done:
            yield batch.result()
            if monotonic() < end:
                running |= {start(seed) for seed in islice(seeds, 1)}


if __name__ == "__main__":
    sys.exit(main())
