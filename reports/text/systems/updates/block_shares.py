"""New calls in the old form: a spec keeps its blocks of requests, whichever new ones would have.

Which calls go together in one block may change from one recording to the next. The share of a block
is then that of the call of it that most requests make, and others are made so much less often.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from qps.reports.text.systems.spec_numbers import percent, plain
from qps.reports.text.systems.updates.observed_numbers import Key, ObservedNumber

_SIZES = re.compile(r", (?:sends|returns) .*", re.DOTALL)
_NODE = re.compile(r"call\s+(\w+)")
_WHOLE = 0.0005
Numbers = Mapping[Key, ObservedNumber]


def in_the_form_of(old: Numbers, new: Numbers) -> dict[Key, ObservedNumber]:
    """Return new numbers, with their calls and shares written as the old ones are."""
    found = dict(new)
    blocks: dict[Key, list[Key]] = {}
    for key, one in old.items():
        if key[0] == "call" and one.block:
            blocks.setdefault(("share", *key[1:-2], one.block), []).append(key)
    shares = {block: _share(keys, new) for block, keys in blocks.items()}
    changed = {block for block, keys in blocks.items() if _is_other(keys, old, new)}
    for key, one in old.items():
        if key[0] == "share" and key[:-1] in changed and shares[key[:-1]]:
            number = next((new[each] for each in blocks[key[:-1]] if each in new), None)
            if number is not None:
                text = percent(shares[key[:-1]])
                found[key] = replace(one, text=text, evidence=number.evidence)
        if key[0] != "call" or key not in new:
            continue
        block = ("share", *key[1:-2], one.block)
        is_same = one.block == new[key].block and one.is_share == new[key].is_share
        if block in changed or not is_same:
            share = shares.get(block, 1.0) if one.block else 1.0
            found[key] = _written_as(one, new[key], share)
    return found


def _share(keys: list[Key], new: Numbers) -> float:
    return max((_callers(new[key]) for key in keys if key in new), default=0.0)


def _callers(number: ObservedNumber) -> float:
    """Return the share of requests that make a call."""
    evidence = number.evidence
    if evidence is None:
        return 0.0
    made, of = evidence.number("callers") or evidence.number("count"), evidence.number("of")
    return made / of if made and of else 0.0


def _is_other(keys: list[Key], old: Numbers, new: Numbers) -> bool:
    """Return whether new calls of a block are not in the same block, and no others are."""
    block, path = old[keys[0]].block, keys[0][1:-2]
    there = {
        key
        for key, one in new.items()
        if key[0] == "call" and key[1:-2] == path and one.block == block
    }
    return there != set(keys)


def _written_as(old: ObservedNumber, new: ObservedNumber, share: float) -> ObservedNumber:
    """Return the header of a new call in the form of an old one, in a block of a share."""
    evidence = new.evidence
    count, of = (None, None) if evidence is None else (evidence.number(n) for n in ("count", "of"))
    node = _NODE.search(new.text)
    if not count or not of or not share or node is None or "(" in new.text:
        return new
    times, chance = count / of / share, ""
    if old.is_share:
        own = _callers(new) / share
        times, chance = times / own, f"{percent(own)}: "
    factor = ""
    if abs(times - 1) > _WHOLE:
        factor = f" * {percent(times)}" if times < 1 else f" * {plain(times)}"
    sizes = _SIZES.search(new.text)
    return replace(
        new,
        text=f"{chance}call {node[1]}{factor}{sizes[0] if sizes else ''}",
        block=old.block,
        is_share=old.is_share,
    )
