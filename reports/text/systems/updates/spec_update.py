"""A spec brought up to date: numbers that were observed become what is observed now.

Nothing else of the text changes. A number is replaced where its evidence is of the same kind as the
new one, or where the person names it. The numbers of one observation belong together (a service's
rate is the sum of those of its callers), so where one of them has drifted, all of them are renewed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Source
from qps.compiler.diagnostics.suggest import did_you_mean, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.syntax import ast
from qps.compiler.syntax.format import formatted
from qps.compiler.syntax.parse import parse
from qps.reports.text.systems.updates.block_shares import in_the_form_of
from qps.reports.text.systems.updates.calls_in_streams import without_numbers
from qps.reports.text.systems.updates.number_drift import NumberDrift, number_drifts
from qps.reports.text.systems.updates.observed_numbers import (
    Key,
    ObservedNumber,
    observed_numbers,
)
from qps.reports.text.systems.updates.request_spreads import Spreads
from qps.reports.text.words.phrases import phrase

_ASSUMED_COST = "between 0.1 and 10 ms/request"
_INTERCHANGEABLE = frozenset(
    (*("sends", "returns", "byte", "request", "mmc", "mm1"), *("s", "ms", "us", "ns", "min"))
)
_FOLLOWING = ("claim", "size", "route", "together", "files", "period", "memory", "idle", "share")
"""Kinds that go with others, and are not tested by themselves."""


Replacement: TypeAlias = tuple[int, int, str]
"""From where to where a text is replaced, and by what."""


class UnchangedNumber(Struct, frozen=True, kw_only=True):
    """A number that stays, as it is the person's; and what was observed."""

    name: str
    line: int
    text: str
    observed: str


class SpecUpdate(Struct, frozen=True, kw_only=True):
    """What a text becomes, and why: all numbers that were compared, and what was not.

    `assumed` are those that were assumptions of `qps observe`, and are measured now; `named` those
    that the person named. `missing` is observed and not in the spec, `gone` the other way round.
    """

    before: str
    text: str
    drifts: tuple[NumberDrift, ...]
    own: tuple[UnchangedNumber, ...]
    assumed: tuple[str, ...]
    named: tuple[str, ...]
    missing: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def drifted(self) -> tuple[NumberDrift, ...]:
        """The numbers that have drifted, the most certain first."""
        count = len(self.drifts)
        found = [one for one in self.drifts if one.is_drift(count)]
        return tuple(sorted(found, key=lambda one: -one.distance))

    @property
    def is_changed(self) -> bool:
        """Whether the text has to be written."""
        return self.text != self.before


class _Pair(Struct, frozen=True):
    key: Key
    before: ObservedNumber
    now: ObservedNumber


def spec_update(
    module: ast.Module, now: str, spreads: Spreads | None = None, named: Collection[str] = ()
) -> SpecUpdate:
    """Return a spec with the numbers of a text that was written from new observations.

    DataError where nothing has a name that the person names.
    """
    spreads = spreads or Spreads()
    text = module.source.text
    new = parse(Source(label="observed.qps", text=now)).value
    assert new is not None
    old_numbers = observed_numbers(module)
    new_numbers = in_the_form_of(old_numbers, observed_numbers(new))
    pairs = [
        _Pair(key, old_numbers[key], one) for key, one in new_numbers.items() if key in old_numbers
    ]
    _refuse_unknown(named, pairs)
    own: list[UnchangedNumber] = []
    renewed: list[_Pair] = []
    chosen: list[_Pair] = []
    assumed: list[str] = []
    drifts: list[NumberDrift] = []
    idle = _idle_of_one(old_numbers, new_numbers)
    for pair in pairs:
        is_open = _is_open(pair)
        if pair.now.kind == "assumed" or (pair.now.evidence is None and pair.now.kind != "idle"):
            continue
        if pair.before.name in named or is_open:
            chosen.append(pair)
            assumed += [pair.before.name] * is_open
        elif pair.before.name in idle or not _is_renewable(pair):
            own += _own(pair, text)
        else:
            renewed.append(pair)
            line = text.count("\n", 0, pair.before.start) + 1
            found = number_drifts(pair.before, pair.now, pair.key[1:-1], spreads)
            drifts += [replace(one, line=line) for one in found]
    is_drifting = any(one.is_drift(len(drifts)) for one in drifts)
    edits = [edit for pair in chosen for edit in _edits(pair, now)]
    if is_drifting:
        edits += [edit for pair in renewed for edit in _edits(pair, now)]
    return SpecUpdate(
        before=text,
        text=edited(module.source, edits),
        drifts=tuple(drifts),
        own=tuple(own),
        assumed=tuple(assumed),
        named=tuple(dict.fromkeys(p.before.name for p in chosen if p.before.name in named)),
        missing=_only_in(new_numbers, old_numbers),
        gone=_only_in(old_numbers, new_numbers),
    )


def _refuse_unknown(named: Collection[str], pairs: Collection[_Pair]) -> None:
    known = {one.before.name for one in pairs if one.now.kind not in ("", "assumed", *_FOLLOWING)}
    for name in named:
        if name not in known:
            raise DataError(
                f"nothing named `{shortened(name)}` was observed that the spec has as well",
                did_you_mean(name, known) or "run without `--replace` to see which numbers stay",
            )


def _is_open(pair: _Pair) -> bool:
    """Return whether a cost is still the assumption that was written with its question."""
    return (
        pair.now.kind == "cpu"
        and pair.before.kind == "assumed"
        and " ".join(pair.before.text.split()) == _ASSUMED_COST
    )


def _is_renewable(pair: _Pair) -> bool:
    """Return whether a number is observed as it was, and only its numbers differ in form."""
    old, new = pair.before, pair.now
    if old.kind != new.kind or (old.evidence is None) != (new.evidence is None):
        return False
    return without_numbers(old.text) - without_numbers(new.text) <= _INTERCHANGEABLE


def _idle_of_one(
    old: Mapping[Key, ObservedNumber], new: Mapping[Key, ObservedNumber]
) -> frozenset[str]:
    """Return the costs whose share without requests only one of the specs has apart."""
    apart = {key for key in old if key[0] == "idle"} ^ {key for key in new if key[0] == "idle"}
    return frozenset(f"{key[1].removesuffix('_machine')}_cpu" for key in apart)


def _own(pair: _Pair, text: str) -> Iterator[UnchangedNumber]:
    """Yield a number that stays, where it is not what was observed anyway."""
    old, new = (" ".join(one.text.split()) for one in (pair.before, pair.now))
    if old != new and pair.now.kind not in _FOLLOWING:
        line = text.count("\n", 0, pair.before.start) + 1
        yield UnchangedNumber(name=pair.before.name, line=line, text=old, observed=new)


def _edits(pair: _Pair, now: str) -> Iterator[Replacement]:
    """Yield what stands instead of what, from where to where: the number, and its evidence."""
    old, new = pair.before, pair.now
    if " ".join(old.text.split()) != " ".join(new.text.split()):
        yield old.start, old.end, new.text
    if new.evidence is None or new.kind in ("share", "size"):
        return
    source = now[new.evidence.start : new.evidence.end]
    if old.evidence is not None and old.evidence.text != new.evidence.text:
        yield old.evidence.start, old.evidence.end, source
    elif old.evidence is None and old.source is not None:
        start, end = old.source
        yield start, end, source if end > start else f" source {source}"


def edited(source: Source, edits: Collection[Replacement]) -> str:
    """Return a text with edits; laid out where it was."""
    text, parts, done = source.text, [], 0
    for start, end, new in sorted(set(edits)):
        if start >= done:
            parts += [text[done:start], new]
            done = end
    after = "".join([*parts, text[done:]])
    if after == text or formatted(source).value != text:
        return after
    laid_out = formatted(Source(label=source.label, text=after)).value
    return after if laid_out is None else laid_out


_NAMED_KEYS = ("node", "route", "call")


def _only_in(
    some: Mapping[Key, ObservedNumber], others: Mapping[Key, ObservedNumber]
) -> tuple[str, ...]:
    """Return the services, kinds of requests and calls of one that the other does not have.

    Of what is part of another one, only the outermost is named.
    """
    found: dict[Key, str] = {}
    for key, one in some.items():
        is_observed = one.evidence is not None or key[0] == "node"
        if key[0] not in _NAMED_KEYS or key in others or not is_observed:
            continue
        path = key[1:-1]
        inside = [("route", path[0]), *(("call", *path[:n]) for n in range(2, len(path)))]
        if key[0] == "call" and any((*outer, "1") in found for outer in inside):
            continue
        found[key] = phrase(f"update.found.{key[0]}", name=" > ".join(key[1:-1]))
    return tuple(found.values())
