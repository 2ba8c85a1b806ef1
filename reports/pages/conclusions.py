"""What the folded sections of a page come to: a line each, read without opening them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from qps.reports.pages.page_rows import FactRow, requirement_states
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.text.layout.table import Table
from qps.reports.text.words.certainty_marks import known_in_short
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.limit_states import LimitState
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer

_NOTICEABLE = 0.005
"""Effects of 1 % that are printed as zero are none."""


class Conclusions(Struct, frozen=True, kw_only=True):
    """A line for each of these sections; empty where there is nothing to say."""

    uncertainty: str
    requirements: str
    sensitivity: str
    traffic: str
    assumptions: str
    figures: str
    formulas: str
    on_paper: tuple[tuple[str, str], ...]
    """What a sheet says of assumptions and model errors, with labels."""


def conclusions(
    answer: Answer,
    labels: Mapping[str, str],
    traffic: Table,
    assumptions: Sequence[FactRow],
    measured: str,
    *,
    known: tuple[str, str],
    figures: int,
    formulas: int,
) -> Conclusions:
    """Return the lines of a page's sections from their rows; `measured` is what to measure next.

    `known` is how the capacity is known, with its label; `figures` and `formulas` are how many
    there are.
    """
    sourced = phrase(
        "inputs.sourced",
        count=len(assumptions),
        sources=sum(bool(one.source) for one in assumptions),
    )
    return Conclusions(
        uncertainty=measured,
        requirements=_requirements(answer),
        sensitivity=_sensitivity(answer, labels),
        traffic=f"{traffic.rows[0][0]}: {traffic.rows[0][1]}" if traffic.rows else "",
        assumptions=sourced,
        figures=phrase("report.figures", count=figures, s="s" * (figures != 1)),
        formulas=phrase("report.formulas", count=formulas, s="s" * (formulas != 1)),
        on_paper=tuple(_on_paper(answer, sourced, measured, known)),
    )


def known_on_paper(answer: Answer, labels: Labels) -> tuple[str, str]:
    """Return how the capacity is known; of one that covers model errors, what is approximated."""
    reliable, known = answer.reliable, answer.known
    is_covered = bool(known.reasons and reliable and reliable.allowed_for)
    is_covered = is_covered and not (reliable and reliable.unmeasured)
    text = unquoted(labels.sentence(known_in_short(known, is_covered=is_covered)))
    return phrase("report.approximated" if is_covered else "report.capacity"), text


def _on_paper(
    answer: Answer, sourced: str, measured: str, known: tuple[str, str]
) -> Iterator[tuple[str, str]]:
    yield phrase("report.inputs"), f"{sourced}."
    if measured:
        yield phrase("term.measure_next"), f"{measured}."
    elif answer.uncertainty is None:
        yield phrase("report.uncertainty"), phrase("report.not_stated")
    yield known


def _requirements(answer: Answer) -> str:
    """Return how many requirements are met, and of how many that is not known."""
    states = requirement_states(answer)
    if not states:
        return ""
    unknown = sum(state is LimitState.UNKNOWN for state in states)
    met = len(states) - unknown - sum(state is LimitState.OVER for state in states)
    at, key = f"{answer.at:,}", "page.met.unknown" if unknown else "page.met"
    return phrase(key, met=met, count=len(states), unknown=unknown, at=at)


def _sensitivity(answer: Answer, labels: Mapping[str, str]) -> str:
    first = max(answer.sensitivity, key=lambda one: abs(one.elasticity), default=None)
    if first is None or abs(first.elasticity) < _NOTICEABLE:
        return phrase("page.insensitive")
    effect = f"{first.elasticity:+.2f} %".replace("-", "−")
    return phrase("page.most_sensitive", name=labels[first.parameter], effect=effect)
