"""One run: the generator is started, all clocks and counters are read twice, and it is ended.

Where items are counted in what the generator prints, its whole run is the window: clocks are read
before it starts and after it has ended. Where a page or a command counts them, the window begins
once connections are made, and ends before the generator does.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from qps.compiler.measurement.campaigns.campaign_axes import (
    IDLE,
    SECONDS,
    CampaignAxis,
    Setting,
    filled,
)
from qps.compiler.measurement.campaigns.child_processes import Child, running
from qps.compiler.measurement.campaigns.control_groups import ControlGroup, control_group
from qps.compiler.measurement.campaigns.item_counts import Count, counted, page_or_output
from qps.compiler.measurement.campaigns.process_table import (
    InterfaceTraffic,
    Look,
    Processes,
    all_processes,
    stolen,
    thread_clocks,
    traffic,
)
from qps.compiler.measurement.campaigns.processor_accounts import (
    Account,
    Balance,
    MeasuringError,
    used_between,
)
from qps.compiler.measurement.campaigns.run_results import MeasuredRun

_STEP = 0.05
_SAMPLED = 0.25
"""Seconds between two looks at the threads of a generator: once it has ended, they are gone."""
_AFTER = 1.0
"""Seconds that a generator is to run beyond its window."""
_LONGER = 3.0
_LEAST_PATIENCE = 30.0
"""A generator that runs so many times as long as it should, and this, is ended."""
_SLEPT = 0.2


class RunEnvironment(Struct, frozen=True, kw_only=True):
    """All that one run needs; `accounts` are by column of the load.

    `source` is the page or command that counts items, None where the generator prints them.
    `warm_up` are the seconds before the window of such counts. `groups` makes a control group for
    the generator, or gives none.
    """

    axes: tuple[CampaignAxis, ...]
    generator: tuple[str, ...]
    counts: tuple[Count, ...]
    source: str | None
    warm_up: float
    accounts: dict[str, Account]
    interface: str | None
    groups: Callable[[], ControlGroup | None]
    look: Look = all_processes

    def values(self, setting: Setting, seconds: float) -> dict[str, str]:
        """Return what stands in braces in commands, by name."""
        if self.source is not None:
            seconds = math.ceil(seconds + self.warm_up + _AFTER)
        own = {one.name: value for one, value in zip(self.axes, setting, strict=True)}
        return own | {SECONDS: f"{seconds:g}"}

    def command(self, setting: Setting, seconds: float) -> tuple[str, ...]:
        """Return the command of the generator for a setting."""
        return filled(self.generator, self.values(setting, seconds))

    def run(self, setting: Setting, repetition: int, seconds: float) -> MeasuredRun:
        """Measure a setting once; MeasuringError where that comes to nothing."""
        if setting == IDLE and self.axes:
            return self._idle(repetition, seconds)
        if self.source is None:
            return self._whole_run(setting, repetition, seconds)
        return self._window(setting, repetition, seconds)

    def _whole_run(self, setting: Setting, repetition: int, seconds: float) -> MeasuredRun:
        command = self.command(setting, seconds)
        with control_group(self.groups()) as group:
            before = self._reading(None)
            with running(command, group) as child:
                busiest = self._wait_for(child, seconds)
                after = self._reading(None)
                child.check()
                text = child.output()
                used = child.used_in_all or 0.0
            if group is not None:
                used = group.used()
        return self._single_run(
            setting,
            repetition,
            (before, after),
            counted=counted(self.counts, text, "the output of the generator"),
            generator=used,
            generator_busiest=busiest,
        )

    def _wait_for(self, child: Child, seconds: float) -> float:
        """Wait until the generator has ended; return the share of time its busiest thread ran."""
        began = looked = time.monotonic()
        first: Mapping[tuple[int, int], float] = {}
        last, span = first, 0.0
        limit = _LONGER * seconds + _LEAST_PATIENCE
        while child.ending is None:
            now = time.monotonic()
            if now - began > limit:
                raise MeasuringError(
                    f"{child.shown} is still running after {now - began:.0f} s",
                    "put `{seconds}` into its command as the duration",
                )
            if now - looked >= _SAMPLED:
                looked, found = now, thread_clocks(child.pids())
                if found:
                    last, span = found, now - began
            time.sleep(_STEP)
        return _busiest(first, last, span)

    def _window(self, setting: Setting, repetition: int, seconds: float) -> MeasuredRun:
        command = self.command(setting, seconds)
        with control_group(self.groups()) as group, running(command, group) as child:
            self._let_pass(self.warm_up, child)
            first, before = self._counted(), self._reading(child)
            self._let_pass(seconds, child)
            after, last = self._reading(child), self._counted()
        done = {item: last[1][item] - first[1][item] for item in first[1]}
        for item, count in done.items():
            if count < 0:
                raise MeasuringError(
                    f"the count of `{item}` decreased by {-count:g}: it was reset, or the "
                    "server restarted"
                )
        assert before.generator is not None
        assert after.generator is not None
        return self._single_run(
            setting,
            repetition,
            (before, after),
            counted=done,
            counted_over=last[0] - first[0],
            generator=used_between(before.generator, after.generator, self.generator[0]),
            generator_busiest=_busiest(
                before.generator_threads, after.generator_threads, after.moment - before.moment
            ),
        )

    def _counted(self) -> tuple[float, dict[str, float]]:
        assert self.source is not None
        began = time.monotonic()
        text = page_or_output(self.source)
        moment = (began + time.monotonic()) / 2
        return moment, counted(self.counts, text, f"the output of `{self.source}`")

    def _let_pass(self, seconds: float, child: Child) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(_STEP, left))
            if child.ending is not None:
                child.check()
                raise MeasuringError(
                    f"{child.shown} ended {left:.1f} s before the window ended{child.last_words()}",
                    "put `{seconds}` into its command as the duration",
                )

    def _idle(self, repetition: int, seconds: float) -> MeasuredRun:
        before = self._reading(None)
        time.sleep(seconds)
        after = self._reading(None)
        return self._single_run(
            IDLE,
            repetition,
            (before, after),
            counted={count.item: 0.0 for count in self.counts},
            generator=0.0,
            generator_busiest=0.0,
        )

    def _reading(self, child: Child | None) -> CounterReading:
        """Read all clocks and counters: at once those that costs are made of, then the others."""
        processes = self.look()
        balances = {name: one.balance(processes) for name, one in self.accounts.items()}
        moment = time.monotonic()
        own = frozenset[int]().union(*(balance.pids for balance in balances.values()))
        carried = None if self.interface is None else traffic(self.interface, min(own))
        generator = None if child is None else child.account.balance(processes)
        threads = thread_clocks(own)
        return CounterReading(
            moment=moment,
            real=time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            balances=balances,
            threads=threads,
            generator=generator,
            generator_threads=thread_clocks(generator.pids) if generator is not None else {},
            processes=processes,
            traffic=carried,
            stolen=stolen(),
        )

    def _single_run(
        self,
        setting: Setting,
        repetition: int,
        readings: tuple[CounterReading, CounterReading],
        *,
        counted: dict[str, float],
        generator: float,
        generator_busiest: float,
        counted_over: float | None = None,
    ) -> MeasuredRun:
        before, after = readings
        elapsed = after.moment - before.moment
        used = {
            name: used_between(before.balances[name], after.balances[name], name)
            for name in self.accounts
        }
        carried = _traffic_of(before.traffic, after.traffic)
        known = frozenset[int]().union(
            *(balance.pids for reading in readings for balance in reading.known)
        )
        return MeasuredRun(
            setting=setting,
            repetition=repetition,
            started=before.date,
            elapsed=elapsed,
            used=used,
            counted=counted,
            counted_over=elapsed if counted_over is None else counted_over,
            packets=None if carried is None else carried.packets,
            octets=None if carried is None else carried.octets,
            generator=generator,
            others=_others(before.processes, after.processes, known),
            stolen=max(0.0, after.stolen - before.stolen),
            busiest=_busiest(before.threads, after.threads, elapsed),
            generator_busiest=generator_busiest,
            notes=tuple(_notes(before, after)),
        )


class CounterReading(Struct, frozen=True, kw_only=True):
    """All clocks and counters at a moment; `real` also counts while the machine sleeps."""

    moment: float
    real: float
    date: str
    balances: dict[str, Balance]
    threads: Mapping[tuple[int, int], float]
    generator: Balance | None
    generator_threads: Mapping[tuple[int, int], float]
    processes: Processes
    traffic: InterfaceTraffic | None
    stolen: float

    @property
    def known(self) -> Sequence[Balance]:
        """The balances of the server and of the generator."""
        own = tuple(self.balances.values())
        return own if self.generator is None else (*own, self.generator)


def _busiest(
    before: Mapping[tuple[int, int], float], after: Mapping[tuple[int, int], float], span: float
) -> float:
    """Return the share of the time in which the busiest thread ran."""
    if span <= 0:
        return 0.0
    return max((used - before.get(one, 0.0) for one, used in after.items()), default=0.0) / span


def _traffic_of(
    before: InterfaceTraffic | None, after: InterfaceTraffic | None
) -> InterfaceTraffic | None:
    if before is None or after is None:
        return None
    packets, octets = after.packets - before.packets, after.octets - before.octets
    if packets < 0 or octets < 0:
        raise MeasuringError("the counters of the network interface were reset")
    return InterfaceTraffic(packets, octets)


def _others(before: Processes, after: Processes, known: frozenset[int]) -> float:
    """Return what all other programs have used that are still there: a sign, and no account."""
    total = 0.0
    for pid, one in after.items():
        if pid in known or pid == os.getpid():
            continue
        earlier = before.get(pid)
        started = earlier is None or earlier.started_at != one.started_at
        total += one.used if started or earlier is None else one.used - earlier.used
    return total


def _notes(before: CounterReading, after: CounterReading) -> Iterator[str]:
    slept = (after.real - before.real) - (after.moment - before.moment)
    if slept > _SLEPT:
        yield f"the machine slept for {slept:.1f} s"
