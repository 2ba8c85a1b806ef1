"""What a spec counts, as it calls it: 7,462 users, 12 calls, 1 viewer."""

from __future__ import annotations

_LETTER = 1
_USERS = "users"
_DOING = ("ed", "ing")
"""Endings of words for what users do: connected, waiting."""
_VOWELS = frozenset("aeiouy")
_ENDINGS = (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("s", ""))


def counted(count: int, name: str) -> str:
    """Return so many of what a population counts; a letter, such as N, stands for users.

    >>> counted(7462, "N"), counted(12, "calls"), counted(1, "viewers"), counted(1, "N")
    ('7,462 users', '12 calls', '1 viewer', '1 user')
    """
    several = noun(name)
    return f"{count:,} {_one_of(several) if count == 1 else several}"


def noun(name: str) -> str:
    """Return the plural of what a population counts.

    >>> noun("N"), noun("data_centres"), noun("connected")
    ('users', 'data centres', 'connected users')
    """
    word = name.strip("_")
    if len(word) <= _LETTER:
        return _USERS
    if word.isalpha() and word.endswith(_DOING):
        return f"{word} {_USERS}"
    return word.replace("_", " ")


def noun_of_one(name: str) -> str:
    """Return what one of a population is called: `for each user`.

    >>> noun_of_one("N"), noun_of_one("people"), noun_of_one("rps")
    ('user', 'person', 'rps')
    """
    return _one_of(noun(name))


def _one_of(several: str) -> str:
    counted_ones, of, rest = several.partition(" of ")
    if of:
        return f"{_one_of(counted_ones)}{of}{rest}"
    if not _VOWELS.intersection(several.casefold()):
        return several  # an abbreviation of a rate, such as rps or tps, and no plural
    for ending, instead in _ENDINGS:
        if several.endswith(ending) and len(several) > len(ending) + 1:
            return several.removesuffix(ending) + instead
    return "person" if several == "people" else several
