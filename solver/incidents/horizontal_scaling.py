"""How many machines an autoscaler has: the rule of the Kubernetes Horizontal Pod Autoscaler.

At each synchronization, it wants the machines at which their mean utilization would be the target,
unless it is near that already. It adds at most as many as there are, or 4, in 15 s, and removes
some only where fewer were wanted for all of the stabilization window. Machines that start up do not
work yet, and count as idle where more are wanted. (kubernetes.io, Horizontal Pod Autoscaling,
"Algorithm details" and "Default behavior"; pkg/controller/podautoscaler/replica_calculator.go.)
"""

from __future__ import annotations

from math import ceil

from msgspec import Struct, field

from qps.solver.incidents.incident_system import ScalingPolicy

_POLICY_PERIOD = 15.0
_POLICY_PODS = 4
_ROUNDING = 1e-9


def wanted_machines(policy: ScalingPolicy, count: int, ready: int, utilization: float) -> int:
    """Return how many machines the rule wants, within the limits of the autoscaler."""
    ratio = utilization / policy.target
    wanted = count
    if ready == count or ratio <= 1:
        if abs(ratio - 1) > policy.tolerance:
            wanted = ceil(ratio * ready - _ROUNDING)
    else:
        # Those that start up count as idle.
        ratio = ratio * ready / count
        if ratio > 1 + policy.tolerance:
            wanted = ceil(ratio * count - _ROUNDING)
    return min(max(wanted, policy.least), policy.most)


class HorizontalScaler(Struct, kw_only=True):
    """An autoscaler at work: `count` machines, of which those that started long enough ago work."""

    policy: ScalingPolicy
    count: int
    ready: int
    next_sync: float
    starting: list[tuple[float, int]] = field(default_factory=list)
    wanted: list[tuple[float, int]] = field(default_factory=list)
    added: list[tuple[float, int]] = field(default_factory=list)
    changed_at: float = 0.0

    def start_up(self, now: float) -> None:
        """Let those work that have started up by now."""
        while self.starting and self.starting[0][0] <= now:
            self.ready += self.starting.pop(0)[1]

    def synchronize(self, now: float, utilization: float) -> None:
        """Follow the rule once, with the mean utilization of the machines since the last time."""
        policy = self.policy
        self.next_sync = now + policy.sync
        wanted = wanted_machines(policy, self.count, self.ready, utilization)
        self.wanted = [one for one in self.wanted if one[0] > now - policy.stabilization]
        self.wanted.append((now, wanted))
        if wanted > self.count:
            self._add(now, wanted)
        elif wanted < self.count:
            stable = min(self.count, max(one for _, one in self.wanted))
            self._remove(now, stable)

    def _add(self, now: float, wanted: int) -> None:
        self.added = [one for one in self.added if one[0] > now - _POLICY_PERIOD + _ROUNDING]
        before = self.count - sum(many for _, many in self.added)
        most = max(before + _POLICY_PODS, 2 * before)
        many = min(wanted, most) - self.count
        if many > 0:
            self.added.append((now, many))
            self.starting.append((now + self.policy.startup, many))
            self.count += many
            self.changed_at = now

    def _remove(self, now: float, wanted: int) -> None:
        """Remove machines, first those that have not started up yet."""
        many = self.count - wanted
        if many <= 0:
            return
        self.count, self.changed_at = wanted, now
        while many > 0 and self.starting:
            due, starting = self.starting.pop()
            if starting > many:
                self.starting.append((due, starting - many))
            many -= min(many, starting)
        self.ready -= many
