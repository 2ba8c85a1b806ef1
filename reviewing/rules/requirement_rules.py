"""What a spec requires, before and after: requirements, their certainty, targets, modes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.constraints import Constraint
from qps.reviewing.rules.plain_values import new_name
from qps.reviewing.rules.strictness import Move, Moved, compared, implied, together
from qps.reviewing.rules.weakening import Weakening, said


class _StatedRequirement(Struct, frozen=True, kw_only=True):
    """A requirement and what it says."""

    of: ir.Requirement
    says: Constraint

    @property
    def certainty(self) -> Fraction:
        """In which share of samples it must hold; 0 where it is judged by typical values."""
        return self.of.certainty or Fraction(0)


def requirement_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield which requirements are weaker now, which are gone, and which modes are."""
    before = {new_name(mode.name, old.renamed): mode for mode in old.model.modes}
    after = {mode.name: mode for mode in new.model.modes}
    for name, mode in before.items():
        if name not in after:
            yield _gone("mode-removed", "mode", mode.name, mode)
    # Added modes only require more; where none was before, one of the new must require all.
    same = [mode for mode in new.model.modes if mode.name in before]
    is_first = not same and bool(new.model.modes)
    modes: list[ir.Mode | None] = [*(same or new.model.modes)] or [None]
    where: dict[Weakening, list[str]] = {}
    modes_of: dict[Span, set[str]] = {}
    weakenings: dict[Weakening, Span] = {}
    for now in modes:
        was = [*_in_force(old, before.get(now.name) if now else None)]
        is_now = [*_in_force(new, now, is_named=not is_first)]
        exact = {one.says.exact for one in was}
        for one in was:
            # What was required before is not what became of another requirement.
            left = [
                n for n in is_now if n.says.exact == one.says.exact or n.says.exact not in exact
            ]
            found = _requirement(one, left)
            if found is not None:
                name = now.name if now else ""
                where.setdefault(found, []).append(name)
                modes_of.setdefault(one.of.span, set()).add(name)
                weakenings[found] = one.of.span
    for weakened, names in where.items():
        if is_first and len(modes_of[weakenings[weakened]]) < len(modes):
            continue
        in_some = f" in mode `{'`, `'.join(names)}`" if len(names) < len(modes) else ""
        yield replace(weakened, message=f"{weakened.message}{in_some}")
    yield from _targets(old, new)
    yield from _closer_targets(old, new)
    yield from _quality(old, new)


def _in_force(
    reader: ConditionReader, mode: ir.Mode | None, *, is_named: bool = True
) -> Iterator[_StatedRequirement]:
    """Yield what is required in a mode: its own in place of what is required of all.

    One that is not `is_named` is only what it changes.
    """
    changes: tuple[ir.Change, ...] = () if mode is None else mode.changes
    if mode is not None and is_named:
        changes = (ir.SetMode(mode.name, mode.changes, mode.span),)
    own = () if mode is None else mode.requirements
    replaced = {(_text(one), one.at_most) for one in own}
    for one in (*(r for r in reader.model.requirements if _key(r) not in replaced), *own):
        yield _StatedRequirement(of=one, says=reader.limited(one, changes))


def _key(one: ir.Requirement) -> tuple[str, bool]:
    return (_text(one), one.at_most)


def _text(one: ir.Requirement) -> str:
    return "".join(one.measure.span.text.split())


def _requirement(old: _StatedRequirement, now: list[_StatedRequirement]) -> Weakening | None:
    """Return what became of a requirement; nothing where it is as strict."""
    sure = [one.says for one in now if one.certainty >= old.certainty]
    ideal = _ideal(old, now)
    if implied(old.says, sure) and ideal is None:
        return None
    text = said(old.of.span)
    alike = [one for one in now if one.says.shape == old.says.shape]
    alike = [one for one in alike if one.of.at_most is old.of.at_most]
    exact = [one for one in alike if one.says.exact == old.says.exact]
    other = next(iter(exact or alike), None)
    if other is None:
        return Weakening(
            rule="requirement-loosened",
            message=f"`{text}` is no longer required",
            span=old.of.span,
            is_before=True,
        )
    moved = together(
        [compared(old.says, other.says), _certainty(old, other), *([ideal] if ideal else [])]
    )
    if moved.move in (Move.SAME, Move.TIGHTER):
        return None
    is_now = said(other.of.span)
    texts = f"`{text}`" if text == is_now else f"`{text}` -> `{is_now}`"
    return Weakening(
        rule="requirement-loosened",
        message=f"a requirement was weakened: {texts} ({moved.how})",
        span=other.of.span,
    )


def _certainty(old: _StatedRequirement, new: _StatedRequirement) -> Moved:
    if old.certainty == new.certainty:
        return Moved(Move.SAME)
    certainties = [f"{float(c) * 100:g} %" if c else "none" for c in (old.certainty, new.certainty)]
    how = f"confidence {certainties[0]} -> {certainties[1]}"
    return Moved(Move.LOOSER if new.certainty < old.certainty else Move.TIGHTER, how)


def _ideal(old: _StatedRequirement, now: list[_StatedRequirement]) -> Moved | None:
    """Return that an axis of quality is none any more, or has an easier ideal."""
    return None if old.of.ideal is None else _lost_ideal(old, now)


def _lost_ideal(old: _StatedRequirement, now: list[_StatedRequirement]) -> Moved | None:
    same = [one for one in now if one.says.exact == old.says.exact]
    if not same or any(one.of.ideal is not None for one in same):
        return None
    # Without an ideal a floor is no axis, and a ceiling is one from zero on: stricter.
    return None if old.of.at_most else Moved(Move.LOOSER, "the ideal was removed")


def _targets(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield the planning targets that are higher, or gone."""
    after = {one.full_name: one for one in new.model.targets}
    for one in old.model.targets:
        name = new_name(one.full_name, old.renamed)
        other = after.get(name)
        was = old.number(one.value.expr)
        is_now = None if other is None else new.number(other.value.expr)
        if other is None:
            closer = was is not None and any(
                (n := new.number(t.value.expr)) is not None and n <= was
                for t in new.model.targets
                if name.endswith(f".{t.name}") or name == t.name
            )
            if was is not None and was < 1 and not closer:
                yield Weakening(
                    rule="requirement-loosened",
                    message=f"target {one.full_name} {said(one.value.span)} was removed: now 100 %",
                    span=one.span,
                    is_before=True,
                )
        elif was is not None and is_now is not None and is_now > was:
            shares = [f"{float(share) * 100:g} %" for share in (was, is_now)]
            yield Weakening(
                rule="requirement-loosened",
                message=f"target {one.full_name} {shares[0]} -> {shares[1]}",
                span=other.span,
            )


def _closer_targets(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield the targets that are new, and higher than the one that held for a resource before."""
    before = [replace(t, name=new_name(t.name, old.renamed)) for t in old.model.targets]
    known = {one.full_name for one in before}
    reported: set[str] = set()
    for resource, place, is_link in _resources(new.model):
        one = _closest(before, resource, place, is_link=is_link)
        other = _closest(new.model.targets, resource, place, is_link=is_link)
        if one is None or other is None or other.full_name in known | reported:
            continue
        was, is_now = old.number(one.value.expr), new.number(other.value.expr)
        if was is not None and is_now is not None and is_now > was:
            reported.add(other.full_name)
            shares = [f"{float(share) * 100:g} %" for share in (was, is_now)]
            yield Weakening(
                rule="requirement-loosened",
                message=f"target {one.full_name} {shares[0]} -> {other.full_name} {shares[1]}",
                span=other.span,
            )


def _closest(
    targets: Sequence[ir.Target], resource: str, place: str, *, is_link: bool
) -> ir.Target | None:
    """Return the target that holds for a resource."""
    ranked = [(t.rank(resource, place, is_link=is_link), t) for t in targets]
    rank, target = max(ranked, key=lambda pair: pair[0], default=((0, 0), None))
    return target if any(rank) else None


def _resources(model: ir.Model) -> Iterator[tuple[str, str, bool]]:
    """Yield what can have a target: its name, its place, and whether that is a link."""
    for node in model.nodes:
        machine = model.machines.get(node.machine)
        for resource in machine.resources if machine is not None else ():
            yield f"{node.name}.{resource.name}", node.name, False
    for link in model.links:
        yield link.name, link.name, True


def _quality(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield that several measures near their limits count as well as one."""
    was, is_now = old.model.quality, new.model.quality
    if was.metric is ir.Metric.EUCLIDEAN and is_now.metric is ir.Metric.WORST:
        span = is_now.span or was.span
        if span is not None:
            yield Weakening(
                rule="requirement-loosened",
                message="quality euclidean -> worst: each limit applies separately",
                span=span,
                is_before=is_now.span is None,
            )


def _gone(rule: str, kind: str, name: str, one: ir.Mode | ir.Scenario) -> Weakening:
    message = f"{kind} `{name}` was removed"
    return Weakening(rule=rule, message=message, span=one.span, is_before=True)


def scenario_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield which scenarios are gone."""
    after = {one.name for one in new.model.scenarios}
    for one in old.model.scenarios:
        if new_name(one.name, old.renamed) not in after:
            yield _gone("scenario-removed", "scenario", one.name, one)
