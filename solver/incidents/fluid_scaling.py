"""The autoscalers of a system that is followed in steps: what they see, and what they do."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct, field

from qps.solver.incidents.horizontal_scaling import HorizontalScaler
from qps.solver.incidents.incident_system import IncidentSystem


class FluidScaling(Struct, kw_only=True):
    """All autoscalers of a system at work."""

    system: IncidentSystem
    scalers: list[HorizontalScaler]
    busy: list[list[float]]
    """Of each autoscaler, the busy time since it looked, and the busy part in this step."""
    lost: Counter[str] = field(default_factory=Counter)
    """How many machines of autoscaled nodes have failed."""

    @classmethod
    def of(cls, system: IncidentSystem) -> FluidScaling:
        """Return the autoscalers as an incident begins."""
        return cls(
            system=system,
            scalers=[
                HorizontalScaler(
                    policy=one, count=one.at_start, ready=one.at_start, next_sync=one.sync
                )
                for one in system.scalers
            ],
            busy=[[0.0, 0.0] for _ in system.scalers],
        )

    @property
    def ready(self) -> tuple[int, ...]:
        """How many machines of each work."""
        return tuple(one.ready for one in self.scalers)

    def part_of(self, node: str) -> float:
        """Return how many times the stated machines of a node work."""
        for scaler in self.scalers:
            if scaler.policy.node == node:
                return scaler.ready / scaler.policy.count
        return 1.0

    def start_step(self, now: float) -> None:
        """Have machines work that have started up, and fail once or work again."""
        for scaler in self.scalers:
            scaler.start_up(now)
            node = scaler.policy.node
            lost = self.system.machines_lost(node, now)
            if lost != self.lost[node]:
                self.lost[node] = lost
                scaler.have_lost(lost)

    def observe(self, place: int, used: float) -> None:
        """Have the autoscaler of a node see how busy its busiest station was in a step."""
        station = self.system.stations[place]
        busy = used * (1 - station.background) + station.background
        for number, scaler in enumerate(self.scalers):
            if scaler.policy.node == station.node and station.is_processor:
                self.busy[number][1] = max(self.busy[number][1], busy)

    def end_step(self, end: float, step: float) -> None:
        """Have those decide whose time it is: by the busy time since, of machines that work now."""
        for scaler, seen in zip(self.scalers, self.busy, strict=True):
            seen[0] += seen[1] * step * scaler.ready
            seen[1] = 0.0
            if end >= scaler.next_sync:
                time = scaler.policy.sync * max(1, scaler.ready)
                scaler.synchronize(end, min(1.0, seen[0] / time))
                seen[0] = 0.0

    def is_at_rest(self, now: float) -> bool:
        """Return whether no autoscaler is about to change the number of its machines."""
        return all(
            not one.starting
            and now - max(one.changed_at, self.system.end)
            > one.policy.stabilization + 2 * one.policy.sync
            for one in self.scalers
        )
