"""Tables of a project file: values by their keys, where what is wrong with one is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn, TypeVar

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean, shortened
from qps.compiler.project.project_location import SECTION, SHARED
from qps.compiler.project.review_rules import LEVELS, RULES
from qps.compiler.project.toml_places import KeyPath
from qps.links import real_path

_MOST_ENTRIES = 1_000
_LONGEST_PATTERN = 200

_Entry = TypeVar("_Entry")


class _WrongError(Exception):
    """Something that was reported: the value is left out."""


class ProjectTable(Struct, frozen=True, kw_only=True):
    """A table of a project file, and where each of its keys stands."""

    file: Path
    sink: Sink
    key_path: KeyPath
    values: object
    at: Callable[[KeyPath], Span]

    def wrong(self, key: str | None, message: str, hint: str) -> NoReturn:
        """Tell what is wrong with a value (the table itself for None), and leave it out."""
        way = self.key_path if key is None else (*self.key_path, key)
        self.sink.report(codes.PROJECT_FILE, self.at(way), message, hint=hint)
        raise _WrongError

    def value(self, key: str) -> object:
        """Return a value, None where there is none."""
        return self.values.get(key) if isinstance(self.values, dict) else None

    def refuse_others(self, *keys: str, what: str = "key") -> None:
        """Tell which keys mean nothing here; `what` one of them is."""
        if not isinstance(self.values, dict):
            self._warn(None, "expected a table of keys", "write keys below `[tool.qps]`")
            return
        for key in self.values:
            if key not in keys:
                near = did_you_mean(key, keys) or f"valid {what}s: {', '.join(keys)}"
                self._warn(key, f"unknown {what} `{shortened(key)}`", near)

    def _warn(self, key: str | None, message: str, hint: str) -> None:
        try:
            self.wrong(key, message, hint)
        except _WrongError:
            return

    def switch(self, key: str) -> bool:
        """Return a yes or no; no where it is not said."""
        value = self.value(key)
        if value is not None and not isinstance(value, bool):
            self._warn(
                key, f"`{key}` must be true or false", f"write `{key} = true`, without quotes"
            )
        return value is True

    def text(self, key: str, example: str) -> str:
        """Return a text that must be there."""
        value = self.value(key)
        if value is None:
            self.wrong(None, f"`{key}` is missing", f"add `{key} = {example}`")
        if not isinstance(value, str) or not value.strip():
            self.wrong(key, f"`{key}` must be a string", f"write `{key} = {example}`")
        return value

    def path(self, key: str, example: str) -> Path:
        """Return a file or folder below the project file; links are followed."""
        return self._below(key, self.text(key, example))

    def _below(self, key: str, named: str) -> Path:
        folder = self.file.parent
        path = real_path(folder / named)
        if path is None:
            self.wrong(
                key, f"`{shortened(named)}` is not a valid path", "name a folder, such as `specs`"
            )
        if not path.is_relative_to(folder):
            self.wrong(
                key,
                f"`{shortened(named)}` is outside the folder of the project file",
                "move the project file to a parent folder",
            )
        return path

    def folder(self, key: str, otherwise: Path) -> Path:
        """Return a folder that is there."""
        if self.value(key) is None:
            return otherwise
        try:
            path = self.path(key, '"."')
            if not path.is_dir():
                self.wrong(
                    key, f"`{shortened(path.name)}` is not a folder", "name an existing folder"
                )
        except _WrongError:
            return otherwise
        return path

    def patterns(self, key: str) -> Iterator[str]:
        """Yield patterns of paths."""
        value = self.value(key)
        if value is None:
            return
        is_list = isinstance(value, list) and all(isinstance(one, str) for one in value)
        if not is_list or not isinstance(value, list):
            self._warn(
                key, f"`{key}` must be a list of paths", f'write `{key} = ["old", "**/x.qps"]`'
            )
            return
        if len(value) > _MOST_ENTRIES or any(len(one) > _LONGEST_PATTERN for one in value):
            self._warn(key, f"`{key}` is too long", "name folders rather than files")
            return
        for one in value:
            if one.startswith("/") or ".." in one.split("/") or not one.strip():
                hint = "use a path relative to the project file, such as `specs/old`"
                self._warn(key, f"`{shortened(one)}` is not a path below the project file", hint)
            else:
                yield one

    def entries(self, key: str, read: Callable[[ProjectTable], _Entry]) -> Iterator[_Entry]:
        """Yield what each of a list of tables says, but for those with something wrong."""
        value = self.value(key)
        if value is None:
            return
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self._warn(
                key,
                f"`{key}` must be a list of tables",
                f"write `[[{self._name(key)}]]` above each",
            )
            return
        if len(value) > _MOST_ENTRIES:
            self._warn(
                key, f"there are more than {_MOST_ENTRIES:,} entries", "fix the causes instead"
            )
            return
        for number, one in enumerate(value):
            try:
                yield read(
                    ProjectTable(
                        file=self.file,
                        sink=self.sink,
                        key_path=(*self.key_path, key, number),
                        values=one,
                        at=self.at,
                    )
                )
            except _WrongError:
                continue

    def levels(self, key: str) -> Iterator[tuple[str, str]]:
        """Yield the rules of a review that a table names, with their levels."""
        value = self.value(key)
        if value is None:
            return
        if not isinstance(value, dict):
            self._warn(key, f"`{key}` must be a table", f"write `[{self._name(key)}]` above it")
            return
        inner = ProjectTable(
            file=self.file, sink=self.sink, key_path=(*self.key_path, key), values=value, at=self.at
        )
        inner.refuse_others(*(rule.name for rule in RULES), what="rule")
        for rule in RULES:
            level = inner.value(rule.name)
            if level is None:
                continue
            if isinstance(level, str) and level in LEVELS:
                yield rule.name, level
                continue
            named = f"unknown level `{shortened(level)}`" if isinstance(level, str) else None
            near = did_you_mean(level, LEVELS) if isinstance(level, str) else None
            inner._warn(
                rule.name,
                named or f"the level of `{rule.name}` must be a string",
                near or f'levels are {", ".join(LEVELS)}: `{rule.name} = "warning"`',
            )

    def _name(self, key: str) -> str:
        top = SECTION if self.file.name == SHARED else ()
        return ".".join((*top, key))
