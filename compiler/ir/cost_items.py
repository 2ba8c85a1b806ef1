"""The item that a cost is counted by, and the rating by which a cost is scaled."""

from __future__ import annotations

from functools import lru_cache

from qps.compiler import ir
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    INFORMATION_BASE,
    TIME,
    TIME_BASE,
    Dimension,
)


def item_of(cost: ir.Quantity, work: Dimension) -> str | None:
    """Return the item a cost is counted by; an empty text where it is a constant load.

    `work` is what uses up the resource in a second: dimensionless busy time for a processor,
    bit/s for a disk. A cost of s/packet on a processor is counted by the packet. None where
    no item fits.
    """
    return item_of_dimension(cost.dimension, work)


@lru_cache(maxsize=1024)  # called for every cost in every configuration
def item_of_dimension(cost: Dimension, work: Dimension) -> str | None:
    """Return the item that a cost of a dimension is counted by; see `item_of`."""
    rate = work / cost
    if rate == DIMENSIONLESS:
        return ""
    base = (rate * TIME).single_base
    return None if base in (None, TIME_BASE) else base


def is_store_amount(cost: ir.Quantity, capacity: Dimension) -> bool:
    """True where a cost on a store is an amount held by each flow."""
    return cost.dimension == capacity


def is_amount_per_flow(term: ir.Quantity, resource: ir.Resource) -> bool:
    """Return whether a term of a cost is an amount held by each flow."""
    return resource.kind is ir.ResourceKind.STORE and is_store_amount(term, resource.work)


def item_word(base: str) -> str:
    """Return the word that a spec uses for an item."""
    return "byte" if base == INFORMATION_BASE else base


def scaling_base(measured: ir.Machine, cost: ir.Cost) -> str | None:
    """Return the base of the rating by which a cost is scaled, None where there is none."""
    if cost.scaled_by is not None:
        return cost.scaled_by
    resource = measured.resource(cost.resource)
    if resource is None or resource.speed is None:
        return None
    return resource.speed.dimension.single_base
