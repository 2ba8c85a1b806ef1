"""Which resource of each row is the bottleneck, which criterion limits it, and what is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qps.solver.answers.staying_full import ALIKE, StaysFull
from qps.solver.matrix.compiled import CompiledMode
from qps.solver.matrix.prepared import Bools, Floats, Ints, Rows


@dataclass(frozen=True, slots=True)
class Bottlenecks:
    """Rows of a mode, and where their resources saturate: a column for each resource."""

    mode: CompiledMode
    rows: Rows
    saturates: Sequence[Floats]

    def limiting(self, failing: Bools) -> Ints:
        """Return the number of the criterion that limits each row, -1 for none.

        What is stated comes first, then the resource that saturates first.
        """
        rows, saturates, criteria = self.rows, self.saturates, self.mode.criteria
        if not criteria:  # nothing is loaded, and nothing is required
            return np.full(rows.count, -1, dtype=np.int64)
        stated = np.array([criterion.is_stated for criterion in criteria], dtype=bool)[:, None]
        limiting = np.where(failing.any(axis=0), np.argmax(failing, axis=0), -1)
        limiting = np.where(
            (failing & stated).any(axis=0), np.argmax(failing & stated, 0), limiting
        )
        several = np.flatnonzero(~(failing & stated).any(axis=0) & (failing.sum(axis=0) > 1))
        if not several.size:
            return limiting
        places = [
            [n for n, c in enumerate(criteria) if not c.is_stated and c.name == f"{r.name}.load"]
            for r in self.mode.resources
        ]
        full = np.array([failing[own][:, several].any(axis=0) for own in places])
        found = self._first(rows.take(several), [at[several] for at in saturates], full)
        for number, own in enumerate(places):
            mine = several[found == number]
            if mine.size:
                limiting[mine] = np.array(own)[np.argmax(failing[own][:, mine], axis=0)]
        return limiting

    def bottleneck(self) -> Ints:
        """Return the number of the resource that saturates first, else of the heaviest one."""
        rows, saturates = self.rows, self.saturates
        if not saturates:
            return np.full(rows.count, -1, dtype=np.int64)
        found = self._first(rows, saturates, np.ones((len(saturates), rows.count), dtype=bool))
        never = np.flatnonzero(np.isinf(np.min(saturates, axis=0)))
        if never.size:
            loads = self._fullness(rows.take(never), float(self.mode.high))
            found[never] = np.argmax(np.where(np.isnan(loads), -np.inf, loads), axis=0)
        return found

    def from_start(self) -> Bools:
        """Return which resources are full where the range starts, a line for each.

        One that elastic parameters fill is so by design, and counts where it is beyond there.
        """
        mode, rows, saturates = self.mode, self.rows, self.saturates
        found = np.zeros((len(saturates), rows.count), dtype=bool)
        for number, at in enumerate(saturates):
            found[number] = at <= mode.low * (1 + ALIKE)
        for number, resource in enumerate(mode.resources):
            where = np.flatnonzero(found[number])
            if where.size and resource.is_filled and mode.program.varies[resource.load]:
                loads = self._fullness(rows.take(where), float(mode.low))[number]
                found[number, where] = ~(loads <= 1 + ALIKE)
        return found

    def stays_full(self, first: Ints, bottleneck: Ints) -> Ints:
        """Return how the bottleneck stays full up to the largest acceptable population."""
        rows, saturates = self.rows, self.saturates
        found = np.zeros(rows.count, dtype=np.int64)
        if not saturates:
            return found
        where = np.flatnonzero(np.min(saturates, axis=0) < (first - 1) * (1 - ALIKE))
        if where.size:
            loads = self._fullness(rows.take(where), (first[where] - 1).astype(float))
            load = np.take_along_axis(loads, bottleneck[where][None], axis=0)[0]
            ways = list(StaysFull)
            exactly, at_most = ways.index(StaysFull.EXACTLY), ways.index(StaysFull.AT_MOST)
            found[where] = 1 + np.where(np.abs(load - 1) <= ALIKE, exactly, at_most)
        return found

    def _first(self, rows: Rows, saturates: Sequence[Floats], among: Bools) -> Ints:
        """Return the number of the resource that saturates first among some: one at least.

        Of those that are saturated from the start, the one with the highest load there; of
        equals, the first (as `saturation.in_order_of_saturation`).
        """
        at = np.where(among, saturates, np.inf)
        least = np.min(at, axis=0)
        tied = among & (at <= least * (1 + ALIKE))
        found: Ints = np.argmax(tied, axis=0)
        several = np.flatnonzero((tied.sum(axis=0) > 1) & (least == self.mode.low))
        if several.size:
            loads = self._fullness(rows.take(several), float(self.mode.low))
            loads = np.where(np.isfinite(loads), loads, np.inf)
            loads = np.where(tied[:, several], loads, -np.inf)
            found[several] = np.argmax(loads >= np.max(loads, axis=0) * (1 - ALIKE), axis=0)
        return found

    def _fullness(self, rows: Rows, population: float | Floats) -> Floats:
        """Return all loads as parts of their targets at populations, a line for each resource."""
        sides = [(resource.load, resource.target) for resource in self.mode.resources]
        values = rows.at({number for pair in sides for number in pair}, population)
        return np.array(
            [rows.column(values, load) / rows.column(values, aim) for load, aim in sides]
        )
