"""Colors of a terminal, by what they mean; without them nothing is lost."""

from __future__ import annotations

from enum import Enum

from qps.compiler.diagnostics.render import printable

_RESET = "\x1b[0m"


class Tone(Enum):
    """What a color says, and the sequence that a terminal takes for it."""

    ANSWER = "\x1b[1;32m"
    MISS = "\x1b[1;31m"
    LIMIT = "\x1b[1;33m"
    CHANGE = "\x1b[1;36m"
    ASIDE = "\x1b[2m"


def toned(text: str, tone: Tone | None, *, color: bool) -> str:
    """Return a text in a tone where colors are wanted; what it holds drives no terminal.

    >>> toned("45 users", Tone.ANSWER, color=False)
    '45 users'
    """
    shown = printable(text)
    return f"{tone.value}{shown}{_RESET}" if color and tone is not None else shown
