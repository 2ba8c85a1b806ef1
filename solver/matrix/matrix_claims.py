"""Claims about matrices: in how many configurations something holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from qps.compiler import ir
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, together
from qps.solver.answers.solution import SolverFault
from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.compilation.confidence_rows import ConfidenceModel
from qps.solver.matrix.compilation.row_questions import compared
from qps.solver.matrix.matrix_compiler import DrawnOf, compile_matrix
from qps.solver.matrix.row_ranges import MatrixSolver
from qps.solver.matrix.rows.row_block import RowBlock
from qps.solver.matrix.rows.row_conditions import condition_rows
from qps.solver.matrix.rows.scalar_fallback import FAULT

_STRETCH = 65_536


@dataclass(kw_only=True)
class MatrixClaimCounts:
    """How many configurations a claim is about, in how many it holds, and one that decides it.

    Of `faults` configurations a fault of ours left open whether it is about them, and whether it
    holds; `fault` describes one of them. `known` is how the counts are known.
    """

    claim: ir.MatrixClaim
    about: int = 0
    true_count: int = 0
    example: str | None = None
    faults: int = 0
    fault: str = ""
    known: Certainty = EXACT

    @property
    def is_true(self) -> bool:
        """Whether the claim holds. Nothing is true of every one of no configurations.

        SolverFault where that rests on a configuration of which a fault says nothing.
        """
        cases = ((0, 0), (0, self.faults), (self.faults, self.faults))
        found = {self._is_true(self.true_count + met, self.about + about) for met, about in cases}
        if len(found) > 1:
            raise SolverFault(self.fault)
        return found.pop()

    def _is_true(self, count: int, about: int) -> bool:
        match self.claim.quantifier:
            case ir.Quantifier.EVERY:
                return count == about > 0
            case ir.Quantifier.SOME:
                return count > 0
            case ir.Quantifier.NO:
                return count == 0 < about
            case ir.Quantifier.AT_LEAST:
                return count >= self.claim.count
            case ir.Quantifier.AT_MOST:
                return count <= self.claim.count

    @property
    def text(self) -> str:
        """The counts in words, with a configuration that breaks the claim."""
        if not self.about:
            return "no configuration matches"
        text = f"{self.true_count:,} of {self.about:,}"
        if self.is_true or self.example is None:
            return text
        word = "not" if self.claim.quantifier is ir.Quantifier.EVERY else "such as"
        return f"{text}; {word} {self.example}"


@dataclass
class MatrixClaimEvaluator:
    """Evaluates claims about the matrices of a model; each matrix is solved once."""

    model: ir.Model
    drawn: DrawnOf | None = None
    at_confidence: ConfidenceModel | None = None
    _counts: dict[str, dict[int, MatrixClaimCounts]] = field(default_factory=dict)

    def of(self, claim: ir.MatrixClaim) -> MatrixClaimCounts:
        """Return what becomes of one of the model's claims."""
        if claim.matrix not in self._counts:
            claims = [
                one
                for expectation in self.model.expectations
                for one in expectation.matrix_claims
                if one.matrix == claim.matrix
            ]
            self._counts[claim.matrix] = self._all(claim.matrix, claims)
        return self._counts[claim.matrix][id(claim)]

    def _all(self, name: str, claims: Sequence[ir.MatrixClaim]) -> dict[int, MatrixClaimCounts]:
        matrix = next(matrix for matrix in self.model.matrices if matrix.name == name)
        compiled = compile_matrix(self.model, matrix, claims, self.drawn, self.at_confidence)
        solver = MatrixSolver(compiled)
        judged = {
            id(claim): MatrixClaimCounts(claim=claim, known=_known(claim, compiled))
            for claim in claims
        }
        for start in range(0, compiled.size, _STRETCH):
            for rows in solver.row_blocks(start, min(compiled.size, start + _STRETCH)):
                for one in judged.values():
                    _count(one, rows)
        return judged


def _known(claim: ir.MatrixClaim, compiled: CompiledMatrix) -> Certainty:
    """Return how counts are known: what is judged by a bound may be more of them, or fewer."""
    conditions = (compiled.matrix.wanted, claim.where, claim.condition)
    comparisons = {compare for condition in conditions for compare in compared(condition)}
    labels = zip(compiled.question.comparisons, compiled.known.compared, strict=False)
    parts = [label for compare, label in labels if compare in comparisons]
    if any(_rests_on_answer(condition) for condition in conditions):
        parts.append(compiled.known.answer)
    found = together(*parts)
    return EXACT if found.is_exact else approximation(*found.because)


def _rests_on_answer(condition: ir.Condition | None) -> bool:
    """Return whether a condition requests words that rest on the largest acceptable population."""
    match condition:
        case ir.RowIs(column):
            return column in ("limited_by", "mode")
        case ir.AllOf(parts) | ir.AnyOf(parts):
            return any(_rests_on_answer(part) for part in parts)
        case ir.Negated(inner):
            return _rests_on_answer(inner)
    return False


def _count(counts: MatrixClaimCounts, rows: RowBlock) -> None:
    """Count rows for one claim."""
    claim, wanted = counts.claim, rows.compiled.matrix.wanted
    about = rows.included & ~rows.faulted
    for condition in (wanted, claim.where):
        if condition is not None:
            about &= condition_rows(rows, condition)
    met = about & condition_rows(rows, claim.condition)
    counts.about += int(about.sum())
    counts.true_count += int(met.sum())
    faulted = rows.included & rows.faulted
    counts.faults += int(faulted.sum())
    if faulted.any() and not counts.fault:
        row = int(np.argmax(faulted))
        counts.fault = f"{rows.texts[row].removeprefix(FAULT)}, at {_named(rows, row)}"
    deciding = about & ~met if claim.quantifier is ir.Quantifier.EVERY else met
    if counts.example is None and deciding.any():
        counts.example = _named(rows, int(np.argmax(deciding)))


def _named(rows: RowBlock, row: int) -> str:
    """Return what distinguishes a configuration from the others."""
    axes = rows.compiled.blocks[rows.block].structure.axes
    pairs = zip(axes, rows.index, strict=True)
    return ", ".join(f"{axis.name} = {axis.value_label(int(index[row]))}" for axis, index in pairs)
