"""What functions of formulas came to: while a memory is in use, nothing is made twice.

Equal formulas are one object, so that arguments of a function are compared by identity. A model
that is lowered again with another choice does nearly all of it again, and so do its measures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_ROOM = 400_000
_UNKNOWN = object()


class Memory:
    """Results by the function and what it was given; what was not used lately is forgotten.

    There is room for so many arguments and operands, and for as many that come to be forgotten.
    """

    __slots__ = ("_before", "_size", "now")

    def __init__(self) -> None:
        self.now: dict[tuple[object, ...], Any] = {}
        self._before: dict[tuple[object, ...], Any] = {}
        self._size = 0

    def recall_expiring(self, key: tuple[object, ...]) -> Any:
        """Return what was about to be forgotten, kept from now on; `_UNKNOWN` where it was."""
        known = self._before.get(key, _UNKNOWN)
        if known is not _UNKNOWN:
            self.keep(key, known)
        return known

    def keep(self, key: tuple[object, ...], result: object) -> None:
        """Remember a result."""
        parts = getattr(result, "operands", result)
        self._size += len(key) + (len(parts) if isinstance(parts, Sized) else 1)
        if self._size > _ROOM:
            self._before, self.now, self._size = self.now, {}, len(key)
        self.now[key] = result

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Let all functions that are `memoized` use this memory."""
        before = _in_use.set(self)
        try:
            yield
        finally:
            _in_use.reset(before)


_in_use: ContextVar[Memory | None] = ContextVar("memory", default=None)


def memoized(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function whose results the memory in use stores.

    What it is given must be hashable, and nothing else may count for what it returns.
    """

    @wraps(function)
    def call(*args: Any) -> Result:
        memory = _in_use.get()
        if memory is None:
            return function(*args)  # type: ignore[call-arg]
        key = (function, *args)
        known: Result = memory.now.get(key, _UNKNOWN)
        if known is _UNKNOWN:
            known = memory.recall_expiring(key)
        if known is _UNKNOWN:
            known = function(*args)  # type: ignore[call-arg]
            memory.keep(key, known)
        return known

    return cast("Callable[Parameters, Result]", call)


def with_memory(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function that has a new memory each time it is called."""

    @wraps(function)
    def call(*args: Parameters.args, **named: Parameters.kwargs) -> Result:
        with Memory().in_use():
            return function(*args, **named)

    return call
