"""What a further row of a matrix costs along the axes of a spec: `along.py SPEC [AXIS...]`.

Run as a process of its own, so that one that takes too long ends none but itself. Prints a line of
JSON for each axis: its name, us of processor for a further row, how many rows there were, and how
many of them were solved one by one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from math import prod
from pathlib import Path
from time import process_time

ROOT = Path(__file__).parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from helpers.golden_specs import choice_axes, even_axis, without_matrices  # noqa: E402 - as above
from qps.api import Model  # noqa: E402
from qps.compiler import ir  # noqa: E402
from qps.compiler.diagnostics.source import Source  # noqa: E402
from qps.compiler.pipeline import check_source  # noqa: E402
from qps.solver.matrix.row_ranges import MatrixSolver  # noqa: E402
from qps.solver.matrix.rows.row_block import RowBlock  # noqa: E402

CHOICES = "choices"
_COUNTS = (2, 16, 256, 4096, 65_536)
_BUDGET = 0.6  # s of processor that a size may be expected to take
_FEW, _OF_FEW = 256, 6.0  # a size up to which more is allowed: what is done once tells there
_MOST_CHOICES = 64


@dataclass(frozen=True)
class AxisTiming:
    """A further row along an axis: us of processor; `alone` of `rows` were solved one by one.

    Of choices it is a row by itself, whose structure took `compiling` us besides. `alone` is None
    where the code no longer tells.
    """

    axis: str
    us: float
    compiling: float
    rows: int
    alone: int | None


class _Counter:
    """Counts the rows of which arrays do not tell everything."""

    def __init__(self) -> None:
        self.count = 0
        solve = MatrixSolver.row_blocks

        def counted(solver: MatrixSolver, start: int, stop: int) -> list[RowBlock]:
            found = solve(solver, start, stop)
            self.count += sum(int(rows.one_by_one.sum()) for rows in found)
            return found

        MatrixSolver.row_blocks = counted  # type: ignore[method-assign]


@dataclass(frozen=True)
class _Took:
    compiling: float
    solving: float
    rows: int
    alone: int


class _Matrices:
    """Solves matrices of one spec, and counts what they take."""

    def __init__(self, path: Path) -> None:
        self.path, self.text = path, without_matrices(path)
        self.counter = _Counter()
        spec = check_source(self._source("")).value
        if spec is None:
            raise ValueError(f"{path} has mistakes")
        self.model = spec.model
        self._warm_up()

    def _source(self, more: str) -> Source:
        return Source(self.path.name, f"{self.text}\n{more}", self.path.parent)

    def _warm_up(self) -> None:
        """Solve a matrix of few rows: the first one imports what all need."""
        numbers = (even_axis(one, self.text, 2) for one in self.model.parameters)
        for axis in chain(numbers, choice_axes(self.model)):
            if axis and self.accepts([axis]) and self.took([axis]):
                break

    def took(self, axes: list[str]) -> _Took | None:
        """Return what a matrix takes, None of one that is refused."""
        matrix = "\n".join(["matrix m_ {", *axes, "}\n"])
        spec, before = check_source(self._source(matrix)).value, self.counter.count
        if spec is None:
            return None
        start = process_time()
        result = Model(spec).matrix("m_")
        compiled = process_time()
        rows = sum(len(batch) for batch in result)
        return _Took(compiled - start, process_time() - compiled, rows, self.counter.count - before)

    def along(self, parameter: ir.Parameter) -> AxisTiming | None:
        """Return what a further row costs: what a larger matrix takes longer than a smaller."""
        last: _Took | None = None
        us = 0.0
        for count in _COUNTS:
            axis = even_axis(parameter, self.text, count)
            now = self.took([axis]) if axis else None
            if now is None or (last is not None and now.rows <= last.rows):
                break
            us = now.solving / max(now.rows, 1) * 1e6
            if last is not None and now.solving > last.solving:
                us = (now.solving - last.solving) / (now.rows - last.rows) * 1e6
            last = now
            if us * 1e-6 * 16 * count > (_BUDGET if 16 * count > _FEW else _OF_FEW):
                break
        if last is None or not last.rows:
            return None
        return AxisTiming(
            parameter.name, us, last.compiling / last.rows * 1e6, last.rows, last.alone
        )

    def choices(self) -> AxisTiming | None:
        """Return what each choice of options, places, scenarios and modes costs, from its start."""
        axes: list[str] = []
        for axis in choice_axes(self.model):
            more = [*axes, axis]
            sizes = [one.count(",") + 1 for one in more]
            if prod(sizes) <= _MOST_CHOICES and self.accepts(more):
                axes = more
        found = self.took(axes) if axes else None
        if found is None or found.rows < 2:
            return None
        us, compiling = (s / found.rows * 1e6 for s in (found.solving, found.compiling))
        return AxisTiming(CHOICES, us, compiling, found.rows, found.alone)

    def accepts(self, axes: list[str]) -> bool:
        """Tell whether a matrix of these axes is none that is refused."""
        matrix = "\n".join(["matrix m_ {", *axes, "}\n"])
        return check_source(self._source(matrix)).value is not None


def along(path: Path, axes: Sequence[str] = ()) -> Iterator[AxisTiming]:
    """Yield what a row costs along each number of a spec, or those named, then over its choices."""
    matrices = _Matrices(path)
    for parameter in matrices.model.parameters:
        if axes and parameter.name not in axes:
            continue
        if found := matrices.along(parameter):
            yield found
    if (not axes or CHOICES in axes) and (found := matrices.choices()):
        yield found


def main() -> None:
    """Print what is found as it comes."""
    path, *axes = sys.argv[1:]
    for found in along(Path(path), axes):
        print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main()
