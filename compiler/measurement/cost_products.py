"""Which costs are fitted, as a spec names them: `per token + per token * context`."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.quantities.dimension import INFORMATION_BASE


class CostProduct(Struct, frozen=True):
    """A cost that is fitted: per item, times or over columns by their names, to whole powers."""

    item: str
    factors: tuple[tuple[str, int], ...] = ()

    def heading(self, rate: str) -> str:
        """Return what it is called, with a word for the rate.

        >>> CostProduct("token", (("context", 2), ("batch", -1))).heading("token")
        'token * context^2 / batch'
        """
        found = rate
        for name, exponent in self.factors:
            power = f"^{abs(exponent)}" if abs(exponent) > 1 else ""
            found += f" {'*' if exponent > 0 else '/'} {name}{power}"
        return found

    @property
    def written(self) -> str:
        """How a spec writes it behind `per`."""
        return self.heading(item_word(self.item))


def item_word(item: str) -> str:
    """Return the item that a service demand is shown for."""
    return "byte" if item == INFORMATION_BASE else item
