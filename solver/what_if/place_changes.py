"""What stands where: nodes and links of another kind, or of another number, than before."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.ir.parts import parts_of

Place = ir.Node | ir.Link
_SHORTEST_WORD = 3
"""Letters of a word; what is shorter is an abbreviation, such as `vm`."""


class PlaceChange(Struct, frozen=True):
    """What stands in a place before and after, in words.

    It `is_settable` where either spec could have what the other one has: it knows both kinds, and
    all that counts them. All other changes of places are part of the formulas.
    """

    before: str
    after: str
    is_settable: bool


def place_change(
    models: tuple[ir.Model, ir.Model], here: Place, there: Place
) -> PlaceChange | None:
    """Return what has changed in a place of both models, None for nothing."""
    kinds = kind_of(here), kind_of(there)
    if (kinds[0], here.stated_count) == (kinds[1], there.stated_count):
        return None
    is_settable = here.own == there.own and all(
        _knows(model, place) for model in models for place in (here, there)
    )
    return PlaceChange(*_texts(there, (_count(here), _count(there)), kinds), is_settable)


def places_of(configuration: Configuration) -> Mapping[str, Place]:
    """Return the nodes and links."""
    return {**configuration.nodes, **configuration.links}


def kind_of(place: Place) -> str:
    """Return the machine of a node, or the network of a link."""
    return place.machine if isinstance(place, ir.Node) else place.network


def _count(place: Place) -> int | None:
    """Return how many there are, None where that is no plain number."""
    count = place.stated_count
    if not isinstance(count, ir.Constant) or count.value.denominator != 1:
        return None
    return int(count.value)


def _knows(model: ir.Model, place: Place) -> bool:
    """Return whether a model has the kind of a place, and all numbers that count it."""
    kinds = model.machines if isinstance(place, ir.Node) else model.networks
    parameters = {parameter.name for parameter in model.parameters}
    return kind_of(place) in kinds and all(
        part.name in parameters
        if isinstance(part, ir.ParameterValue)
        else isinstance(part, _WITHOUT_NAMES)
        for part in parts_of(place.stated_count)
    )


_WITHOUT_NAMES = (ir.Constant, ir.Population, ir.Sum, ir.Product, ir.Power, ir.Apply)
"""What an expression may hold, besides parameters, that means the same in every model."""


def _texts(
    place: Place, counts: tuple[int | None, int | None], kinds: tuple[str, str]
) -> tuple[str, str]:
    """Return what to write of both: "2" and "3 servers", or "small * 2" and "large"."""
    if kinds[0] == kinds[1]:
        otherwise = "machines" if isinstance(place, ir.Node) else "links"
        several = _plural(kinds[1], otherwise)
        one = kinds[1] if several != otherwise else otherwise.removesuffix("s")
        if counts == (None, None):
            return "", f"number of {several} changed"
        before, after = ("computed" if count is None else f"{count:,}" for count in counts)
        return before, f"{after} {one}" if counts[1] == 1 else f"{after} {several}"
    before, after = (
        kind if count in (1, None) else f"{kind} * {count:,}"
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
