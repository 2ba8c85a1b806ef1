"""What can be had: which choices, numbers and hardware are somebody's to change.

What a spec assumes of the world, or fits to what was measured, is nobody's to buy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qps.compiler import ir
from qps.compiler.configure.configuration import VARYING, Configuration
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import INFORMATION_BASE, TIME_BASE

_ASSUMED = (
    r"(?i)\b(assum\w*|hypothe\w*|suppos\w*|fitted|guess\w*|as if|what if|never matters?"
    r"|confidence intervals?)\b|\d % intervals?\b"
)
"""Words by which a doc string or a source says that something is assumed."""
_COUNTING = r"as_\w+|(not_|un)?counted|left_out|(in|ex)cluded|ignored|neglected"
"""What choices are called that say as what something counts, or whether it does."""


def is_assumed(declared: ir.Option | ir.Parameter) -> bool:
    """Return whether an option or a parameter is an assumption, by what its spec says of it.

    That is one fitted to what was measured, one whose doc string or source calls it assumed, and an
    option of which each choice says as what something counts: `as_measured or as_unicast`, `counted
    or left_out`. What users send, a rate or a size, may be less however well its number is known.
    """
    if isinstance(declared, ir.Option) and all(
        re.fullmatch(_COUNTING, one) for one in declared.choices
    ):
        return True
    if isinstance(declared, ir.Parameter):
        if declared.fitted is not None:
            return True
        dimension = declared.dimension
        if dimension.exponent(TIME_BASE) < 0 or dimension.exponent(INFORMATION_BASE) > 0:
            return False
    return any(re.search(_ASSUMED, text) for text in (declared.doc, declared.source) if text)


def is_of_a_kind(model: ir.Model, name: str) -> bool:
    """Return whether a number is of a kind of machine, in no place: costs were measured on it."""
    return name.rpartition(".")[0] in model.machines


def kinds_at_hand(model: ir.Model, configuration: Configuration, place: str) -> Iterator[str]:
    """Yield the machines or networks that may be had for a place, but what stands there.

    Instances of one file have the same ones: those of its own are enough. What stands elsewhere
    has its purpose there: it is for this place, too, where it is of one family with what stands
    here, or where both are places of the system, not of its users, and have the same resources.
    """
    here = configuration.place(place)
    others = tuple(f"{i.name}." for i in model.instances if not place.startswith(f"{i.name}."))
    kinds = model.machines if isinstance(here, ir.Node) else model.networks
    standing = configuration.nodes if isinstance(here, ir.Node) else configuration.links
    now = _kind(here)
    for name in kinds:
        if name == now or name.startswith(others):
            continue
        elsewhere = [one for one in standing.values() if one is not here and _kind(one) == name]
        if not elsewhere or isinstance(here, ir.Link) or _are_similar(model, now, name):
            yield name
            continue
        is_of_users = any(map(_is_of_users, (here, *elsewhere)))
        if not is_of_users and _have_same_resources(model, now, name):
            yield name


def _kind(place: ir.Node | ir.Link) -> str:
    return place.machine if isinstance(place, ir.Node) else place.network


def _are_similar(model: ir.Model, one: str, other: str) -> bool:
    families = [{name, *model.machines[name].family} for name in (one, other)]
    return bool(families[0] & families[1])


def _have_same_resources(model: ir.Model, one: str, other: str) -> bool:
    resources = [{r.name for r in model.machines[name].resources} for name in (one, other)]
    return resources[0] == resources[1]


def _is_of_users(place: ir.Node | ir.Link) -> bool:
    """Return whether there are as many of a place as there are users."""
    return any(isinstance(part, VARYING) for part in parts_of(place.count))
