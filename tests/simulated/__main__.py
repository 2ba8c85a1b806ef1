"""`python tests/simulated --models 2000`: labels held against play, every night.

With --keep FILE each model is a line of that file as soon as it is judged; what is there already
is not played again, so that a run goes on where it ended. --report tells what a file comes to.
--kind NAME draws only networks of one kind, such as those of `uncommon`.
--plays FILE holds the labels of today against what was played before; what was refused then and is
not now was not, and is played.
"""

from __future__ import annotations

import argparse
import faulthandler
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parents[2] / "src")]

from qps.compiler.quantities.measured_errors import table  # noqa: E402
from simulated.generated import KINDS, is_requested, spec_of  # noqa: E402 - it is found by the line above
from simulated.judge import labels_of, model_of, wrong_ones  # noqa: E402
from simulated.measuring_errors import as_json, of_method, renewed, table_of  # noqa: E402
from simulated.records import Model, line_of, retained  # noqa: E402
from simulated.report import (  # noqa: E402
    Counts,
    Stored,
    by_quantity,
    line_of_wrong,
    outside,
    refusals,
    too_seldom,
    unstated,
)
from simulated.uncommon import UNCOMMON  # noqa: E402

_LONGEST = 4 * 3600.0
"""So many seconds at most for one model: what takes longer hangs, and it is told where."""
_CHANGES, _FIRST = 60, 15


def main() -> int:
    """Judge many models on all cores; status 1 where a label is wrong."""
    options = _requested()
    wanted = list(range(options.first, options.first + options.models))
    if options.requested:
        wanted = [seed for seed in wanted if is_requested(seed)]
    known = {one.seed: one for one in retained(options.keep)} if options.keep else {}
    found = [known[seed] for seed in wanted if seed in known]
    if options.report:
        return _reported(list(known.values()), options)
    begin = monotonic()
    left = [seed for seed in wanted if seed not in known]
    for model in _played(left, options):
        found.append(model)
        if options.keep:
            with options.keep.open("ab") as file:
                file.write(line_of(model))
        if model.fault:
            print(f"model {model.seed}: {model.fault}", flush=True)
        # While others are still to be played, their comparisons count as many as these do.
        tests = max(1, len(wanted)) * max(1, len(model.numbers))
        wrong = [one for _, one in wrong_ones([model])]
        for one in wrong:
            print(line_of_wrong(model.seed, one, tests), flush=True)
        if wrong and options.show:
            print(spec_of(model.seed, options.kind), flush=True)
    if options.labels:
        return 0
    status = _reported(found, options)
    print(f"{len(left)} played in {monotonic() - begin:.0f} s")
    return status


def _requested() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first model")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each model, at most")
    parser.add_argument("--kind", default="", choices=(*KINDS, *UNCOMMON), help="of one kind only")
    parser.add_argument("--requested", action="store_true", help="only what requests do by chance")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--show", action="store_true", help="print the specs that are wrong")
    parser.add_argument("--keep", type=Path, help="a file with a line for each model")
    parser.add_argument("--labels", action="store_true", help="keep what is told, play nothing")
    parser.add_argument("--report", action="store_true", help="tell what the file comes to")
    parser.add_argument("--baseline", type=Path, help="a kept file of earlier labels")
    parser.add_argument("--errors", type=Path, help="write the errors of labels to a file")
    parser.add_argument("--renew", action="store_true", help="only of methods that hold too seldom")
    parser.add_argument("--method", default="", help="raise only the errors of one method")
    parser.add_argument("--plays", type=Path, help="a kept file whose plays count again")
    return parser.parse_args()


def _played(seeds: list[int], requested: argparse.Namespace) -> Iterator[Model]:
    """Yield what becomes of seeds, as soon as it is known."""
    plays = {one.seed: one for one in retained(requested.plays)} if requested.plays else {}
    one = partial(_one, seconds=requested.seconds, labels=requested.labels, only=requested.kind)
    if seeds:
        with ProcessPoolExecutor(requested.workers) as pool:
            yield from pool.map(one, seeds, map(plays.get, seeds))


def _one(seed: int, before: Model | None, seconds: float, labels: bool, only: str) -> Model:
    """Return what becomes of a seed, by what was played `before` of what was not refused then."""
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    try:
        if before is not None and (
            labels or before.numbers or not labels_of(seed, None, only).numbers
        ):
            return labels_of(seed, before, only)
        return labels_of(seed, None, only) if labels else model_of(seed, seconds, only)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _reported(found: list[Model], requested: argparse.Namespace) -> int:
    """Print what models come to; return 1 where a label is wrong."""
    print("outside of what their labels allow:")
    for line in outside(found):
        print(f"  {line}")
    print("refused, unresolved or failed:")
    for line in refusals(found):
        print(line)
    print("approximations that state no error, by reason, the most frequent first:")
    for line in islice(unstated(found), None if requested.report else _FIRST):
        print(line)
    print("methods whose stated errors hold in fewer than 19 in 20 cases, by two standard errors:")
    for line in too_seldom(found):
        print(line)
    print("by quantity:")
    for line in by_quantity(found):
        print(line)
    if requested.errors:
        measured = renewed(table(), found) if requested.renew else table_of(found)
        if requested.method:
            measured = of_method(table(), found, requested.method)
        requested.errors.write_bytes(as_json(measured))
    counts = Counts.of(found)
    for line in counts.lines():
        print(line)
    if requested.baseline:
        for line in Stored.of(retained(requested.baseline), found).lines(_CHANGES):
            print(line)
    is_wrong = counts.exact_outside or counts.bounds_outside or counts.too_few_hold
    return int(bool(is_wrong or counts.faults))


if __name__ == "__main__":
    sys.exit(main())
