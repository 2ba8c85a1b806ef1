"""Modules of linked libraries: they are found by the names of these, as there are no files."""

import sys
from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

ROOM = "/libraries/"


class _Linked:
    """Finds modules among the libraries that were linked before Python began."""

    def __init__(self, names: Sequence[str]) -> None:
        self._places = {
            name.removeprefix(ROOM).partition(".")[0].replace("/", "."): name
            for name in names
            if name.startswith(ROOM)
        }

    def find_spec(self, name: str, *_: Sequence[str] | ModuleType | None) -> ModuleSpec | None:
        """Return where a module is, or nothing where it is no linked one."""
        if (place := self._places.get(name)) is None:
            return None
        return spec_from_file_location(name, place, loader=ExtensionFileLoader(name, place))


def known(names: Sequence[str]) -> None:
    """Let modules be imported from libraries of these names."""
    sys.meta_path.insert(0, _Linked(names))
