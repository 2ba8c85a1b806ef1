"""How often all requirements are met if machines fail, in words."""

from __future__ import annotations

from qps.reports.text.words.certainty_marks import MARKS
from qps.reports.text.words.labels import Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import availability_percent, joined_words, number
from qps.solver.answer import Answer
from qps.solver.failures.availability_result import Availability

_HOURS = 24 * 365.25
"""Hours of a year."""
_UNITS = ((1.0, 1, "hours"), (1 / 60, 60, "minutes"), (0.0, 3600, "seconds"))
"""The least number of hours that is printed in a unit, its part of an hour, and its name."""
_LARGEST = 3
_PART = 0.005
"""Of the time that is lost: a place that loses less is not named."""


def availability_fact(answer: Answer, labels: Labels) -> str:
    """Return how often requirements are met, and what the rest is lost to.

    It is empty for a spec in which nothing fails.
    """
    found = answer.availability
    if found is None:
        return ""
    users = counted(found.population, answer.population)
    share = f"{MARKS[found.known.kind]}{availability_percent(found.value)}"
    lost = 1 - found.value
    if lost <= 0:
        return phrase("availability.always", users=users)
    return phrase(
        "availability.fact", share=share, users=users, time=_time(lost), parts=_parts(found, labels)
    )


def _parts(found: Availability, labels: Labels) -> str:
    """Return the places to whose failures most of the time is lost."""
    lost = 1 - found.value
    ranked = sorted(found.places, key=lambda one: -one.lost)
    named = [one for one in ranked if one.lost > _PART * lost][:_LARGEST]
    texts = [
        phrase("availability.part", place=labels.of(one.place), time=_time(one.lost))
        for one in named
    ]
    return joined_words(texts) or phrase("availability.together")


def _time(share: float) -> str:
    """Return the part of a year that a share of time is."""
    hours = share * _HOURS
    size, word = next((size, word) for least, size, word in _UNITS if hours >= least)
    return phrase(f"availability.{word}", number=number(hours * size, 2))
