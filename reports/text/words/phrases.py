"""The phrases that people read, found by their ids.

Those that terminal and page share stand in a script of the page, `scripts/common/phrases.js`, as
the page cannot read Python; those of texts alone in the tables beside this module.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files

from qps.reports.text.words.text_phrases import TEXT_PHRASES

_SHARED = "scripts/common/phrases.js"
_START, _END = "const PHRASES = ", ";\n"
_OTHERS = ("change", "evidence", "explanation", "incident", "monitoring", "page", "system", "start")
"""What the tables are of that `qps solve` does not need: they are read when a phrase lacks."""


def phrase(key: str, /, **values: object) -> str:
    """Return a phrase with values put in; KeyError where there is none, or a value lacks.

    >>> phrase("reason.saturated", name="web.cpu", value="100.2 %")
    'web.cpu utilization is 100.2 % (saturated)'
    """
    first = _first_phrases()
    return (first[key] if key in first else phrases()[key]).format_map(values)


@cache
def phrases() -> dict[str, str]:
    """Return all phrases by their keys."""
    found = dict(_first_phrases())
    for table in tables():
        found.update(table)
    return found


def tables() -> Iterator[Mapping[str, str]]:
    """Yield the tables of texts alone; no two have the same key."""
    yield TEXT_PHRASES
    for name in _OTHERS:
        module = import_module(f"qps.reports.text.words.{name}_phrases")
        yield getattr(module, f"{name.upper()}_PHRASES")


@cache
def _first_phrases() -> dict[str, str]:
    """Return the phrases of pages and those of `qps solve`."""
    text = (files("qps.reports") / _SHARED).read_text(encoding="utf-8")
    table = text.partition(_START)[2].partition(f"}}{_END}")[0]
    found: dict[str, str] = json.loads(f"{table}}}")
    return {**TEXT_PHRASES, **found}
