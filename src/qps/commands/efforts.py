"""How long and how precisely is played, as it is asked for on the command line."""

from __future__ import annotations

import re

from qps.commands.console import complain

_LEAST_PRECISION, _MOST_PRECISION = 1e-4, 0.5
_MOST_SECONDS = 86_400


def precision_of(text: str) -> float:
    """Read a share, such as `2 %`."""
    found = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*(%?)\s*", text, re.ASCII)
    value = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    if not _LEAST_PRECISION <= value <= _MOST_PRECISION:
        raise complain(
            f"`--precision` takes a share from 0.01 % to 50 %, not `{text[:20]}`",
            "such as `--precision '2 %'`",
        )
    return value


def seconds_of(text: str) -> float:
    """Read how long to play at most."""
    found = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,6})?)\s*s?\s*", text, re.ASCII)
    value = float(found[1]) if found else 0.0
    if not 0 < value <= _MOST_SECONDS:
        raise complain(
            f"`--seconds` takes a time from above 0 to {_MOST_SECONDS:,} s, not `{text[:20]}`",
            "such as `--seconds 60`",
        )
    return value
