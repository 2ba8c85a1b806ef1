"""Suggestions: the name that was meant, the factor that is missing."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_SHORTEST_PART = 3
_FEW = 8


def closest(word: str, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant, or None.

    >>> closest("lam", ["lan", "station"]), closest("x", ["lan"])
    ('lan', None)
    """
    candidates = sorted(set(names))
    by_fold = {name.lower(): name for name in reversed(candidates)}
    found = get_close_matches(word.lower(), list(by_fold), n=1, cutoff=0.6)
    if found:
        return by_fold[found[0]]
    telling = len(word) >= _SHORTEST_PART
    containing = [name for name in candidates if telling and word.lower() in name.lower()]
    return min(containing, key=len) if containing else None


def did_you_mean(word: str, names: Iterable[str]) -> str | None:
    """Return a hint that offers the closest name, or lists the few there are."""
    candidates = sorted(set(names))
    near = closest(word, candidates)
    if near is not None:
        return f"did you mean `{near}`?"
    if 0 < len(candidates) <= _FEW:
        return "there is " + listed(candidates, "and")
    return None


def listed(names: Iterable[str], word: str) -> str:
    """Return names in words.

    >>> listed(["a", "b", "c"], "or")
    '`a`, `b` or `c`'
    """
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"
