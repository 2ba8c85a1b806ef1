"""`python tests/simulated --models 1000`: labels held against play, every night."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import monotonic

sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parents[2] / "src")]

from simulated.generated import spec_of  # noqa: E402 - it is found by the line above
from simulated.judge import Judged, judge  # noqa: E402


def main() -> int:
    """Judge many models on all cores; status 1 where a label is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first model")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each model, at first")
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--show", action="store_true", help="print the specs that are wrong")
    asked = parser.parse_args()
    begin, found = monotonic(), list[Judged]()
    one = partial(judge, models=asked.models, seconds=asked.seconds)
    with ProcessPoolExecutor(asked.workers) as pool:
        for told in pool.map(one, range(asked.first, asked.first + asked.models)):
            found.append(told)
            for wrong in told.wrong:
                print(wrong, flush=True)
            if told.refused:
                print(f"model {told.seed}: refused: {told.refused}", flush=True)
            if told.wrong and asked.show:
                print(spec_of(told.seed), flush=True)
    wrong = sum(bool(one.wrong) for one in found)
    numbers = sum(one.compared for one in found)
    print(
        f"{len(found)} models, {numbers:,} numbers, {wrong} models with wrong labels, "
        f"{monotonic() - begin:.0f} s"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
