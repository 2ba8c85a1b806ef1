"""numpy where there is none: it can be imported; what is demanded of it says that it is missing."""

from collections.abc import Sequence
from typing import NoReturn


class _Absent:
    """A name of numpy: it may stand in types; a call, or a look into it, says what is missing."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, _: object) -> "_Absent":
        return self

    def __or__(self, _: object) -> "_Absent":
        return self

    __ror__ = __or__

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self()

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise ModuleNotFoundError(f"numpy is not here: {self._name}", name="numpy")


class _Row(list[float]):
    """Numbers, of which the first some can be had as a list."""

    def __getitem__(self, some: slice) -> "_Row":  # type: ignore[override]
        return _Row(super().__getitem__(some))

    def tolist(self) -> list[float]:
        """Return them as a list."""
        return list(self)


def convolve(one: Sequence[float], other: Sequence[float]) -> _Row:
    """Return the coefficients of a product of polynomials."""
    found = [0.0] * (len(one) + len(other) - 1)
    for k, factor in enumerate(one):
        for at, value in enumerate(other, k):
            found[at] += factor * value
    return _Row(found)


def frompyfunc(function: object, *_: object, **__: object) -> _Absent:
    """Return a function that says what is missing once it is called: modules make some of them."""
    return _Absent(str(function))


frombuffer = frompyfunc


def __getattr__(name: str) -> _Absent:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(name)
