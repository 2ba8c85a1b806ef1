"""The flows at a point of the way of a stream, with the items that they are made of."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.network.classes import BYTE_BITS
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.engine.expressions.formulas import Formula


class Flow(Struct, frozen=True):
    """The flows at a point of the way.

    `total` flows in the whole system, each with `rates` (items/s, bit/s); `sizes` in
    bit/item tie the items that follow the bits.
    """

    total: Formula
    rates: dict[str, Formula]
    sizes: dict[str, Formula]
    primary: str | None

    def with_bits(self, bits: Formula) -> Flow:
        """Return the flows with another bit rate; items that are cut from the bits follow."""
        rates = self.rates | {INFORMATION_BASE: bits}
        for item, size in self.sizes.items():
            if item != self.primary:
                rates[item] = bits / size
        return replace(self, rates=rates)

    def per_item(self, base: str) -> Formula:
        """Return how many of a base come with one item of the stream (or one byte of it)."""
        if self.primary is None:
            return self.rates[base] / self.rates[INFORMATION_BASE] * BYTE_BITS
        return self.rates[base] / self.rates[self.primary]


def word(base: str) -> str:
    """Return what a base is called in the name of a number: bytes are counted, not bits."""
    return "byte" if base == INFORMATION_BASE else base
