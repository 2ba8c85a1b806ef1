"""An autoscaler in a simulation, as the documentation of the Kubernetes HPA states its rule."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from qps.solver.incidents.incident_system import ScalingPolicy

_PERIOD = 15.0
_PODS = 4
_ROUNDING = 1e-9


class ReplicaController:
    """`count` machines are requested, `ready` of them work."""

    def __init__(self, policy: ScalingPolicy) -> None:
        self.policy = policy
        self.count = self.ready = policy.at_start
        self._recommended = [(0.0, policy.at_start)]
        self._grown: list[tuple[float, int]] = []

    def decide(self, now: float, used: float, start: Callable[[float, int], None]) -> bool:
        """Decide once, by which part of the working machines was `used`; return whether it changed.

        `start` lets machines work after a time.
        """
        wanted = self._desired(used)
        since = now - self.policy.stabilization
        self._recommended = [(at, many) for at, many in self._recommended if at > since]
        self._recommended.append((now, wanted))
        before = self.count
        if wanted > before:
            self._grown = [(at, many) for at, many in self._grown if now - at < _PERIOD - _ROUNDING]
            base = before - sum(many for _, many in self._grown)
            self.count = max(before, min(wanted, max(base + _PODS, 2 * base)))
            if self.count > before:
                self._grown.append((now, self.count - before))
                start(self.policy.startup, self.count - before)
        elif wanted < before:
            self.count = min(before, max(many for _, many in self._recommended))
            self.ready = min(self.ready, self.count)
        return self.count != before

    def started(self, many: int) -> None:
        """Let machines work that were started, unless they are not wanted any more."""
        self.ready = min(self.ready + many, self.count)

    def _desired(self, used: float) -> int:
        policy, ratio = self.policy, used / self.policy.target
        desired = self.count
        if self.ready < self.count and ratio > 1:
            ratio *= self.ready / self.count  # those that start are idle
            if ratio > 1 + policy.tolerance:
                desired = ceil(ratio * self.count - _ROUNDING)
        elif abs(ratio - 1) > policy.tolerance:
            desired = ceil(ratio * self.ready - _ROUNDING)
        return max(policy.least, min(policy.most, desired))
