"""How a result is known, as one fact: exact, or what it is instead, with the first reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qps.reports.text.words.certainty_marks import merged
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted

_MOST_REASONS = 3
_NO_PORTS: Mapping[str, str] = {}
EXACT_HERE = "exact for this model"


def first_reasons(
    reasons: Sequence[str],
    labels: Labels,
    ports: Mapping[str, str] = _NO_PORTS,
    *,
    most: int | None = _MOST_REASONS,
    others_in: str = "--format json",
) -> str:
    """Return the first reasons why a result is not exact, and how to see the others."""
    found = merged(reasons, ports)
    shown = [labels.sentence(one) for one in found[:most]]
    more = len(found) - len(shown)
    if more:
        shown.append(f"{counted(more, 'more reasons')}: {others_in}")
    return "; ".join(shown)


def because_first(
    what: str,
    reasons: Sequence[str],
    labels: Labels,
    ports: Mapping[str, str] = _NO_PORTS,
    *,
    most: int | None = _MOST_REASONS,
    others_in: str = "--format json",
) -> str:
    """Return what a result is, and the first reasons of it where there are any."""
    said = first_reasons(reasons, labels, ports, most=most, others_in=others_in)
    return f"{what}: {said}" if said else what
