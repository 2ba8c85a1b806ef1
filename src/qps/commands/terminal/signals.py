"""Signals that end a command: what it has begun is put away first, as after Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class EndedError(KeyboardInterrupt):
    """Raised where a signal other than that of Ctrl-C ends the command."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(signal.Signals(number).name)


@contextmanager
def ended_in_order() -> Iterator[None]:
    """Have signals raise EndedError; one that is ignored (`nohup`) stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    own = [one for one in _ENDING if signal.getsignal(one) is signal.SIG_DFL]

    def end(number: int, _: FrameType | None) -> None:
        for one in own:
            signal.signal(one, signal.SIG_IGN)  # what is being put away is not disturbed
        raise EndedError(number)

    for one in own:
        signal.signal(one, end)
    try:
        yield
    finally:
        for one in own:
            signal.signal(one, signal.SIG_DFL)


def status_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit status that shells give what a signal has ended."""
    return 128 + (interrupt.number if isinstance(interrupt, EndedError) else signal.SIGINT)
