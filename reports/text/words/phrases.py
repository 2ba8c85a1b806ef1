"""The phrases that terminal and page share, from one table.

The table is a script of the page, `scripts/common/phrases.js`, as the page cannot read Python.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

_TABLE = "scripts/common/phrases.js"
_START, _END = "const PHRASES = ", ";\n"


@cache
def phrases() -> dict[str, str]:
    """Return all phrases by their keys."""
    text = (files("qps.reports") / _TABLE).read_text(encoding="utf-8")
    table = text.partition(_START)[2].partition(f"}}{_END}")[0]
    found: dict[str, str] = json.loads(f"{table}}}")
    return found


def phrase(key: str, /, **values: object) -> str:
    """Return a phrase with values put in; KeyError where there is none, or a value lacks.

    >>> phrase("reason.saturated", name="web.cpu", told="100.2 %")
    'web.cpu utilization is 100.2 % (saturated)'
    """
    return phrases()[key].format_map(values)
