"""What rows come to in one mode."""

from __future__ import annotations

from dataclasses import dataclass

from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.matrix.rows.scalar_fallback import ScalarFallback


@dataclass(kw_only=True)
class ModeAnswers:
    """What rows come to in one mode: arrays, one value for each row.

    `verdict` is `SOUND`, else why there is no answer; `one_by_one` answered what arrays left open,
    and holds which rows it refused. `first` is the first failure, the end of the range where there
    is none; `limited` the number of the criterion that fails there, -1 for none. `from_start` says
    of each resource in which rows it is full where the range starts, `stays_full` how the first of
    them stays full up to the answer: 0 for not, else the number of the way in `StaysFull`, from 1
    on. `not_below` is up to where resources do not saturate of which it cannot be determined where
    they do: not-a-number for the others.
    """

    verdict: Ints
    one_by_one: ScalarFallback
    first: Ints
    limited: Ints
    at: Ints
    loads: list[Floats]
    saturates: list[Floats]
    not_below: list[Floats]
    from_start: Bools
    stays_full: Ints
    bottleneck: Ints
    quality: Floats
    quality_at_limit: Floats
    cost: Floats
    running_cost: Floats
    columns: list[Floats]
    comparisons: list[tuple[Floats, Floats]]
