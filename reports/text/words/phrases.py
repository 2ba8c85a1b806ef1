"""The phrases that people read, found by their ids.

Those that terminal and page share stand in a script of the page, `scripts/common/phrases.js`, as
the page cannot read Python; those of texts alone in `text_phrases`.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from qps.reports.text.words.text_phrases import TEXT_PHRASES

_TABLE = "scripts/common/phrases.js"
_START, _END = "const PHRASES = ", ";\n"


@cache
def phrases() -> dict[str, str]:
    """Return all phrases by their keys."""
    text = (files("qps.reports") / _TABLE).read_text(encoding="utf-8")
    table = text.partition(_START)[2].partition(f"}}{_END}")[0]
    found: dict[str, str] = json.loads(f"{table}}}")
    return {**TEXT_PHRASES, **found}


def phrase(key: str, /, **values: object) -> str:
    """Return a phrase with values put in; KeyError where there is none, or a value lacks.

    >>> phrase("reason.saturated", name="web.cpu", value="100.2 %")
    'web.cpu utilization is 100.2 % (saturated)'
    """
    return phrases()[key].format_map(values)
