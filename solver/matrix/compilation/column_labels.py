"""How the columns of a matrix are known, of all its rows together.

A label of each row would be a column of its own for each of them. One label that holds for every
row is kept instead: what is exact is also bounded, from above and from below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by

BY_ITSELF = known_by("rows-by-themselves")
"""Of rows without a formula that they share, `qps solve` explains how each is known."""


@dataclass(frozen=True, slots=True)
class ColumnsKnown:
    """How the quality is known, and each of the spec's own columns.

    Where claims are judged by them, also the requested comparisons, and the answer.
    """

    quality: Certainty = EXACT
    own: tuple[Certainty, ...] = ()
    compared: tuple[Certainty, ...] = ()
    answer: Certainty = EXACT


def all_known(parts: Sequence[ColumnsKnown]) -> ColumnsKnown:
    """Return how columns are known of rows of several kinds."""
    own = zip(*(part.own for part in parts if part.own), strict=True)
    compared = zip(*(part.compared for part in parts if part.compared), strict=True)
    return ColumnsKnown(
        together(*(part.quality for part in parts)),
        tuple(together(*each) for each in own),
        tuple(together(*each) for each in compared),
        together(*(part.answer for part in parts)),
    )
