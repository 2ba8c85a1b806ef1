"""Former names of attributes of results: they warn, and go with the next version."""

from __future__ import annotations

from typing import Any
from warnings import warn


def former(old: str, new: str) -> Any:
    """Return a property that returns another attribute and warns about its former name."""

    def read(result: object) -> object:
        warn(f"`{old}` is called `{new}`", DeprecationWarning, stacklevel=2)
        return getattr(result, new)

    read.__doc__ = f"Deprecated: use `{new}`. The next version removes this name."
    return property(read)
