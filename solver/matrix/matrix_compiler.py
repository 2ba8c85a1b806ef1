"""Compiles a matrix: its structures are lowered, each once, and turned into programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from qps.compiler import ir
from qps.compiler.lower.certainty_requirements import confidence_requirement, without_certainty
from qps.compiler.quantities.dimension import TIME_BASE
from qps.solver.matrix.compilation.compiled_matrix import (
    CompiledBlock,
    CompiledGroup,
    CompiledMatrix,
)
from qps.solver.matrix.compilation.confidence_rows import ConfidenceModel, confidence_rows
from qps.solver.matrix.compilation.group_compiler import GroupCompiler
from qps.solver.matrix.compilation.numbered_counts import with_numbered_counts
from qps.solver.matrix.compilation.row_questions import FormulaOf, quantile_levels, question_of
from qps.solver.matrix.compilation.structures import ConfigurationGroup, structure_of
from qps.solver.matrix.rows.row_quantiles import Drawing

DrawnOf = Callable[[ir.Model, ir.Matrix], Drawing | None]
"""Draws what is not known in the rows of a matrix; None where all is known."""


def compile_matrix(
    model: ir.Model,
    matrix: ir.Matrix,
    claims: Sequence[ir.MatrixClaim] = (),
    drawn: DrawnOf | None = None,
    at_confidence: ConfidenceModel | None = None,
    further: tuple[FormulaOf, ...] = (),
) -> CompiledMatrix:
    """Return a matrix compiled; QpsError where it is too varied to be.

    `drawn` is used where quantiles of the answer are, `at_confidence` where requirements state a
    confidence level: without them nothing requests any. `further` columns follow those of
    the matrix.
    """
    model, matrix = with_numbered_counts(model, matrix)
    promised = confidence_rows(model, matrix, at_confidence)
    if model.derived(confidence_requirement) is not None:
        model = model.derived(without_certainty)
    question = question_of(matrix, claims, further)
    quantiles, sampled, drawing = quantile_levels(question), None, None
    if quantiles:
        assert drawn is not None, "quantiles of what is drawn nowhere"
        drawing = drawn(model, matrix)
    if drawing is not None:
        sampled = compile_matrix(model, _sampled(matrix, drawing.axis))
    blocks = []
    for axes in matrix.blocks:
        structure = structure_of(model, matrix, axes)
        compiler = GroupCompiler(model=model, matrix=matrix, structure=structure, question=question)
        blocks.append(CompiledBlock(structure, compiler.groups()))
    modes = [mode for block in blocks for group in block.groups for mode in group.modes]
    resources = dict.fromkeys(resource.name for mode in modes for resource in mode.resources)
    prices = [machine.price for machine in model.machines.values()]
    prices += [network.price for network in model.networks.values()]
    running = any(p is not None and TIME_BASE in p.dimension.bases for p in prices)
    words = sorted({word for block in blocks for word in _words(block)})
    return CompiledMatrix(
        model=model,
        matrix=matrix,
        question=question,
        blocks=tuple(blocks),
        words=("", *words),
        resources=tuple(resources),
        has_running_cost=running,
        quantiles=quantiles,
        sampled=sampled,
        sample_solver=None if drawing is None else drawing.solver,
        confidence_rows=promised,
    )


def _sampled(matrix: ir.Matrix, axis: ir.Axis) -> ir.Matrix:
    """Return a matrix with what is drawn as its last axis, for its answers alone."""
    return structs.replace(
        matrix,
        blocks=tuple((*block, axis) for block in matrix.blocks),
        excluded=(),
        wanted=None,
        columns=(),
        selected=(),
        order=(),
        at=None,
    )


def compile_like(compiled: CompiledMatrix, block: int, index: tuple[int, ...]) -> CompiledGroup:
    """Return the configurations compiled that have the structure of one of them.

    It has no modes where a number that varies has gone into the structure of that one, or where
    that one has no answer.
    """
    group = _group_of(compiled, block, index, is_alone=False)
    options = {name for mode in group.modes for name in mode.decided}
    axes = compiled.blocks[block].structure.axes
    varied = (one.name for axis in axes for one in axis.varied)
    is_apart = group.is_sound and options.isdisjoint(varied)
    return group if is_apart else replace(group, modes=())


def compile_structure(
    compiled: CompiledMatrix, block: int, index: tuple[int, ...]
) -> tuple[CompiledGroup, frozenset[str]]:
    """Return the configurations compiled that have the structure of one, and what settles that.

    Those are the numbers that have gone into the structure: it is that of all that have the same
    ones, and the same choices. It has no modes where that one has no answer.
    """
    decided = frozenset[str]()
    varied = {one.name for axis in compiled.blocks[block].structure.axes for one in axis.varied}
    while True:
        group = _group_of(compiled, block, index, is_alone=False, fixed=decided)
        options = varied & {name for mode in group.modes for name in mode.decided}
        if options <= decided:
            return (group if group.is_sound else replace(group, modes=())), decided
        decided |= options


def compile_alone(compiled: CompiledMatrix, block: int, index: tuple[int, ...]) -> CompiledGroup:
    """Return one configuration compiled by itself; QpsError where it has no answer."""
    return _group_of(compiled, block, index, is_alone=True)


def _group_of(
    compiled: CompiledMatrix,
    block: int,
    index: tuple[int, ...],
    *,
    is_alone: bool,
    fixed: frozenset[str] = frozenset(),
) -> CompiledGroup:
    """Return a group compiled by one of its configurations, and no other."""
    compiler = GroupCompiler(
        model=compiled.model,
        matrix=compiled.matrix,
        structure=replace(compiled.blocks[block].structure, deciding=tuple(range(len(index)))),
        question=compiled.question,
        is_alone=is_alone,
        fixed=fixed,
    )
    return compiler.compiled([compiler.drafted(ConfigurationGroup(index, index))])[0]


def _words(block: CompiledBlock) -> Iterator[str]:
    """Yield every text that a row of a block may hold."""
    for group in block.groups:
        yield from () if group.reason is None else (group.reason,)
        for mode in group.modes:
            yield from (criterion.name for criterion in mode.criteria)
            yield from (resource.name for resource in mode.resources)
            for guard in mode.guards:
                yield from (reason for reason in (guard.below, guard.above) if reason)
