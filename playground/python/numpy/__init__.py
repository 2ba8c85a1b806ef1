"""numpy where there is none: what names it can be imported; once asked it says that it is not."""

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


def frompyfunc(function: object, *_: object, **__: object) -> _Absent:
    """Return a function that says what is missing once it is called: modules make some of them."""
    return _Absent(str(function))


frombuffer = frompyfunc


def __getattr__(name: str) -> _Absent:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Absent(name)
