"""How far a service demand is from that at two to four times the load that it was measured at.

`PYTHONPATH=tests python tests/documents/higher_loads.py`: of tables with several loads of one mix
of requests on one machine, a line (demand and idle part) through the rows at up to half of a load
predicts the CPU at that load. `std.trust.higher_load` has the 90th percentile of the size of these
errors; each table is also predicted by the percentile of all others.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from math import ceil, exp, log
from statistics import fmean

from documents.fit_coverage import TABLES, rows_of
from documents.fit_prior import LABORATORY

Load = tuple[float, float]
"""A rate, and how busy it keeps the machine."""

_HALF = 1.9
"""A load is so many times the largest one that the line is fitted to, at least."""
_HOLDS = 0.9
_TO_DEVIATION = 1.645
"""Standard deviations of a normal variable that hold 90 %."""
_MISS = 20


def mixes() -> dict[str, list[list[Load]]]:
    """Return the loads of each table, by mixes of requests."""
    found: dict[str, list[list[Load]]] = {}
    for one in TABLES:
        if one.rates != ("payload, byte",):  # that is a size, not a rate
            name = " ".join((one.file, *(value for _, value in one.only)))
            found[name] = [[(row[-1], row[0]) for row in rows_of(one)]]
    for part in json.loads((LABORATORY / "results.json").read_text(encoding="utf-8")).values():
        for name, rows in part["predictions"].items():
            by_mix: dict[str, list[Load]] = {}
            for row in rows:
                rate, _, mix = str(row["name"]).partition(", ")
                if re.fullmatch(r"rate \d+", rate):
                    by_mix.setdefault(mix, []).append((float(rate[5:]), row["measured"]))
            if by_mix:
                found[name] = [*by_mix.values()]
    return found


def errors(loads: Sequence[Load]) -> Iterator[float]:
    """Yield the logarithms of measured over predicted CPU, of each load that can be predicted."""
    ordered = sorted(loads)
    for rate, measured in ordered:
        near = [one for one in ordered if one[0] * _HALF <= rate]
        if len({of_near for of_near, _ in near}) > 1:
            mean = fmean(x for x, _ in near), fmean(y for _, y in near)
            slope = sum((x - mean[0]) * (y - mean[1]) for x, y in near)
            slope /= sum((x - mean[0]) ** 2 for x, _ in near)
            predicted = mean[1] + slope * (rate - mean[0])
            if predicted > 0:
                yield log(measured / predicted)


def errors_by_table() -> dict[str, list[float]]:
    """Return the errors of each table that has some."""
    found = {
        name: [error for mix in each for error in errors(mix)] for name, each in mixes().items()
    }
    return {name: each for name, each in found.items() if each}


def largest_of_nine_in_ten(found: Sequence[float]) -> float:
    """Return the size of errors that 90 % do not exceed, as that of one more is expected."""
    sizes = sorted(map(abs, found))
    return sizes[min(len(sizes), ceil(_HOLDS * (len(sizes) + 1))) - 1]


def held_by_others(found: dict[str, list[float]]) -> tuple[int, int, float]:
    """Return how many errors the intervals of other tables hold, of how many, with their score."""
    held, scores = 0, []
    for name, own in found.items():
        limit = largest_of_nine_in_ten(
            [error for other, each in found.items() if other != name for error in each]
        )
        held += sum(abs(error) <= limit for error in own)
        scores += [2 * limit + _MISS * max(0.0, abs(error) - limit) for error in own]
    return held, len(scores), fmean(scores)


def main() -> None:
    """Print the errors, and what they come to."""
    found = errors_by_table()
    for name, each in found.items():
        sys.stdout.write(f"{', '.join(f'{100 * (exp(one) - 1):+.1f} %' for one in each)}  {name}\n")
    limit = largest_of_nine_in_ten([error for each in found.values() for error in each])
    held, count, score = held_by_others(found)
    sys.stdout.write(
        f"90 % within a factor of {exp(limit):.3f}, "
        f"a deviation of {100 * limit / _TO_DEVIATION:.1f} %\n"
        f"by other tables: {held} of {count}, interval score {score:.3f}\n"
    )


if __name__ == "__main__":
    main()
