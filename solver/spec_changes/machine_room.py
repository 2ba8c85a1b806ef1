"""How much room machines have: what moved work would come to at another machine.

It orders what is tried; what a change gives is solved.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf

from qps.compiler.configure.fold import Folder
from qps.solver.spec_changes.spec_edit import Limited


class MachineRoom:
    """The utilizations of resources at the answer, with work that moves between machines."""

    def __init__(self, limited: Limited) -> None:
        self._limited = limited
        self._utilizations = dict(limited.utilizations)
        self._folder = Folder(
            configuration=limited.configuration, population=Fraction(limited.solution.at)
        )

    def with_moved(self, share: float, source: str, target: str) -> float:
        """Return the utilization of a resource with a share of what loads another one.

        It is infinite where a capacity is not known.
        """
        there = self._work_per_second(target)
        if not there:
            return inf
        moved = share * self._utilizations.get(source, 0.0) * self._work_per_second(source)
        return self._utilizations.get(target, 0.0) + moved / there

    def move(self, share: float, source: str, target: str) -> None:
        """Move a share of what loads a resource to another one."""
        self._utilizations[target] = self.with_moved(share, source, target)

    def _work_per_second(self, name: str) -> float:
        """Return what all machines of a place do in a second; 0 where that is not known."""
        own = self._limited.resource(name)
        if own is None:
            return 0.0
        place = self._limited.configuration.nodes[name.rpartition(".")[0]]
        numbers = [own.capacity.expr, place.count]
        if own.speed is not None:
            numbers.append(own.speed.expr)
        total = 1.0
        for number in numbers:
            value = self._folder.nearly(number)
            total *= 0.0 if value is None else float(value)
        return total
