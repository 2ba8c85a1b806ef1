"""How often something is done: what is done once too often shows in no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def counted(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> list[tuple[object, ...]]:
    """Return the arguments of every call from now on of a function of a module."""
    calls: list[tuple[object, ...]] = []
    function: Callable[..., Any] = getattr(owner, name)

    def result(*args: object, **kwargs: object) -> object:
        calls.append(args)
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, result)
    return calls
