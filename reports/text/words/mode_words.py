"""Modes in sentences: a way of working, or a time of a profile."""

from __future__ import annotations

from qps.compiler.quantities.clock_times import is_moment
from qps.reports.text.words.phrases import phrase


def in_mode(mode: str | None) -> str:
    """Return how a sentence goes on with a mode; empty without one.

    >>> in_mode("night"), in_mode("20:00 on Friday"), in_mode(None)
    (' in mode night', ' at 20:00 on Friday', '')
    """
    if not mode:
        return ""
    return phrase("at_time" if is_moment(mode) else "in_mode", mode=mode)
