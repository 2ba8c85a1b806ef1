"""Requirements in force: of all, of a mode; of what is said twice of a measure, the tighter."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from qps.compiler import ir
from qps.compiler.ir.parts import subjects
from qps.compiler.lower.requirements.quality_axes import what_is_limited


def requirements_in_force(
    model: ir.Model, mode: str | None, absent: AbstractSet[str] = frozenset()
) -> tuple[ir.Requirement, ...]:
    """Return the requirements of all, and those of the mode that is in force.

    Of streams that are `absent`, whose conditions do not hold, nothing is required.

    What the mode requires of a measure takes the place of what is required of it in the same
    direction of all: two limits of one measure would make two axes, and count it twice. So would
    those of an instance and of the spec that uses it: of two numbers, the tighter one is left.
    """
    own = [item for one in model.modes if one.name == mode for item in one.requirements]
    replaced = {what_is_limited(item) for item in own}
    requirements = (*(r for r in model.requirements if what_is_limited(r) not in replaced), *own)
    return _tightest(r for r in requirements if absent.isdisjoint(subjects(r.measure, r.limit)))


def _tightest(requirements: Iterable[ir.Requirement]) -> tuple[ir.Requirement, ...]:
    """Return requirements without those that others imply, each in the place of the first alike."""
    alike: dict[tuple[str, bool], list[ir.Requirement]] = {}
    for requirement in requirements:
        equivalent = alike.setdefault(what_is_limited(requirement), [])
        for place, other in enumerate(equivalent):
            if _implies(other, requirement):
                break
            if _implies(requirement, other):
                equivalent[place] = requirement
                break
        else:
            equivalent.append(requirement)
    return tuple(one for equivalent in alike.values() for one in equivalent)


def _implies(one: ir.Requirement, other: ir.Requirement) -> bool:
    """Return whether a requirement is at least as tight as one on the same measure.

    Numbers show that; limits that parameters state may move, and ideals make axes of their own.
    What holds with the numbers as they are stated need not with certainty, and the other way.
    """
    if (one.certainty is None) is not (other.certainty is None):
        return False
    if (one.certainty or 0) < (other.certainty or 0):
        return False
    limit, its_limit = one.limit.expr, other.limit.expr
    if not isinstance(limit, ir.Constant) or not isinstance(its_limit, ir.Constant):
        return False
    if one.measure.expr != other.measure.expr or _ideal(one) != _ideal(other):
        return False
    if limit.value == its_limit.value:
        return one.strict or not other.strict
    return (limit.value < its_limit.value) == one.at_most


def _ideal(requirement: ir.Requirement) -> ir.Expr | None:
    return None if requirement.ideal is None else requirement.ideal.expr
