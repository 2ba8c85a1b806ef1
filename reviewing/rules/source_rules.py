"""What backs the numbers of a spec, before and after: sources and measured tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.parameter_names import names_in
from qps.reviewing.rules.plain_values import new_name, plain
from qps.reviewing.rules.strictness import Move, compared
from qps.reviewing.rules.weakening import Weakening, said

_REQUIREMENT_KINDS = ("users", "target", "requirement")
"""What is no measured number: which way it moved, other rules say."""

_Key: TypeAlias = tuple[Hashable, ...]


class _Cited(Struct, frozen=True, kw_only=True):
    """What has a source: what it is called, what it says, and where that stands."""

    name: str
    value: Hashable
    rests_on: Hashable
    source: str
    span: Span


def source_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield the numbers that no longer are what their source was cited for."""
    before, after = _cited(old), _cited(new)
    reported: set[tuple[Span, str]] = set()
    for key, one in before.items():
        other = after.get(key)
        if not one.source or other is None or one.source == other.source == "":
            continue
        is_same = one.value == other.value
        if (is_same and one.rests_on == other.rests_on) and one.source != other.source:
            now = f"`{other.source}`" if other.source else "none"
            message = f"{one.name} is unchanged, but its source changed: `{one.source}` -> {now}"
        elif not is_same and one.source == other.source and key[0] not in _REQUIREMENT_KINDS:
            message = f"{one.name} changed, but its source is still `{one.source}`"
        else:
            continue
        if (other.span, message) not in reported:  # a component that several streams visit
            reported.add((other.span, message))
            yield Weakening(rule="source-changed", message=message, span=other.span)


def _cited(reader: ConditionReader) -> dict[_Key, _Cited]:
    """Return what could have a source, by where it is declared."""
    model, renamed = reader.model, reader.renamed
    found: dict[_Key, _Cited] = {}
    roots: list[tuple[tuple[str, ...], Any]] = [
        *((("parameter", one.name), one) for one in model.parameters if one.place is None),
        *((("option", one.name), one) for one in model.options),
        *((("machine", name), one) for name, one in model.machines.items()),
        *((("network", name), one) for name, one in model.networks.items()),
        *((("node", one.name), one) for one in model.nodes),
        *((("link", one.name), one) for one in model.links),
        *((("group", one.name), one) for one in model.groups),
        *((("stream", one.name), one) for one in model.streams),
        *((("measure", one.name), one) for one in model.measures),
        *((("target", one.full_name), one) for one in model.targets),
        (("users", ""), model.population),
    ]
    for way, root in roots:
        kind, name = way
        called = f"{kind} `{name}`" if name else f"the range of {kind}"
        _collect((kind, new_name(name, renamed)), called, root, reader, found)
    for one in model.requirements:
        key = ("requirement", "".join(one.measure.span.text.split()), one.at_most)
        parts = (one.measure, one.limit, one.strict)
        found[key] = _Cited(
            name=f"requirement `{said(one.span)}`",
            value=plain(parts, renamed),
            rests_on=_rests_on(parts, reader),
            source=one.limit.source or one.measure.source or "",
            span=one.span,
        )
    return found


def _collect(
    key: _Key, name: str, one: object, reader: ConditionReader, found: dict[_Key, _Cited]
) -> None:
    """Put what has a source into a table, with all that it is made of."""
    if isinstance(one, Struct):
        fields = one.__struct_fields__
        if len(key) > _OF_ROOT and isinstance(one, ir.Component):
            name = f"component `{one.name}`"
        span = getattr(one, "span", None)
        if "source" in fields and isinstance(span, Span):
            called = f"`{said(span)}`" if isinstance(one, ir.Quantity) else name
            source = getattr(one, "source", None)
            found[key] = _Cited(
                name=called,
                value=_number(one, reader.renamed),
                rests_on=_rests_on(one, reader),
                source=source if isinstance(source, str) else "",
                span=span,
            )
        for field in fields:
            if field not in ("span", "source", "value_span", "fit"):
                _collect((*key, field), name, getattr(one, field), reader, found)
    elif isinstance(one, tuple | list):
        for index, part in enumerate(one):
            _collect((*key, getattr(part, "name", index)), name, part, reader, found)


_OF_ROOT = 2


def _number(one: Struct, renamed: Mapping[str, str]) -> Hashable:
    """Return what a source is cited for: of a parameter its value, of all else all of it."""
    if not isinstance(one, ir.Parameter):
        return plain(one, renamed)
    return one.value.value if isinstance(one.value, ir.Constant) else plain(one.value, renamed)


def _rests_on(one: object, reader: ConditionReader) -> Hashable:
    """Return the values of the parameters that something names: it is another one with these."""
    return frozenset((new_name(n, reader.renamed), reader.value(n)) for n in names_in(one))


def observation_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield the tables of measurements that judge less, or have other values than before."""
    after = {one.name: one for one in new.model.observations}
    taken = {one.name for one in old.model.observations}
    for one in old.model.observations:
        other = after.get(one.name) or _same_table(one, [*after.values()], taken)
        if other is None:
            yield Weakening(
                rule="claim-removed",
                message=f"observation `{one.name}` was removed: {len(one.rows):,} rows",
                span=one.span,
                is_before=True,
                claim=one.name,
            )
            continue
        yield from _columns(old, new, one, other)
        yield from _rows(old, new, one, other)
        if one.missed is None and other.missed is not None:
            yield Weakening(
                rule="claim-loosened",
                message=f"observation `{other.name}` is marked `missed`",
                span=other.span,
                claim=other.name,
            )


def _same_table(
    one: ir.Observation, others: list[ir.Observation], names: set[str]
) -> ir.Observation | None:
    """Return the observation of a file of the same name under a name that is new.

    Its folder may be another one, as that of the old version, or of a spec that was moved, is.
    """
    file = Path(one.file).name
    return next((o for o in others if Path(o.file).name == file and o.name not in names), None)


def _columns(
    old: ConditionReader, new: ConditionReader, one: ir.Observation, other: ir.Observation
) -> Iterator[Weakening]:
    after = {column.heading: column for column in other.measured}
    for index, column in enumerate(one.measured):
        now = after.get(column.heading)
        if now is None:
            yield Weakening(
                rule="claim-loosened" if column.tolerance else "claim-changed",
                message=f"observation `{one.name}` no longer has `{said(column.span)}`",
                span=other.span,
                claim=other.name,
            )
            continue
        was, is_now = old.observed(column, None), new.observed(now, None)
        if was.exact == is_now.exact or was.shape == is_now.shape:
            moved = compared(was, is_now)
            how = f" ({moved.how})" if moved.how else ""
            is_looser, is_other = moved.move is Move.LOOSER, moved.move is Move.OTHER
        elif was.terms == is_now.terms and column.tolerance and now.tolerance:
            values = [row.values[index] for row in one.rows]
            wider = _wider(column.tolerance, now.tolerance, values)
            is_looser, is_other, how = wider > 0, False, f" (wider in {wider:,} rows)"
        elif column.tolerance is not None and now.tolerance is None:
            is_looser, is_other, how = True, False, " (no longer judged)"
        else:
            is_looser, is_other, how = False, True, ""
        if is_looser or is_other:
            yield Weakening(
                rule="claim-loosened" if is_looser else "claim-changed",
                message=f"observation `{other.name}`: `{said(column.span)}` -> "
                f"`{said(now.span)}`{how}",
                span=now.span,
                claim=other.name,
            )


def _wider(old: ir.Tolerance, new: ir.Tolerance, values: Sequence[Fraction | None]) -> int:
    """Return in how many rows more is let pass, of a share of the measured value or an amount."""
    measured = [abs(value) for value in values if value is not None]
    rooms = (
        [one.amount * value if one.relative else one.amount for value in measured]
        for one in (old, new)
    )
    return sum(is_now > was for was, is_now in zip(*rooms, strict=True))


def _rows(
    old: ConditionReader, new: ConditionReader, one: ir.Observation, other: ir.Observation
) -> Iterator[Weakening]:
    headings = [column.heading for column in one.measured]
    before, after = _measured(old, one), _measured(new, other)
    gone = sum(max(0, len(rows) - len(after.get(key, ()))) for key, rows in before.items())
    if gone:
        yield Weakening(
            rule="claim-loosened",
            message=f"observation `{other.name}`: {gone:,} of {len(one.rows):,} rows were removed",
            span=other.span,
            claim=other.name,
        )
    new_headings = {column.heading: index for index, column in enumerate(other.measured)}
    moved = 0
    for key, rows in before.items():
        now = sorted(after.get(key, ()), key=repr)
        for was, is_now in zip(sorted(rows, key=repr), now, strict=False):
            moved += any(
                heading in new_headings and was[index] != is_now[new_headings[heading]]
                for index, heading in enumerate(headings)
            )
    if moved and one.source == other.source:
        yield Weakening(
            rule="source-changed",
            message=f"observation `{other.name}`: {moved:,} of {len(one.rows):,} rows have "
            "different values, but the source is the same",
            span=other.span,
            claim=other.name,
        )
    elif not moved and not gone and one.source is not None and one.source != other.source:
        source_text = f"`{other.source}`" if other.source else "none"
        yield Weakening(
            rule="source-changed",
            message=f"observation `{other.name}` is unchanged, but its source changed: "
            f"`{one.source}` -> {source_text}",
            span=other.span,
            claim=other.name,
        )


def _measured(
    reader: ConditionReader, one: ir.Observation
) -> dict[Hashable, list[tuple[Any, ...]]]:
    """Return what was measured, by what a row sets."""
    found: dict[Hashable, list[tuple[Any, ...]]] = {}
    for row in one.rows:
        found.setdefault(reader.context(row.changes), []).append(row.values)
    return found
