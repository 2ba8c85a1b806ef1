"""Where the time that users think goes wrong: it stands behind the sizes of the traffic."""

from __future__ import annotations

import re

from qps.compiler.diagnostics.suggest import shortened

_FIRST = re.compile(r"\btraffic\s+think(?:ing)?(?:\s*time)?\s*\Z")
_BEHIND = re.compile(r",\s*(think(?:ing|s)?(?:[\s_]*time)?)\s*\Z")
_TIME = re.compile(r"[ \t]*([\w.]+)(?:[ \t]+(\w+))?")


def think_help(before: str, word: str, behind: str) -> str | None:
    """Return how a time to think is written, where `word` cannot stand behind what is `before`."""
    if word == "think":
        hint = _text(word, behind)
        return f"put it into the traffic, after a comma: `traffic 1 request, {hint}`"
    is_value = word[:1].isdigit() or word in ("=", ":")
    hint = _text("think", behind if word in ("=", ":") else f"{word} {behind}")
    if is_value and _FIRST.search(before):
        return f"put the number of items in progress first: `traffic 1 request, {hint}`"
    found = _BEHIND.search(before)
    if found and is_value and (found[1] != "think" or word in ("=", ":")):
        return f"write `{hint}`"
    return None


def _text(word: str, behind: str) -> str:
    time = _TIME.match(behind)
    return shortened(f"{word} {' '.join(filter(None, time.groups()))}" if time else "think 15 s")
