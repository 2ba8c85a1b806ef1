"""What an editor sends, and no more of it than fits, whatever length it states."""

from __future__ import annotations

from typing import BinaryIO

LARGEST_MESSAGE = 64_000_000
"""Bytes. Editors send no texts as large as that."""
_LONGEST_HEADER = 1_000
_BLOCK_SIZE = 1_000_000


class MessageTooLargeError(Exception):
    """Raised where an editor announces or sends more than is read; it says what."""


class Incoming:
    """A stream of messages, read by lines of headers and by the length that these state."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """Return the next line of a header; TooLargeError where it is longer than any."""
        line = self._stream.readline(_LONGEST_HEADER + 1)
        if len(line) > _LONGEST_HEADER:
            raise MessageTooLargeError(f"a header is longer than {_LONGEST_HEADER:,} bytes")
        return line

    def read(self, length: int) -> bytes:
        """Return so many bytes, less at the end; TooLargeError where no message has so many.

        Memory is taken as they come.
        """
        if length > LARGEST_MESSAGE:
            stated = f"{length:,}" if length < 10**18 else "more than 10^18"
            raise MessageTooLargeError(
                f"a message of {stated} bytes is announced, and none has more than "
                f"{LARGEST_MESSAGE:,}"
            )
        found = bytearray()
        while len(found) < length:
            more = self._stream.read(min(_BLOCK_SIZE, length - len(found)))
            if not more:
                break
            found += more
        return bytes(found)
