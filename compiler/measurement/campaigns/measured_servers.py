"""What is measured: a server that is started here, or programs that run already."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from qps.compiler.measurement.campaigns.child_processes import Child, running
from qps.compiler.measurement.campaigns.control_groups import (
    ControlGroup,
    control_group,
    group_of,
    new_group,
)
from qps.compiler.measurement.campaigns.process_table import (
    all_processes,
    is_listening,
    usable_cores,
)
from qps.compiler.measurement.campaigns.processor_accounts import (
    Account,
    GroupAccount,
    MeasuringError,
    account_of_named,
)
from qps.supervised_processes import ExitStatus

_READY = 10.0
"""Seconds that a server may take until it waits for others."""
_STEP = 0.05


class Server(Struct, frozen=True):
    """A server that was started here; `why_no_group` explains why no group keeps its account."""

    child: Child
    account: Account
    why_no_group: str | None
    is_ready: bool

    def ended(self) -> str | None:
        """Return that it has ended, and what it said last; None while it is there."""
        if self.child.ending is None or self.child.pids():
            return None
        return (
            f"the server {self.child.shown} has ended {self.child.ending}{self.child.last_words()}"
        )


@contextmanager
def started(command: Sequence[str]) -> Iterator[Server]:
    """Start a server, wait until it waits for others, and end it with all that it has started.

    MeasuringError where it ends, or goes where nobody knows what it uses.
    """
    group = new_group("qps-server")
    why = group if isinstance(group, str) else None
    own = None if isinstance(group, str) else group
    with control_group(own), running(command, own, server=True) as child:
        is_ready = _wait(child)
        yield Server(child, child.account, why, is_ready)


def _wait(child: Child) -> bool:
    """Return whether a server has come to wait for others; MeasuringError where it has ended."""
    until = time.monotonic() + _READY
    while time.monotonic() < until:
        if child.ending is not None and not child.pids():
            raise MeasuringError(
                f"the server {child.shown} has ended {child.ending}{child.last_words()}",
                "start it in the foreground, because cgroups (version 2) are not available"
                if child.ending == ExitStatus(0)
                else "try the command on its own",
            )
        if is_listening(child.pids()):
            return True
        time.sleep(_STEP)
    return False


def accounts_of(names: Sequence[tuple[str, str]], server: Server | None) -> dict[str, Account]:
    """Return the account of each column of the load; MeasuringError where nobody is there."""
    me = os.getpid()
    own = frozenset([me])
    found: dict[str, Account] = {} if server is None else {"cpu": server.account}
    for column, name in names:
        if column in found:
            raise MeasuringError(
                f"two programs use the column `{column}`",
                f"name the column before the program: `--of proxy={name}`",
            )
        found[column] = account_of_named(name, all_processes, lambda: own)
    return found


def cores_of(accounts: dict[str, Account]) -> float:
    """Return how many cores all that is measured may use."""
    processes = all_processes()
    pids = frozenset[int]().union(*(one.balance(processes).pids for one in accounts.values()))
    cores = float(usable_cores(pids))
    for account in accounts.values():
        group = account.group if isinstance(account, GroupAccount) else group_of(min(pids))
        allowed = group.allowed_cores() if isinstance(group, ControlGroup) else None
        cores = cores if allowed is None else min(cores, allowed)
    return cores
