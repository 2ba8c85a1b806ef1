"""Items that steps request and that the stream does not carry; each is reported once."""

from __future__ import annotations

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.ir.cost_items import item_word
from qps.compiler.quantities.dimension import INFORMATION_BASE

_SHOWN = 4


class ItemUse(Struct, frozen=True):
    """Something that requests an item which the stream does not carry."""

    span: Span
    message: str
    label: str
    also: tuple[Label, ...] = ()


class MissingItems(Struct, frozen=True):
    """What was requested of one stream, by the base of the item."""

    uses: dict[str, list[ItemUse]] = field(default_factory=dict)

    def ask(self, item: str, use: ItemUse) -> None:
        """Note that something requests an item; the same place is noted once."""
        uses = self.uses.setdefault(item, [])
        if use.span not in [earlier.span for earlier in uses]:
            uses.append(use)

    @property
    def count(self) -> int:
        """How many places request something."""
        return sum(map(len, self.uses.values()))

    def report(self, stream: ir.Stream, sink: Sink) -> None:
        """Report each item once, with all that requests it."""
        for item, uses in self.uses.items():
            _report(stream, item, uses, sink)


def items_in_words(emission: ir.Emission) -> list[str]:
    """Return what a stream carries, in the words of a message."""
    return [*emission.items, *(["byte"] if emission.carries_information else [])]


def _report(stream: ir.Stream, item: str, uses: list[ItemUse], sink: Sink) -> None:
    first, *others = uses
    shown = others[:_SHOWN]
    emission = stream.emission
    more = len(others) - len(shown)
    add = f"add {item_word(item)}s to the traffic: {_tie(item, emission)}"
    demand = "these demands" if others else "the demand"
    change = f"specify {demand} per {listed(items_in_words(emission), 'or')}"
    are_costs = all(use.label.startswith("a demand") for use in uses)
    sink.report(
        codes.MISSING_ITEM,
        first.span,
        first.message,
        label=first.label,
        secondary=[
            *first.also,
            *(Label(item_use.span, item_use.label) for item_use in shown),
            Label(emission.span, f"traffic of `{stream.name}`"),
        ],
        notes=[f"{more} more demands need it, too"] if more else [],
        hint=f"{change}, or {add}" if are_costs else add,
    )


def _tie(item: str, emission: ir.Emission) -> str:
    """Return an example of a size that brings an item into a stream."""
    if item != INFORMATION_BASE:
        above = "byte" if emission.carries_information else (*emission.items, "byte")[0]
        return f"`…, 1280 {above}/{item}`" if above == "byte" else f"`…, 3 {item}/{above}`"
    below = emission.items[0] if emission.items else "packet"
    return f"`…, 1280 byte/{below}`"
