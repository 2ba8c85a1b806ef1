"""Shares as they are written: `120 %` is more than all of anything."""

from __future__ import annotations

import re

_SHARE = re.compile(r"(\d[\d_]*(?:\.\d+)?)\s*%")
_ALL = 100


def more_than_all(text: str) -> tuple[str, str] | None:
    """Return a share in per cent beyond 100, and the number that it is; None for anything else.

    >>> more_than_all("250 %"), more_than_all("20 %"), more_than_all("3")
    (('250 %', '2.5'), None, None)
    """
    share = _SHARE.fullmatch(text.strip())
    value = 0.0 if share is None else float(share[1].replace("_", ""))
    return None if share is None or value <= _ALL else (share[0], f"{value / _ALL:g}")
