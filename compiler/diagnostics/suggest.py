"""Suggestions: the name that was meant, the factor that is missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from qps.compiler.diagnostics.fixits import instead

_SHORTEST_PART = 3
_FEW = 8
_MANY = 1000
_LONGEST = 60


def closest(word: str, names: Iterable[str], similarity: float = 0.6) -> str | None:
    """Return the name that was probably meant, or None; `similarity` is how alike they must be.

    >>> closest("lam", ["lan", "station"]), closest("m", ["ms"]), closest("n", ["N"])
    ('lan', None, 'N')
    """
    return _closest(word, tuple(sorted(_likely(word, set(names)))[:_MANY]), similarity)


@lru_cache(maxsize=64)  # one wrong name of a function is wrong wherever that is called
def _closest(word: str, names: Sequence[str], similarity: float) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - seldom

    by_fold = {name.lower(): name for name in names}
    # One letter is like many: only its other case is meant.
    folded = [name for name in by_fold if min(len(word), len(name)) > 1 or name == word.lower()]
    found = get_close_matches(word.lower(), folded, n=1, cutoff=similarity)
    if found:
        return by_fold[found[0]]
    shortest = len(word) >= _SHORTEST_PART
    containing = [name for name in names if shortest and word.lower() in name.lower()]
    return min(containing, key=len) if containing else None


def _likely(word: str, names: Collection[str]) -> Collection[str]:
    """Return the names to compare with: all, or of very many those that start alike."""
    if len(names) <= _MANY:
        return names
    return [name for name in names if name[:1].lower() == word[:1].lower()]


def did_you_mean(word: str, names: Iterable[str], former: Mapping[str, str] = {}) -> str | None:
    """Return a hint that offers the closest name, or lists the few there are.

    `former` are names that are still read, with the current ones, which are offered.
    """
    known = set(names)
    near = closest(word, known | former.keys())
    near = near if near is None else former.get(near, near)
    if near is not None:
        return instead(word, near, words=f"did you mean `{near}`?")
    if 0 < len(known) <= _FEW:
        candidates = sorted(known)
        return instead(word, *candidates, words="available: " + listed(candidates, "and"))
    return None


def offered(word: str, names: Iterable[str], otherwise: str = "") -> str:
    """Return a hint that offers the closest name, or lists them all; `otherwise` for none.

    >>> offered("mm7", ["mm1", "md1"]), offered("x", [], "declare it")
    ('did you mean `mm1`?', 'declare it')
    """
    candidates = list(names)
    return did_you_mean(word, candidates) or (
        f"available: {listed(candidates, 'and')}" if candidates else otherwise
    )


def dotted_meant(word: str, names: Iterable[str]) -> str | None:
    """Return a hint that offers names of several parts: all of a place, or all of a kind.

    >>> dotted_meant("vm", ["vm.cpu.cores", "vm.memory.capacity", "work.cpu.packet"])
    'its parts: `vm.cpu.cores` and `vm.memory.capacity`'
    >>> dotted_meant("cpus", ["vm.cpu.cores", "wan.rate"])
    'did you mean `vm.cpu.cores`?'
    """
    from difflib import get_close_matches  # noqa: PLC0415 - seldom

    candidates = list(dict.fromkeys(names))
    below = [name for name in candidates if name.startswith(f"{word}.")]
    if below:
        return "its parts: " + _few(below, "and")
    whole = [name for name in candidates if min(len(word), len(name)) >= _SHORTEST_PART]
    near = get_close_matches(word.lower(), [name.lower() for name in whole], n=1)
    parts = {part for name in candidates for part in name.split(".")}
    part = closest(word.rpartition(".")[2], parts)
    if not near and part is not None:
        meant = [name for name in candidates if part in name.split(".")]
        return instead(word, *meant[:_FEW], words=f"did you mean {_few(meant, 'or')}?")
    return did_you_mean(word, candidates)


def _few(names: list[str], word: str) -> str:
    more = len(names) - _FEW
    if more <= 0:
        return listed(names, word)
    return ", ".join(f"`{name}`" for name in names[:_FEW]) + f", … ({more} more)"


def listed(names: Iterable[str], word: str) -> str:
    """Return names in words.

    >>> listed(["a", "b", "c"], "or")
    '`a`, `b` or `c`'
    """
    quoted = [f"`{name}`" for name in names]
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {word} {quoted[-1]}"


def shortened(text: str) -> str:
    """Return a text as far as it fits into a message."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
