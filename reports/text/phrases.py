"""What the terminal and the page both say: read from the one place where it is written.

That is a table in a script of the page, `scripts/common/phrases.js`, as the page cannot read ours.
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
    'web.cpu is loaded 100.2 %: it is saturated'
    """
    return phrases()[key].format_map(values)
