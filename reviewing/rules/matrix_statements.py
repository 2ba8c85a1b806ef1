"""What is claimed of the configurations of a matrix, before and after."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from msgspec import Struct

from qps.compiler import ir
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.constraints import Constraint
from qps.reviewing.rules.plain_values import new_name
from qps.reviewing.rules.strictness import Move, Moved, conjunction, together, turned

_STRICTNESS = (ir.Quantifier.SOME, ir.Quantifier.AT_LEAST, ir.Quantifier.EVERY)
_AGAINST = (ir.Quantifier.NO, ir.Quantifier.AT_MOST)
"""What is claimed not to be so: a laxer condition is a stricter claim."""


class MatrixStatement(Struct, frozen=True, kw_only=True):
    """Of how many configurations of a matrix, of those `where` some hold, conditions hold."""

    quantifier: ir.Quantifier
    count: int
    matrix: str
    where: tuple[Constraint, ...]
    condition: tuple[Constraint, ...]

    @property
    def exact(self) -> Hashable:
        """What it says, wherever it stands."""
        return (self.quantifier.value, self.count, self.matrix, self.where, self.condition)


def statements(reader: ConditionReader, claim: ir.MatrixClaim) -> Iterator[MatrixStatement]:
    """Yield what a claim says of a matrix."""
    yield MatrixStatement(
        quantifier=claim.quantifier,
        count=claim.count,
        matrix=new_name(claim.matrix, reader.renamed),
        where=() if claim.where is None else reader.constraints(claim.where),
        condition=reader.constraints(claim.condition),
    )


def compared_statements(old: MatrixStatement, new: MatrixStatement) -> Moved:
    """Return which way a claim about a matrix moved."""
    is_against = old.quantifier in _AGAINST
    if is_against is not (new.quantifier in _AGAINST):
        return Moved(Move.OTHER, "of other configurations")
    condition = conjunction(old.condition, new.condition)
    where = _where(old, new)
    count = _count(old, new, is_against=is_against)
    if is_against:
        return together([turned(condition), where, count])
    is_of_all = old.quantifier is ir.Quantifier.EVERY
    return together([condition, where if is_of_all else turned(where), count])


def _where(old: MatrixStatement, new: MatrixStatement) -> Moved:
    """Return which way a claim about all of some configurations moved: fewer are looser."""
    moved = turned(conjunction(old.where, new.where))
    if moved.move is Move.LOOSER:
        return Moved(Move.LOOSER, "of fewer configurations")
    return Moved(moved.move, "of more configurations") if moved.move is Move.TIGHTER else moved


def _count(old: MatrixStatement, new: MatrixStatement, *, is_against: bool) -> Moved:
    """Return which way the number of configurations moved."""
    if (old.quantifier, old.count) == (new.quantifier, new.count):
        return Moved(Move.SAME)
    how = f"{_describe(old)} -> {_describe(new)}"
    if is_against:
        most = [one.count if one.quantifier is ir.Quantifier.AT_MOST else 0 for one in (old, new)]
        return Moved(Move.LOOSER if most[1] > most[0] else Move.TIGHTER, how)
    ranks = [(_STRICTNESS.index(one.quantifier), one.count) for one in (old, new)]
    return Moved(Move.LOOSER if ranks[1] < ranks[0] else Move.TIGHTER, how)


def _describe(one: MatrixStatement) -> str:
    if one.quantifier in (ir.Quantifier.AT_LEAST, ir.Quantifier.AT_MOST):
        return f"at {one.quantifier.value} {one.count}"
    return str(one.quantifier.value)
