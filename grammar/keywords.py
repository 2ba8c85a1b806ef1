"""The words of the language, as the grammar has them."""

from __future__ import annotations

import re
from functools import cache

from qps.grammar.parsing import first_terminals, patterns
from qps.grammar.words import CHOICES

_WORDS = re.compile(r"\(?([a-z_]+(?:\|[a-z_]+)*)(\??)\)?(?:\\b|\(\?[=!])")


@cache
def keywords() -> frozenset[str]:
    """Return all words of the grammar, and those that options choose by.

    >>> {"param", "average", "on", "run", "_sep"} - keywords()
    {'_sep'}
    """
    found = [match for text in patterns().values() if (match := _WORDS.match(text))]
    words = {word for match in found for word in match[1].split("|")}
    return CHOICES | words | {match[1][:-1] for match in found if match[2]}  # `configurations?`


_TWO_WORDS = re.compile(r"([a-z]+)\[ \t\]\+([a-z]+)")


@cache
def words_of(terminal: str) -> tuple[str, ...]:
    """Return the words that a terminal of the grammar stands for; none for a name or a sign.

    >>> words_of("MEDIUM"), words_of("_ONE_OF_STEPS"), words_of("NAME")
    (('shared', 'switched', 'duplex'), ('one of',), ())
    """
    pattern = patterns().get(terminal, "")
    if two := _TWO_WORDS.match(pattern):
        return (f"{two[1]} {two[2]}",)
    match = _WORDS.match(pattern)
    if match is None or match[1] == "_":
        return ()
    return tuple(match[1].split("|"))


@cache
def declarations() -> tuple[str, ...]:
    """Return the words that start a declaration.

    >>> "machine" in declarations(), "node" in declarations()
    (True, False)
    """
    return tuple(word for terminal in first_terminals() for word in words_of(terminal))


@cache
def continuing_words() -> tuple[str, ...]:
    """Return the words at which a line goes on from the one before.

    >>> continuing_words()[:3]
    ('with', 'within', 'as')
    """
    groups = re.findall(r"(?<!\(\?!)\(\?:([a-z_|]+)\)", patterns()["_CONTINUATION"])
    return tuple(word for group in groups for word in group.split("|"))
