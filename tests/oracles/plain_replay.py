"""The policies of playout once more, packet by packet and slot by slot, as the papers tell them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Packet:
    """A packet that arrived: when it was sent, and when it came."""

    sent: Fraction
    arrived: Fraction

    def late(self, shortest: Fraction) -> Fraction:
        return self.arrived - self.sent - shortest


def shortest_way(packets: Sequence[Packet]) -> Fraction:
    return min(p.arrived - p.sent for p in packets)


def i_policy(packets: Sequence[Packet], buffer: Fraction) -> tuple[int, int]:
    """Return how many packets are shown, and how many come too late."""
    shortest = shortest_way(packets)
    shown = sum(1 for p in packets if p.late(shortest) <= buffer)
    return shown, len(packets) - shown


def e_policy(packets: Sequence[Packet], buffer: Fraction) -> tuple[int, list[Fraction]]:
    """Return how often playout had to wait, and the latency of each packet."""
    shortest = shortest_way(packets)
    latency, waits, found = buffer, 0, []
    for packet in packets:
        if packet.late(shortest) > latency:
            latency = packet.late(shortest)
            waits += 1
        found.append(latency)
    return waits, found


def queue_monitoring(
    packets: Sequence[Packet],
    first_slot: Fraction,
    period: Fraction,
    threshold: Sequence[int],
) -> tuple[int, int, list[Fraction]]:
    """Return the discarded packets, the empty slots, and the times at which packets are shown.

    MTP paper, section 4.1, to the letter: at each removal with m packets behind the one to be
    shown, counters 1 to m go up and the others are reset; each counter beyond its threshold is
    reset and costs the queue its oldest packet; the oldest one left is shown.
    """
    waiting = deque(sorted(packets, key=lambda p: p.arrived))
    queue: deque[Packet] = deque()
    counters = [0] * (len(packets) + 1)
    discarded = empty = 0
    shown: list[Fraction] = []
    time = first_slot
    while waiting or queue:
        while waiting and waiting[0].arrived <= time:
            queue.append(waiting.popleft())
        behind = max(0, len(queue) - 1)
        for number in range(1, len(counters)):
            counters[number] = counters[number] + 1 if number <= behind else 0
        for number in range(1, behind + 1):
            if counters[number] > threshold[min(number, len(threshold)) - 1]:
                counters[number] = 0
                queue.popleft()
                discarded += 1
        if queue:
            shown.append(time - queue.popleft().sent)
        else:
            empty += 1
        time += period
    return discarded, empty, shown
