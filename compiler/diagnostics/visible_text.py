"""Characters that move, hide or turn round what is shown: a spec must not drive a reader's screen.

Control characters drive a terminal, marks of direction show a text in another order than it has.
"""

from __future__ import annotations

from unicodedata import category

_LARGEST_UNIT = 0xFFFF


def printable(text: str) -> str:
    r"""Return a text without characters that drive a screen; the ends of lines stay.

    Each is replaced by one character, so that columns stay where they are.

    >>> printable("a" + chr(27) + "[2J" + chr(0x202E) + "b") == "a\ufffd[2J\ufffdb"
    True
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or not drives(c) else "\ufffd" for c in text)


def one_line(text: str) -> str:
    r"""Return a text in one line: what begins another one could be a command to who reads along.

    >>> one_line("a\n::error::b")
    'a ::error::b'
    """
    return printable(text).replace("\n", " ")


def escaped(text: str) -> str:
    r"""Return JSON in which such characters stand as escapes: it has the same value.

    >>> print(escaped('"' + chr(0x202E) + '"'), escaped(chr(0xE0001)))
    "\u202e" \udb40\udc01
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c if c == "\n" or not drives(c) else _escape(c) for c in text)


def drives(character: str) -> bool:
    """Return whether a character moves something, rather than being shown."""
    return category(character)[0] == "C" or category(character) in ("Zl", "Zp")


def _escape(character: str) -> str:
    number = ord(character)
    if number <= _LARGEST_UNIT:
        return f"\\u{number:04x}"
    above = number - 0x10000
    return f"\\u{0xD800 + (above >> 10):04x}\\u{0xDC00 + (above & 0x3FF):04x}"
