"""What the walk along the streams charges, to be held against what the network says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from qps.compiler.lower import lowering
from qps.compiler.lower.flows import StreamResult
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.visit_ratios import station_loads, station_visits
from qps.compiler.network.network import Network
from qps.engine.formulas import Formula, total

BY_HAND = Path(__file__).resolve().parents[1] / "networks_by_hand.txt"
DECLARATIONS = (
    "users" + BY_HAND.read_text(encoding="utf-8").partition("\nusers")[2].partition("\n== ")[0]
)


class LoadsOfTheWalk:
    """Loads and visits as the last walk has charged them, before anything is averaged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._loads: dict[str, dict[str, Formula]] = {}
        self._visits: dict[str, list[tuple[Formula, Formula]]] = {}
        self._network_of = lowering.network_of
        monkeypatch.setattr(lowering, "network_of", self._noted)

    def _noted(self, streams: StreamDemands, results: Sequence[StreamResult]) -> Network:
        for name, demand in streams.demands.items():
            self._loads[name] = {by: total(loads) for by, loads in demand.parts.items()}
            self._visits[name] = [(visit.flows, visit.rate) for visit in demand.visits]
        return self._network_of(streams, results)

    def hold(self, network: Network) -> None:
        """Assert that a network makes the very formulas that were charged on the walk."""
        loads = station_loads(network)
        made = {
            name: {by: total(each) for by, each in loads.get(name, {}).items()}
            for name in self._loads
        }
        assert made == self._loads
        visits: dict[str, set[tuple[Formula, Formula]]] = {}
        for one in station_visits(network):
            visits.setdefault(one.station, set()).add((one.flows, one.rate))
        for name, each in self._visits.items():
            assert visits.get(name, set()) >= set(each), name
