"""Sentences of a terminal as a page prints them."""

from __future__ import annotations


def unquoted(line: str) -> str:
    """Return a line without the backticks around its names: a page would show them as they are.

    >>> unquoted("`bridge.cpu` is a lower bound")
    'bridge.cpu is a lower bound'
    """
    return line.replace("`", "")


def with_arrows(words: str) -> str:
    """Return a change with arrows: what can be pasted is ASCII, what is read on a page need not be.

    >>> with_arrows("web: 2 -> 4 servers")
    'web: 2 → 4 servers'
    """
    return words.replace(" -> ", " → ")
