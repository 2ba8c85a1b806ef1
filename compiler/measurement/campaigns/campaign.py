"""A campaign: every setting several times, in random order, kept after each run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from qps.compiler.measurement.campaigns.campaign_axes import Setting
from qps.compiler.measurement.campaigns.processor_accounts import MeasuringError
from qps.compiler.measurement.campaigns.run_results import FailedRun, MeasuredRun

_IN_A_ROW = 3
"""Runs that fail one after another, from which on the rest would fail as well."""

Turn = tuple[Setting, int]
"""A setting, and which repetition of it."""


class Stopped(Struct, frozen=True):
    """Why a campaign ended before its time."""

    reason: str
    hint: str


def turns(settings: Sequence[Setting], repeat: int, seed: int) -> list[Turn]:
    """Return every repetition of every setting: each round has all settings, in random order.

    So what changes while it is measured meets all settings alike.

    >>> turns([("1",), ("2",)], 2, seed=1)
    [(('2',), 1), (('1',), 1), (('2',), 2), (('1',), 2)]
    """
    chance = random.Random(seed)  # noqa: S311 - an order, not a secret
    found: list[Turn] = []
    for repetition in range(1, repeat + 1):
        in_order = list(settings)
        chance.shuffle(in_order)
        found += [(setting, repetition) for setting in in_order]
    return found


def left(turns: Iterable[Turn], runs: Iterable[MeasuredRun]) -> list[Turn]:
    """Return the turns that were not measured yet."""
    done = {(run.setting, run.repetition) for run in runs}
    return [turn for turn in turns if turn not in done]


class CampaignRecords(Struct):
    """What a campaign has come to so far; `keep` is called after each run."""

    keep: Callable[[Sequence[MeasuredRun], Sequence[FailedRun]], None]
    runs: list[MeasuredRun]
    failures: list[FailedRun]
    stopped: Stopped | None = None

    def measure(
        self,
        turns: Iterable[Turn],
        measure: Callable[[Setting, int], MeasuredRun],
        alive: Callable[[], str | None] = lambda: None,
    ) -> None:
        """Measure turn by turn. A run that fails is reported and skipped, but not many in a row.

        `alive` explains why nothing can be measured any more, or None.
        """
        in_a_row = 0
        for setting, repetition in turns:
            try:
                run = measure(setting, repetition)
            except MeasuringError as error:
                self.failures.append(FailedRun(setting, repetition, error.message))
                in_a_row += 1
                ended = alive()
                if ended is not None:
                    self.stopped = Stopped(ended, "")
                elif in_a_row == _IN_A_ROW:
                    self.stopped = Stopped(
                        f"{_IN_A_ROW} runs in a row failed: {error.message}", error.hint
                    )
            else:
                in_a_row = 0
                self.failures = [
                    one
                    for one in self.failures
                    if (one.setting, one.repetition) != (setting, repetition)
                ]
                self.runs.append(run)
            self.keep(self.runs, self.failures)
            if self.stopped is not None:
                return
