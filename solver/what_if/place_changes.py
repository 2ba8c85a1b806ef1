"""What stands where: nodes and links of another kind, or of another number, than before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration

Place = ir.Node | ir.Link
Configured = tuple[ir.Model, Configuration]
_SHORTEST_WORD = 3
"""Letters of a word; what is shorter is an abbreviation, such as `vm`."""


def place_changes(old: Configured, new: Configured) -> Iterator[tuple[str, str, str]]:
    """Yield the places of both that differ: the name, and what stands there before and after.

    Those that either spec could have as the other has them: it knows both kinds, and the count is a
    plain number. All others are part of the formulas.
    """
    before = places_of(old[1])
    for name, there in places_of(new[1]).items():
        here = before.get(name)
        if here is None or here.own != there.own:
            continue
        counts, kinds = (_count(here), _count(there)), (kind_of(here), kind_of(there))
        is_moved = (counts[0], kinds[0]) != (counts[1], kinds[1])
        is_known = None not in counts and all(
            _knows(model, place) for model, _ in (old, new) for place in (here, there)
        )
        if is_moved and is_known:
            yield name, *_texts(there, counts, kinds)


def places_of(configuration: Configuration) -> Mapping[str, Place]:
    """Return the nodes and links."""
    return {**configuration.nodes, **configuration.links}


def kind_of(place: Place) -> str:
    """Return the machine of a node, or the network of a link."""
    return place.machine if isinstance(place, ir.Node) else place.network


def _count(place: Place) -> int | None:
    """Return how many there are, None where that is no plain number."""
    if not isinstance(place.count, ir.Constant) or place.count.value.denominator != 1:
        return None
    return int(place.count.value)


def _knows(model: ir.Model, place: Place) -> bool:
    return kind_of(place) in (model.machines if isinstance(place, ir.Node) else model.networks)


def _texts(place: Place, counts: tuple[int | None, ...], kinds: tuple[str, str]) -> tuple[str, str]:
    """Return what to write of both: "2" and "3 servers", or "small * 2" and "large"."""
    if kinds[0] == kinds[1]:
        otherwise = "machines" if isinstance(place, ir.Node) else "links"
        several = _plural(kinds[1], otherwise)
        one = kinds[1] if several != otherwise else otherwise.removesuffix("s")
        return f"{counts[0]:,}", f"{counts[1]:,} {one if counts[1] == 1 else several}"
    before, after = (
        kind if count == 1 else f"{kind} * {count:,}"
        for kind, count in zip(kinds, counts, strict=True)
    )
    return before, after


def _plural(kind: str, otherwise: str) -> str:
    """Return the plural of a kind that has an English name: servers, boxes, proxies."""
    if len(kind) < _SHORTEST_WORD or not (kind.isascii() and kind.isalpha()):
        return otherwise
    if kind.endswith(("s", "x", "ch", "sh")):
        return f"{kind}es"
    is_consonant_before = kind[-2] not in "aeiou"
    return f"{kind[:-1]}ies" if kind.endswith("y") and is_consonant_before else f"{kind}s"
