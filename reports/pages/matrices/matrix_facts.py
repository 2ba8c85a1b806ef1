"""What stands above the rows of a matrix: feasible, cheapest, best and Pareto-optimal ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from qps.reports.pages.matrices.matrix_columns import ResultColumn
from qps.reports.pages.matrices.matrix_page import COSTS, MatrixPage, matrix_page
from qps.reports.text.words.phrases import phrase
from qps.solver.matrix.row_tables import LARGEST


def matrix_facts(table: pa.Table, origin: str) -> list[tuple[str, str]]:
    """Return facts about all rows of a matrix under their labels; `origin` is the file of them."""
    page = matrix_page(table, origin)
    facts = [("Result", page.answer.removesuffix("."))]
    for lead in page.leads():
        label, _, fact = lead.partition(": ")
        facts.append((label, fact.removesuffix(".")))
    return [*facts, *_fronts(page)]


def _fronts(page: MatrixPage) -> Iterator[tuple[str, str]]:
    """Yield how many rows no other one beats on both capacity and cost."""
    capacity = page.column(LARGEST)
    cost = next((one for one in map(page.column, COSTS) if one is not None), None)
    if capacity is None or cost is None or not page.is_answered:
        return
    count = int(pareto_optimal(capacity, cost, page.feasible_rows).sum())
    feasible = int(page.feasible_rows.sum())
    yield (
        phrase("matrix.pareto_front"),
        phrase("matrix.pareto_count", count=count, feasible=feasible),
    )


def pareto_optimal(capacity: ResultColumn, cost: ResultColumn, feasible_rows: Any) -> Any:
    """Return which rows are Pareto-optimal: no other has more capacity at the same cost or less."""
    found = np.zeros(len(feasible_rows), dtype=bool)
    rows = np.flatnonzero(feasible_rows & (capacity.codes > 0) & (cost.codes > 0))
    rows = rows[np.lexsort((-capacity.codes[rows].astype(np.int64), cost.codes[rows]))]
    users, prices = capacity.codes[rows], cost.codes[rows]
    best = np.maximum.accumulate(users) if rows.size else users
    first = np.searchsorted(best, best)  # the first, and so cheapest, row with so many users
    found[rows[(users == best) & (prices == prices[first])]] = True
    return found
