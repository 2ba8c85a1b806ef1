"""How a result is known, as one fact: exact, or what it is instead, with the first reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from qps.reports.text.words.certainty_marks import merged
from qps.reports.text.words.labels import Labels

_MOST_REASONS = 3
_NO_PORTS: Mapping[str, str] = {}
EXACT_HERE = "exact for this model"


def first_reasons(
    reasons: Sequence[str], labels: Labels, ports: Mapping[str, str] = _NO_PORTS
) -> str:
    """Return the first reasons why a result is not exact, and how many there are besides."""
    found = merged(reasons, ports)
    shown = [labels.told(one) for one in found[:_MOST_REASONS]]
    more = len(found) - len(shown)
    if more:
        shown.append(f"{more} more reason{'s' * (more > 1)}: --format json")
    return "; ".join(shown)


def because_first(
    what: str, reasons: Sequence[str], labels: Labels, ports: Mapping[str, str] = _NO_PORTS
) -> str:
    """Return what a result is, and the first reasons of it where there are any."""
    said = first_reasons(reasons, labels, ports)
    return f"{what}: {said}" if said else what
