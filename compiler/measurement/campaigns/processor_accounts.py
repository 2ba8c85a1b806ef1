"""Accounts: what a server uses of the processors, by the best clock that there is for it.

A control group knows all, ended processes too. Clocks of processes know those that live; to them
is added what their ended children have used, as their parents count it. Counters of the whole
machine are sampled at ticks, lose half of the work, and are not used here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from qps.compiler.measurement.campaigns.control_groups import ControlGroup, group_of, named_group
from qps.compiler.measurement.campaigns.process_table import (
    Look,
    Processes,
    named,
    with_descendants,
)

_LEAST_LOST = 0.05
"""Seconds of a processor that ticks alone may seem to lose."""


class MeasuringError(Exception):
    """Raised where something cannot be measured: why, and what would help."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


class Balance(Struct, frozen=True):
    """What was used until a moment: seconds of processors, and by which processes.

    `used_by` has what each living process has used, by id and time of birth, `reaped` what ended
    children have; both are empty where a group keeps the account.
    """

    used: float
    pids: frozenset[int]
    used_by: dict[tuple[int, int], float] = {}
    reaped: float = 0.0


class Account(Protocol):
    """Tells what some processes have used until now."""

    @property
    def source(self) -> str:
        """What keeps the account, in words."""

    def balance(self, processes: Processes) -> Balance:
        """Return what was used until now; MeasuringError where nobody is there any more."""


class GroupAccount(Struct, frozen=True):
    """The account of a control group."""

    group: ControlGroup
    name: str

    @property
    def source(self) -> str:
        """What keeps the account, in words."""
        return f"cgroup {self.group.folder}"

    def balance(self, processes: Processes) -> Balance:  # noqa: ARG002 - the group knows its own
        """Return what was used until now; MeasuringError where nobody is there any more."""
        try:
            used, pids = self.group.used(), self.group.processes()
        except OSError as error:
            raise MeasuringError(f"the cgroup of `{self.name}` no longer exists") from error
        if not pids:
            raise MeasuringError(f"`{self.name}` has ended")
        return Balance(used, pids)


class ProcessAccount(Struct, frozen=True):
    """The account of some processes and of all that descend from them, by their clocks.

    `roots` says who they are among those that are there now.
    """

    roots: Callable[[Processes], frozenset[int]]
    name: str

    @property
    def source(self) -> str:
        """What keeps the account, in words."""
        return "CPU time of processes and their ended children"

    def balance(self, processes: Processes) -> Balance:
        """Return what was used until now; MeasuringError where nobody is there any more."""
        pids = with_descendants(self.roots(processes), processes)
        if not pids:
            raise MeasuringError(f"`{self.name}` has ended")
        own = [processes[pid] for pid in pids]
        used_by = {(one.pid, one.started_at): one.used for one in own}
        reaped = sum(one.reaped for one in own)
        return Balance(sum(used_by.values()) + reaped, pids, used_by, reaped)


def used_between(before: Balance, after: Balance, name: str) -> float:
    """Return the seconds of processors that were used between two moments.

    What a process had used that ended meanwhile must have come to its parent among those that are
    read there; else it is unknown, and MeasuringError is raised.
    """
    ended = {one: used for one, used in before.used_by.items() if one not in after.used_by}
    lost = sum(ended.values()) - (after.reaped - before.reaped)
    if ended and lost > _LEAST_LOST:
        pid = next(iter(ended))[0]
        raise MeasuringError(
            f"process {pid} of `{name}` has ended, and its CPU time is lost",
            "start the server with `--server`, on a system with cgroups (version 2)",
        )
    used = after.used - before.used
    if used < -_LEAST_LOST:
        raise MeasuringError(f"the CPU time of `{name}` decreased by {-used:.2g} s")
    return max(used, 0.0)


def account_of_named(name: str, look: Look, except_for: Callable[[], frozenset[int]]) -> Account:
    """Return the account of a running program, by its name, the id of a process, or a group.

    `except_for` gives processes that are never meant: qps itself, and the generator.
    MeasuringError where there is no such program.
    """
    if "/" in name:
        return _group_account(name)

    def roots(processes: Processes) -> frozenset[int]:
        if name.isdecimal():
            return frozenset([int(name)]) & processes.keys()
        others = with_descendants(except_for(), processes) | {os.getpid()}
        return named(name, processes) - others

    processes = look()
    found = roots(processes)
    if not found:
        what = f"there is no process {name}" if name.isdecimal() else f"`{name}` is not running"
        raise MeasuringError(
            what,
            "name a running program, a process ID, or a cgroup (with a `/`); or start the "
            "server with `--server 'COMMAND'`",
        )
    pids = with_descendants(found, processes)
    groups = {group_of(pid) for pid in pids}
    group = groups.pop()
    if not groups and group is not None and group.processes() == pids:
        return GroupAccount(group, name)
    return ProcessAccount(roots, name)


def _group_account(name: str) -> Account:
    group = named_group(name)
    if group is None:
        raise MeasuringError(
            f"there is no cgroup `{name}` (version 2)",
            "name its path below the cgroup file system, such as `system.slice/nginx.service`",
        )
    return GroupAccount(group, name)
