"""What is claimed of a spec, before and after: claims removed, loosened, changed.

Claims are compared by what they say, not by name or place. Each part of an old claim must be
implied by what is claimed now; what is not is compared with the claim that is likest to it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.constraints import Constraint
from qps.reviewing.rules.matrix_statements import MatrixStatement, compared_statements, statements
from qps.reviewing.rules.strictness import Move, Moved, compared, implied, together
from qps.reviewing.rules.weakening import Weakening, said


class _Part(Struct, frozen=True, kw_only=True):
    """A part of a claim: what it says, in which claim, and why it is known to be missed."""

    name: str
    says: Constraint | MatrixStatement
    span: Span
    missed: bool
    source: str | None = None

    @property
    def content(self) -> Hashable:
        """What it says, wherever it stands."""
        ends = (self.says.low, self.says.high) if isinstance(self.says, Constraint) else ()
        return (self.says.exact, ends, self.missed)


def claim_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield which claims say less now, or something else."""
    before, after = [*_parts(old)], [*_parts(new)]
    open_parts = [one for one in before if not _is_implied(one, after)]
    taken = {one.content for one in before if one not in open_parts}
    left = [one for one in after if one.content not in taken]
    pairs = dict(_pairs(open_parts, left))
    for span in dict.fromkeys(one.span for one in open_parts):
        own = [one for one in open_parts if one.span == span]
        lost = [one for one in own if id(one) not in pairs]
        others = [one for one in before if one.span == span and one not in open_parts]
        if len(lost) == len(own) and not others:
            content = frozenset(one.content for one in own)
            message = f"claim `{own[0].name}` was removed: `{said(span)}`"
            yield Weakening(
                rule="claim-removed",
                message=message,
                span=span,
                is_before=True,
                claim=own[0].name,
                content=content,
            )
            continue
        found = _weakened(span, own, pairs, after, others)
        if found is not None:
            yield found
    yield from _sources(before, after)


def claimed_contents(reader: ConditionReader) -> frozenset[Hashable]:
    """Return all that is claimed of a model."""
    return frozenset(one.content for one in _parts(reader))


def _weakened(
    span: Span,
    own: Sequence[_Part],
    pairs: dict[int, _Part],
    after: Sequence[_Part],
    others: Sequence[_Part],
) -> Weakening | None:
    """Return what became of a claim of which some is still claimed, or something like it."""
    moves, place = [], None
    for one in own:
        other = pairs.get(id(one))
        if other is None:
            moves.append(Moved(Move.LOOSER, "a part of it is no longer claimed"))
        else:
            place = place or other
            moves.append(_compared(one, other))
    where = place or next((n for n in after if any(n.content == o.content for o in others)), None)
    if where is None:  # what is left of it follows from several other claims
        where_span, is_before = span, True
    else:
        where_span, is_before = where.span, False
    move = together(moves)
    if move.move in (Move.SAME, Move.TIGHTER):
        return None
    is_looser = move.move is Move.LOOSER
    was, is_now = said(span), said(where_span)
    texts = f"`{was}`" if was == is_now else f"`{was}` -> `{is_now}`"
    word = "was weakened" if is_looser else "changed"
    how = f" ({move.how})" if move.how else ""
    return Weakening(
        rule="claim-loosened" if is_looser else "claim-changed",
        message=f"claim `{own[0].name}` {word}: {texts}{how}",
        span=where_span,
        is_before=is_before,
        claim=own[0].name,
    )


def _is_implied(one: _Part, after: Sequence[_Part]) -> bool:
    """Return whether a part of a claim follows from what is claimed now."""
    if isinstance(one.says, MatrixStatement):
        return any(one.content == other.content for other in after)
    alike = [
        other.says
        for other in after
        if isinstance(other.says, Constraint) and (one.missed or not other.missed)
    ]
    return implied(one.says, alike)


def _pairs(before: Sequence[_Part], after: list[_Part]) -> Iterator[tuple[int, _Part]]:
    """Yield the old parts, by their identity, with the new ones that are likest to each."""
    ways: tuple[Callable[[_Part, _Part], bool], ...] = (
        lambda one, other: one.name == other.name and _is_like(one, other),
        _is_like,
        lambda one, other: one.name == other.name,
    )
    open_parts = list(before)
    left = list(after)
    for is_alike in ways:
        for one in list(open_parts):
            other = next((other for other in left if is_alike(one, other)), None)
            if other is not None:
                left.remove(other)
                open_parts.remove(one)
                yield id(one), other


def _is_like(one: _Part, other: _Part) -> bool:
    """Return whether two parts are about the same, on the same side."""
    if isinstance(one.says, MatrixStatement) or isinstance(other.says, MatrixStatement):
        return (
            isinstance(one.says, MatrixStatement)
            and isinstance(other.says, MatrixStatement)
            and one.says.matrix == other.says.matrix
        )
    sides = [
        (one.says.low, other.says.low),
        (one.says.high, other.says.high),
    ]
    is_one_sided = any(a is not None and b is not None for a, b in sides)
    has_none = all(a is None and b is None for a, b in sides)
    return one.says.shape == other.says.shape and (is_one_sided or has_none)


def _compared(one: _Part, other: _Part) -> Moved:
    if isinstance(one.says, MatrixStatement) or isinstance(other.says, MatrixStatement):
        if isinstance(one.says, MatrixStatement) and isinstance(other.says, MatrixStatement):
            moved = compared_statements(one.says, other.says)
        else:
            moved = Moved(Move.OTHER)
    elif other.says.alternatives or other.says.is_always_so:
        moved = compared(one.says, other.says)
    elif one.says.shape != other.says.shape:
        moved = Moved(Move.OTHER)
    else:
        moved = compared(one.says, other.says)
    if other.missed and not one.missed:
        return together([moved, Moved(Move.LOOSER, "it is marked `missed`")])
    return moved


def _parts(reader: ConditionReader) -> Iterator[_Part]:
    for expectation in reader.model.expectations:
        for claim in expectation.claims:
            for says in _says(reader, claim):
                yield _part(expectation, claim.span, says)
        for matrix_claim in expectation.matrix_claims:
            for statement in statements(reader, matrix_claim):
                yield _part(expectation, matrix_claim.span, statement)


def _part(expectation: ir.Expectation, span: Span, says: Constraint | MatrixStatement) -> _Part:
    origin = expectation.origin
    whose = "" if origin is ir.Origin.PUBLISHED else f"source {origin.value}:"
    return _Part(
        name=expectation.name,
        says=says,
        span=span,
        missed=expectation.missed is not None,
        source=" ".join([whose, expectation.source or ""]).strip(" :") or None,
    )


def _says(reader: ConditionReader, claim: ir.Claim) -> Iterator[Constraint]:
    if isinstance(claim.value, ir.Quantity):
        if claim.claimed is not None and claim.tolerance is not None:
            yield reader.within(claim.value, claim.claimed, claim.tolerance, claim.changes)
    else:
        yield from reader.constraints(claim.value, claim.changes)
    if claim.simulated is not None:
        for measure in claim.simulated.measures:
            yield reader.simulated(measure, claim.simulated.tolerance, claim.changes)


def _sources(before: Sequence[_Part], after: Sequence[_Part]) -> Iterator[Weakening]:
    """Yield the claims that say the same by another word, or by nobody's."""
    cited, now_cited = _cited(before), _cited(after)
    reported: set[Span] = set()
    for one in after:
        lost = cited.get(one.content, {}).keys() - now_cited[one.content].keys() - {None}
        is_new = one.source not in cited.get(one.content, {})
        if not lost or not is_new or one.span in reported:
            continue
        reported.add(one.span)
        was = min(source for source in lost if source)
        now = f"`{one.source}`" if one.source else "none"
        yield Weakening(
            rule="source-changed",
            message=f"claim `{one.name}` is unchanged, but its source changed: `{was}` -> {now}",
            span=one.span,
            claim=one.name,
        )


def _cited(parts: Sequence[_Part]) -> dict[Hashable, dict[str | None, None]]:
    """Return by whose words each thing is claimed."""
    found: dict[Hashable, dict[str | None, None]] = {}
    for one in parts:
        found.setdefault(one.content, {})[one.source] = None
    return found
