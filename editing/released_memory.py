"""What a process that answers for days gives back while nothing waits for it.

Values of formulas are cached, as one solve asks for the same ones again; those of older texts are
of no use, and edits would fill every cache.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from typing import Any

CACHED_VALUES = 1_000
"""Of a function, up to which they stay."""
_NEW_VALUES = 50_000
"""Objects made since the last collection of garbage, from which on it is worth its time."""


def release_memory() -> None:
    """Empty large caches of formulas, and collect garbage where there is much."""
    for function in cached_functions():
        if function.cache_info().currsize > CACHED_VALUES:
            function.cache_clear()
    if gc.get_count()[0] > _NEW_VALUES:
        gc.collect()


def cached_functions() -> Iterator[Any]:
    """Yield all functions of loaded modules of the engine whose values are cached."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith("qps.engine."):
            functions = tuple(vars(module).values())
            yield from (one for one in functions if hasattr(one, "cache_info"))
