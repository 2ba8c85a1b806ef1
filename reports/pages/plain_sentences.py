"""Sentences of a terminal as a page prints them."""

from __future__ import annotations

from collections.abc import Callable


def unquoted(line: str) -> str:
    """Return a line without the backticks around its names: a page would show them as they are.

    >>> unquoted("`bridge.cpu` is a lower bound")
    'bridge.cpu is a lower bound'
    """
    return line.replace("`", "")


def in_prose(change: Callable[[str], str], line: str) -> str:
    """Return a line whose words are changed, but for what stands between backticks.

    >>> in_prose(str.upper, "write `8 ms +- 10 %` there")
    'WRITE `8 ms +- 10 %` THERE'
    """
    parts = line.split("`")
    return "`".join(part if i % 2 else change(part) for i, part in enumerate(parts))


def with_arrows(words: str) -> str:
    """Return a change with arrows: what can be pasted is ASCII, what is read on a page need not be.

    >>> with_arrows("web: 2 -> 4 servers")
    'web: 2 → 4 servers'
    """
    return words.replace(" -> ", " → ")
