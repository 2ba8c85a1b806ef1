"""The standard library, written in QPS: modules by name, `std.claypool1997.networks` and so on."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["module_names", "module_text"]


@cache
def _modules() -> dict[str, Traversable]:
    found: dict[str, Traversable] = {}

    def walk(folder: Traversable, prefix: str) -> None:
        for entry in sorted(folder.iterdir(), key=lambda item: item.name):
            if entry.is_dir() and not entry.name.startswith("_"):
                walk(entry, f"{prefix}{entry.name}.")
            elif entry.name.endswith(".qps"):
                found[prefix + entry.name.removesuffix(".qps")] = entry

    walk(files("qps.stdlib"), "std.")
    return found


def module_names() -> tuple[str, ...]:
    """Return the names of all modules, each starting with `std.`."""
    return tuple(_modules())


def module_text(name: str) -> str:
    """Return the text of a module; KeyError where there is none of that name."""
    return _modules()[name].read_text(encoding="utf-8")
