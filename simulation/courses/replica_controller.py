"""An autoscaler in a simulation, as the documentation of the Kubernetes HPA states its rule."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor

from qps.solver.incidents.incident_system import ScalingPolicy

_ROUNDING = 1e-9


class ReplicaController:
    """`count` machines are requested, `ready` of them work, and `failed` ones do not any more."""

    def __init__(self, policy: ScalingPolicy) -> None:
        self.policy = policy
        self.count = self.ready = policy.at_start
        self.failed = 0
        self._recommended = [(0.0, policy.at_start)]
        self._grown: list[tuple[float, int]] = []

    def decide(self, now: float, used: float, start: Callable[[float, int], None]) -> bool:
        """Decide once, by which part of the working machines was `used`; return whether it changed.

        `start` lets machines work after a time.
        """
        if self.ready == 0:
            return False  # there are no metrics
        wanted = self._desired(used)
        since = now - self.policy.stabilization
        self._recommended = [(at, many) for at, many in self._recommended if at > since]
        self._recommended.append((now, wanted))
        before = self.count
        if wanted > before:
            period = self.policy.period - _ROUNDING
            self._grown = [(at, many) for at, many in self._grown if now - at < period]
            base = before - sum(many for _, many in self._grown)
            pods = max(round(self.policy.step), floor(self.policy.growth * base + _ROUNDING))
            self.count = max(before, min(wanted, base + pods))
            if self.count > before:
                self._grown.append((now, self.count - before))
                start(self.policy.startup, self.count - before)
        elif wanted < before:
            self.count = min(before, max(many for _, many in self._recommended))
            self.failed = max(0, self.failed - (before - self.count))
            self.ready = min(self.ready, self.count - self.failed)
        return self.count != before

    def started(self, many: int) -> None:
        """Let machines work that were started, unless they are not wanted any more."""
        self.ready = min(self.ready + many, self.count - self.failed)

    def fail(self, machines: int) -> None:
        """Let up to so many of the machines that work fail; with 0, let all work again."""
        working = self.ready + self.failed
        self.failed = min(machines, working)
        self.ready = working - self.failed

    def _desired(self, used: float) -> int:
        """Return the number of pods by the replica calculator: metrics of some may be missing."""
        policy, usage = self.policy, used / self.policy.target
        pods = self.ready
        if usage > 1 and self.ready < self.count:  # those that start or have failed: 0 %
            pods, ratio = self.count, usage * self.ready / self.count
            ratio = ratio if ratio > 1 else 1.0
        elif usage < 1 and self.failed:  # those that have failed: 100 % of what they requested
            pods = self.ready + self.failed
            ratio = (usage * self.ready + self.failed / min(1.0, policy.target)) / pods
            ratio = ratio if ratio < 1 else 1.0
        else:
            ratio = usage
        desired = self.count
        if abs(ratio - 1) > policy.tolerance:
            desired = ceil(ratio * pods - _ROUNDING)
        return max(policy.least, min(policy.most, desired))
