"""How many machines an autoscaler has: the rule of the Kubernetes Horizontal Pod Autoscaler.

At each synchronization, it wants the machines at which their mean utilization would be the target,
unless it is near that already. It adds at most as many as there are, or 4, in 15 s (or what its
policy states), and removes some only where fewer were wanted for all of the stabilization window.
Machines that start up or have failed do not work, and count as idle where more are wanted; those
that have failed count as busy where fewer are. (kubernetes.io, Horizontal Pod Autoscaling,
"Algorithm details" and "Default behavior"; pkg/controller/podautoscaler/replica_calculator.go.)
"""

from __future__ import annotations

from math import ceil, floor

from msgspec import Struct, field

from qps.solver.incidents.incident_system import ScalingPolicy

_ROUNDING = 1e-9


def wanted_machines(
    policy: ScalingPolicy, count: int, ready: int, utilization: float, lost: int = 0
) -> int:
    """Return how many machines the rule wants, within the limits of the autoscaler.

    Of `count` machines, `ready` work, `lost` have failed, and the others start up.
    """
    ratio = utilization / policy.target
    if lost and ratio < 1:
        measured = ready + lost
        ratio = min(1.0, (ratio * ready + max(1.0, 1 / policy.target) * lost) / measured)
    elif ratio > 1:
        measured = count
        ratio = max(1.0, ratio * ready / count)
    else:
        measured = ready
    wanted = count
    if abs(ratio - 1) > policy.tolerance:
        wanted = ceil(ratio * measured - _ROUNDING)
    return min(max(wanted, policy.least), policy.most)


class HorizontalScaler(Struct, kw_only=True):
    """An autoscaler at work: `count` machines, of which some start up, and some have failed."""

    policy: ScalingPolicy
    count: int
    ready: int
    next_sync: float
    starting: list[tuple[float, int]] = field(default_factory=list)
    wanted: list[tuple[float, int]] = field(default_factory=list)
    added: list[tuple[float, int]] = field(default_factory=list)
    changed_at: float = 0.0
    lost: int = 0
    """Machines that have failed."""

    def have_lost(self, machines: int) -> None:
        """Have up to so many machines not work, of those that have started up."""
        gone = min(machines, self.ready + self.lost)
        self.ready += self.lost - gone
        self.lost = gone

    def start_up(self, now: float) -> None:
        """Let those work that have started up by now."""
        while self.starting and self.starting[0][0] <= now:
            self.ready += self.starting.pop(0)[1]

    def synchronize(self, now: float, utilization: float) -> None:
        """Follow the rule once, with the mean utilization of the machines since the last time."""
        policy = self.policy
        self.next_sync = max(self.next_sync, now - policy.sync) + policy.sync
        if self.ready == 0:
            return  # nothing is measured
        wanted = wanted_machines(policy, self.count, self.ready, utilization, self.lost)
        self.wanted = [one for one in self.wanted if one[0] > now - policy.stabilization]
        self.wanted.append((now, wanted))
        if wanted > self.count:
            self._add(now, wanted)
        elif wanted < self.count:
            stable = min(self.count, max(one for _, one in self.wanted))
            self._remove(now, stable)

    def _add(self, now: float, wanted: int) -> None:
        policy = self.policy
        self.added = [one for one in self.added if one[0] > now - policy.period + _ROUNDING]
        before = self.count - sum(many for _, many in self.added)
        most = before + max(round(policy.step), floor(policy.growth * before + _ROUNDING))
        many = min(wanted, most) - self.count
        if many > 0:
            self.added.append((now, many))
            self.starting.append((now + policy.startup, many))
            self.count += many
            self.changed_at = now

    def _remove(self, now: float, wanted: int) -> None:
        """Remove machines, first those that do not work yet, or no more."""
        many = self.count - wanted
        if many <= 0:
            return
        self.count, self.changed_at = wanted, now
        while many > 0 and self.starting:
            due, starting = self.starting.pop()
            if starting > many:
                self.starting.append((due, starting - many))
            many -= min(many, starting)
        failed = min(many, self.lost)
        self.lost -= failed
        self.ready -= many - failed
