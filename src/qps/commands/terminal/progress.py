"""A line that says how far work is: on a terminal only, for work over a second."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from shutil import get_terminal_size
from threading import current_thread, main_thread
from time import monotonic
from typing import Any, Self

from msgspec import Struct, field

from qps.commands.terminal.output import style

_PATIENCE = 1.0
_WIDTH = 24
_EVERY = 0.2


class Progress(Struct, kw_only=True):
    """Tells on standard error how far work is: one line, from a second on, and then at its pace.

    `total` is None where nobody knows how much there is: then the line shows the time. `unit` is
    what is counted, where a rate and the time left mean something; `label` what is at work. A timer
    of the system draws the line also while a step takes long; where there is none, it is drawn as
    steps end.
    """

    total: float | None
    quiet: bool = False
    unit: str | None = "rows"
    label: str = ""
    done: float = 0
    _start: float = field(default_factory=monotonic)
    _last: float = 0.0
    _is_shown: bool = False
    _before: Any = None

    def __enter__(self) -> Self:
        if self._is_wanted and hasattr(signal, "setitimer") and _is_main():
            self._before = signal.signal(signal.SIGALRM, self._drawn_by_timer)
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE, _EVERY)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            # One may still be on its way to a thread: it must not end the process.
            is_own = callable(self._before)
            signal.signal(signal.SIGALRM, self._before if is_own else signal.SIG_IGN)
        self.aside()

    def advance(self, steps: float, label: str | None = None) -> None:
        """Say that some more is done, and what comes next."""
        self.done += steps
        self.label = self.label if label is None else label
        self._draw()

    def aside(self) -> None:
        """Take the line away until it is drawn again: something else is to be written."""
        if self._is_shown:
            style(sys.stderr, "\r\x1b[K")
            sys.stderr.flush()

    @property
    def _is_wanted(self) -> bool:
        return sys.stderr.isatty() and not self.quiet and not os.environ.get("CI")

    def _drawn_by_timer(self, *_: object) -> None:
        # It comes between any two steps: also while something is being written.
        with suppress(RuntimeError):
            self._draw()

    def _draw(self) -> None:
        now = monotonic()
        is_time = now - self._start >= _PATIENCE and now - self._last >= _EVERY
        if not is_time or not self._is_wanted:
            return
        self._last, self._is_shown = now, True
        line = bar(self.done, self.total, now - self._start, self.unit, self.label)
        width = get_terminal_size().columns - 1
        style(sys.stderr, "\r\x1b[K" + line[:width])
        sys.stderr.flush()


def _is_main() -> bool:
    return current_thread() is main_thread()


def bar(
    done: float, total: float | None, seconds: float, unit: str | None = "rows", label: str = ""
) -> str:
    """Return a line that says how far work is.

    >>> bar(250_000, 1_000_000, 2.0)
    '██████░░░░░░░░░░░░░░░░░░  25 %  125,000 rows/s  6 s left'
    >>> bar(1, 4, 2.0, None, "flying.qps")
    '██████░░░░░░░░░░░░░░░░░░  25 %  flying.qps'
    >>> bar(0, None, 12.3, None, "what carries 300")
    '12 s  what carries 300'
    """
    if total is None:
        return f"{duration(seconds)}  {label}"
    share = min(done / total, 1.0) if total else 1.0
    filled = int(share * _WIDTH)
    line = f"{'█' * filled}{'░' * (_WIDTH - filled)}  {share:.0%}".replace("%", " %")
    if unit is not None:
        rate = done / seconds if seconds > 0 else 0.0
        left = f"  {duration((total - done) / rate)} left" if rate > 0 else ""
        line += f"  {rate:,.0f} {unit}/s{left}"
    return f"{line}  {label}" if label else line


def duration(seconds: float) -> str:
    """Return a time in words."""
    if seconds < 100:  # noqa: PLR2004 - beyond, minutes read better
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"  # noqa: PLR2004
