"""A progress bar with rate and time left: on a terminal only, for work over a second."""

from __future__ import annotations

import os
import sys
from time import monotonic
from typing import Self

from msgspec import Struct, field

from qps.commands.output import style

_PATIENCE = 1.0
_WIDTH = 24
_EVERY = 0.1


class Progress(Struct, kw_only=True):
    """Tells on standard error how far work of many rows is."""

    total: int
    quiet: bool = False
    done: int = 0
    _start: float = field(default_factory=monotonic)
    _last: float = 0.0
    _is_shown: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            style(sys.stderr, "\r\x1b[K")
            sys.stderr.flush()

    def advance(self, rows: int) -> None:
        """Say that some more rows are done."""
        self.done += rows
        now = monotonic()
        is_wanted = sys.stderr.isatty() and not self.quiet and not os.environ.get("CI")
        if not is_wanted or now - self._start < _PATIENCE or now - self._last < _EVERY:
            return
        self._last, self._is_shown = now, True
        style(sys.stderr, "\r\x1b[K" + bar(self.done, self.total, now - self._start))
        sys.stderr.flush()


def bar(done: int, total: int, seconds: float) -> str:
    """Return a line that tells how far work is.

    >>> bar(250_000, 1_000_000, 2.0)
    '██████░░░░░░░░░░░░░░░░░░  25 %  125,000 rows/s  6 s left'
    """
    share = done / total if total else 1.0
    filled = int(share * _WIDTH)
    rate = done / seconds if seconds > 0 else 0.0
    left = (total - done) / rate if rate > 0 else 0.0
    return (
        f"{'█' * filled}{'░' * (_WIDTH - filled)}  {share:.0%}".replace("%", " %")
        + f"  {rate:,.0f} rows/s  {_duration(left)} left"
    )


def _duration(seconds: float) -> str:
    if seconds < 100:  # noqa: PLR2004 - beyond, minutes read better
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"  # noqa: PLR2004
