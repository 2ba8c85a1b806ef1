"""Processes of the language server do not grow with the number of edits."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from qps.editing.open_documents import OpenDocuments
from qps.editing.released_memory import CACHED_VALUES, cached_functions
from qps.editing.worker_loop import receive
from qps.engine.queueing.md1_numbers import md1_quantile


class _Silent:
    """A connection on which nothing comes until it is closed."""

    def poll(self) -> bool:
        """Return that there is nothing."""
        return False

    def recv(self) -> object:
        """Find it closed."""
        raise EOFError


def test_caches_of_formulas_are_bounded_while_nothing_is_requested() -> None:
    for k in range(CACHED_VALUES + 1):
        md1_quantile(0.5 + k / 1e6, 0.99)
    assert any(one.cache_info().currsize > CACHED_VALUES for one in cached_functions())
    connection: Any = _Silent()
    with pytest.raises(EOFError):
        receive(connection, OpenDocuments(), deque())
    assert [one for one in cached_functions() if one.cache_info().currsize > CACHED_VALUES] == []
