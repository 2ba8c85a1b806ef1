"""A long explanation as one screen: the value, how it is known, and the largest of its parts.

What is left out is behind `--all`; a short explanation is printed in full.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum

from msgspec.structs import replace

from qps.reports.text.explanations.explanation import ExplainedPart, Explanation
from qps.reports.text.formulas.formula_layout import UNREADABLE
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import is_share, percent, quantity
from qps.solver.breakdown.breakdown_types import NumberApart, PartThere

SCREEN = 40
"""Lines of a screen: an explanation with more lines is summarized."""
_MOST_PARTS, _LEAST_SHARE = 12, 0.001
CALLS, INPUTS = phrase("explain.timeline"), "Input"
"""The first headings of tables that a summary has where there is room."""
_MOST_OF_UNCERTAINTY = 2
_IN_SENTENCES = frozenset(["Value", "Accuracy", "Mode", "Name", "Meaning"])
"""Labels of facts that are no formulas."""
_SHORT_FORMULA, _SHORT_OTHERS = 320, 160
"""Characters of the formula in symbols, which is of most interest, and of each other form."""


def largest_parts(apart: NumberApart) -> tuple[ExplainedPart, ...]:
    """Return the largest parts of a number in their order, and the sum of the others as a row.

    Parts that do not add up to the number have no shares, and only the first ones are listed.
    """
    shown = _shown(apart.parts)
    others = [part for place, part in enumerate(apart.parts) if place not in shown]
    rows = [_part(apart, part) for place, part in enumerate(apart.parts) if place in shown]
    if len(others) < 2:  # noqa: PLR2004 - a row for one other part is that part
        return tuple(_part(apart, part) for part in apart.parts)
    name = phrase("explain.other_parts", count=len(others))
    if any(part.share is None for part in others):
        return (*rows, ExplainedPart(name, "", "", ""))
    rest = PartThere(
        name,
        fsum(part.value for part in others),
        fsum(part.share or 0.0 for part in others),
        others[0].formula,
    )
    return (*rows, _part(apart, rest))


def _shown(parts: Sequence[PartThere]) -> set[int]:
    """Return the places of the parts to show."""
    if any(part.share is None for part in parts):
        return set(range(_MOST_PARTS))
    shares = {place: abs(part.share or 0.0) for place, part in enumerate(parts)}
    ordered = sorted(shares, key=lambda place: -shares[place])
    return {place for place in ordered[:_MOST_PARTS] if shares[place] >= _LEAST_SHARE}


def _part(apart: NumberApart, part: PartThere) -> ExplainedPart:
    value = quantity(part.value, apart.dimension, share=is_share(apart.name))
    return ExplainedPart(part.name, value, "" if part.share is None else percent(part.share), "")


def summarized(
    full: TextLayout,
    explanation: Explanation,
    parts: Sequence[ExplainedPart],
    labels: Labels,
    width: int,
) -> str:
    """Return an explanation without its methods, long formulas and small parts.

    Its calls and inputs are printed as well where they have room.
    """
    rows = tuple((labels.stage(part.name), part.value, part.share) for part in parts)
    parted = Table(("Part", "Value", "Share"), rows, frozenset([1, 2]), firm=frozenset([0]))
    facts = tuple(_short_facts(full.facts))
    inputs = counted(len(explanation.assumptions), "inputs")

    def text_with(tables: Sequence[Table]) -> str:
        is_whole = any(table.headings[0] == INPUTS for table in tables)
        others = (
            phrase("explain.formulas")
            if is_whole
            else phrase("explain.formulas_and_inputs", inputs=inputs)
        )
        note = phrase("explain.more", others=others)
        return replace(full, facts=facts, tables=tuple(tables), notes=(note,)).as_text(width)

    tables = [parted]
    for table in full.tables:
        longer = [*tables, table]
        if table.headings[0] in (CALLS, INPUTS) and text_with(longer).count("\n") <= SCREEN:
            tables = longer
    return text_with(tables)


def _short_facts(facts: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield facts that take few lines: of the uncertainty, its interval and its sources."""
    label, of_uncertainty = "", 0
    for own, text in facts:
        label = own or label
        of_uncertainty += label == "Uncertainty"
        most = _SHORT_FORMULA if label == "Formula" else _SHORT_OTHERS
        if label == "Uncertainty":
            is_left_out = of_uncertainty > _MOST_OF_UNCERTAINTY
        else:
            is_long = len(text) > most or text.startswith(UNREADABLE)
            is_left_out = is_long and label not in _IN_SENTENCES
        if not is_left_out:
            yield own, text
