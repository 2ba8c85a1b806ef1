"""Which costs are fitted, as a spec names them: `per token + per token * context`.

A cost may also be a curve along a column: `per message * power(size)`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from qps.compiler.quantities.dimension import INFORMATION_BASE

RATE, SIZE = "rate", "size"
"""What a curve may be along without a column of that name: the rate of the item, and its bytes."""


class CurveKind(Enum):
    """How a cost changes along a column: as a power, or as wake-ups become rare with the rate."""

    POWER = "power"
    WAKEUPS = "wakeups"


class CostCurve(Struct, frozen=True):
    """By what curve a cost changes along a column; what the curve has of its own is fitted."""

    kind: CurveKind
    column: str

    @property
    def written(self) -> str:
        """How a spec writes it.

        >>> CostCurve(CurveKind.POWER, "size").written
        'power(size)'
        """
        return f"{self.kind.value}({self.column})"


class CostProduct(Struct, frozen=True):
    """A cost that is fitted: per item, times or over columns by their names, to whole powers."""

    item: str
    factors: tuple[tuple[str, int], ...] = ()
    curve: CostCurve | None = None

    def heading(self, rate: str) -> str:
        """Return what it is called, with a word for the rate.

        >>> CostProduct("token", (("context", 2), ("batch", -1))).heading("token")
        'token * context^2 / batch'
        """
        found = rate
        for name, exponent in self.factors:
            power = f"^{abs(exponent)}" if abs(exponent) > 1 else ""
            found += f" {'*' if exponent > 0 else '/'} {name}{power}"
        return found if self.curve is None else f"{found} * {self.curve.written}"

    @property
    def written(self) -> str:
        """How a spec writes it behind `per`."""
        return self.heading(item_word(self.item))


def item_word(item: str) -> str:
    """Return the item that a service demand is shown for."""
    return "byte" if item == INFORMATION_BASE else item
