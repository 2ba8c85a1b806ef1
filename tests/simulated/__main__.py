"""`python tests/simulated --models 1000`: labels held against play, every night."""

from __future__ import annotations

import argparse
import faulthandler
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parents[2] / "src")]

from simulated.generated import spec_of  # noqa: E402 - it is found by the line above
from simulated.judge import Approximated, Judged, judge  # noqa: E402

_LONGEST = 600.0
"""So many seconds at most for one model: what takes longer hangs, and it is told where."""


def main() -> int:
    """Judge many models on all cores; status 1 where a label is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first model")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each model, at first")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--show", action="store_true", help="print the specs that are wrong")
    parser.add_argument(
        "--errors", action="store_true", help="tell how far off each kind of approximation is"
    )
    asked = parser.parse_args()
    begin, found, faults = monotonic(), list[Judged](), 0
    one = partial(_judged, models=asked.models, seconds=asked.seconds)
    with ProcessPoolExecutor(asked.workers) as pool:
        for told in pool.map(one, range(asked.first, asked.first + asked.models)):
            if isinstance(told, str):
                faults += 1
                print(told, flush=True)
                continue
            found.append(told)
            for wrong in told.wrong:
                print(wrong, flush=True)
            if told.wrong and asked.show:
                print(spec_of(told.seed), flush=True)
    wrong = sum(bool(one.wrong) for one in found)
    _tell_rest(found)
    if asked.errors:
        _tell_errors(each for one in found for each in one.approximated)
    print(
        f"{len(found)} models, {sum(one.compared for one in found):,} numbers, {wrong} models with "
        f"wrong labels, {faults} that failed, {monotonic() - begin:.0f} s"
    )
    return int(wrong > 0 or faults > 0)


def _judged(seed: int, models: int, seconds: float) -> Judged | str:
    """Judge one; what fails is told, and the others go on."""
    faulthandler.dump_traceback_later(_LONGEST, exit=True)
    try:
        return judge(seed, models, seconds)
    except Exception as fault:  # noqa: BLE001 - a fault of ours, in one of many models
        return f"model {seed}: {type(fault).__name__}: {fault}"
    finally:
        faulthandler.cancel_dump_traceback_later()


def _tell_rest(found: Iterable[Judged]) -> None:
    """Tell what was not judged, how often and why."""
    refused, unstated = Counter[str](), Counter[str]()
    first = dict[str, int]()
    for one in found:
        if one.refused is not None:
            refused[one.refused] += 1
            first.setdefault(one.refused, one.seed)
        for each in one.approximated:
            if each.error is None:
                unstated[" + ".join(each.what)] += 1
                first.setdefault(" + ".join(each.what), one.seed)
    for why, often in refused.most_common():
        print(f"refused {often} times, at first model {first[why]}: {why}")
    for why, often in unstated.most_common():
        print(f"not judged {often} times, at first model {first[why]}: {why}")


def _tell_errors(found: Iterable[Approximated]) -> None:
    """Tell of each kind of approximation, for means and for each quantile, how far off it is."""
    rows = defaultdict[tuple[str, str], list[Approximated]](list)
    for one in found:
        rows[" + ".join(one.what), one.measure].append(one)
    for (what, measure), each in sorted(rows.items()):
        ratios = sorted(one.ratio for one in each)
        worst = max(each, key=lambda one: one.least)
        print(
            f"{measure}, {len(each)} times {ratios[0]:.3f} to {ratios[-1]:.3f} of what is played, "
            f"surely {worst.least:.1%} off in model {worst.seed}, "
            f"{'no error' if worst.error is None else f'{worst.error:.0%}'} stated: {what}"
        )


if __name__ == "__main__":
    sys.exit(main())
