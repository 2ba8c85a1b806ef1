"""What texts say of modules: names with dots, paths, imports in strings, names in back quotes.

A name with dots from `qps.` on and a path are replaced wherever they stand. A name in back quotes
alone may mean a module, or a value of the same name: it is replaced where the text is beside the
module or imports it, and noted where that is not so.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

from tables import Plan, dotted, plain

_DOTTED = re.compile(r"(?<![\w./-])qps(?:\.[A-Za-z_]\w*)+")
_IMPORT = re.compile(r"from (qps[\w.]*) import (\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*)")
_PATH = re.compile(r"(?<![\w.*/-])(?:\.{1,2}/)*(?P<path>(?:[\w-]+/)*[\w-]+\.(?:py|js|csv))(?!\w)")
_QUOTED = re.compile(r"(?<!`)`(?P<path>(?:\w+/)*)(?P<name>[a-z_]\w*)(?P<rest>\.[\w.]+)?`(?!`)")


@dataclass(kw_only=True)
class Mentions:
    """Replaces what texts say of modules, and notes what is not certain."""

    plan: Plan
    defined: Collection[str] = ()
    """Names of functions, classes, arguments and values: these in back quotes may mean a value."""
    doubts: list[str] = field(default_factory=list)

    def replaced(
        self, text: str, at: str, imported: Collection[str] = (), *, own: Collection[str] = ()
    ) -> str:
        """Return a text of the file `at`, which imports some modules and has names of its `own`."""
        if not _likely(text):
            return text
        text = _IMPORT.sub(self._import, text)
        text = _DOTTED.sub(lambda match: self.module(match[0]), text)
        text = _PATH.sub(lambda match: self._path(match, at), text)
        text = self._folders(text)
        return _QUOTED.sub(lambda match: self._quoted(match, at, imported, own), text)

    def module(self, name: str) -> str:
        """Return a name with dots, of which the longest part that is a module may be renamed."""
        parts = name.split(".")
        for count in range(len(parts), 1, -1):
            head = ".".join(parts[:count])
            if head in self.plan.modules:
                return ".".join([self.plan.modules[head], *parts[count:]])
            if head in self.plan.existing:
                break
        return name

    def source(self, module: str, name: str) -> tuple[str, str]:
        """Return from where a name is imported now, and what it is called there."""
        full = f"{module}.{name}"
        if full in self.plan.modules or full in self.plan.existing:
            parent, _, last = self.module(full).rpartition(".")
            return parent, last
        return self.module(module), name

    def _import(self, match: re.Match[str]) -> str:
        """An import in a string: the names in the rest of it stay, so modules are renamed back."""
        groups: dict[str, list[str]] = {}
        for alias in match[2].split(", "):
            name, _, local = alias.partition(" as ")
            parent, new = self.source(match[1], name)
            local = local or name
            groups.setdefault(parent, []).append(new if new == local else f"{new} as {local}")
        if list(groups.items()) == [(match[1], match[2].split(", "))]:
            return match[0]
        return "; ".join(
            f"from {parent} import {', '.join(names)}" for parent, names in groups.items()
        )

    def _path(self, match: re.Match[str], at: str) -> str:
        before, path = match[0][: match.start("path") - match.start()], match["path"]
        return before + self.path(path, at)

    def path(self, path: str, at: str) -> str:
        """Return a path that a text of the file `at` names: whole, or by its last parts."""
        folder, _, name = path.rpartition("/")
        named = self.plan.by_name.get(name, [])
        whole = [one for one in named if plain(one) == plain(path)]
        if whole:
            new = self.plan.renamed.get(whole[0], whole[0])
            return (
                f"src/qps/{plain(new)}"
                if path.startswith("src/qps/")
                else plain(new)
                if whole[0] != path
                else new
            )
        ends = [one for one in named if plain(one).endswith(f"/{path}")]
        # Besides modules of ours, a text means those that lie where it lies itself.
        top = f"{at.partition('/')[0]}/"
        ends = [one for one in ends if one.startswith((*_OURS, top))]
        moved = [one for one in ends if one in self.plan.renamed]
        if not moved:
            # A path that was right before an earlier move: its name alone tells which is meant.
            unique = named[0] if len(named) == 1 else None
            if (
                folder
                and unique in self.plan.renamed
                and unique.startswith(f"{folder.split('/')[0]}/")
            ):
                return plain(self.plan.renamed[unique])
            return path
        beside = [one for one in moved if one.rpartition("/")[0] == at.rpartition("/")[0]]
        if len(ends) > 1 and len(beside) != 1:
            if {self._short(one, path) for one in ends} != {path}:
                self.doubts.append(f"{at}: `{path}` may be any of {', '.join(ends)}")
            return path
        return self._short((beside or moved)[0], path)

    def _short(self, old: str, path: str) -> str:
        """Return the last parts of the new path, as many as a text named of the old one."""
        new = plain(self.plan.renamed.get(old, old)).split("/")
        return "/".join(new[-(path.count("/") + 1) :])

    def _folders(self, text: str) -> str:
        for old, new in self.plan.folders.items():
            if f"{old}/" in text:
                text = re.sub(
                    rf"(?<![\w./-])((?:src/qps/)?){re.escape(old)}/", rf"\g<1>{new}/", text
                )
        return text

    def _quoted(
        self, match: re.Match[str], at: str, imported: Collection[str], own: Collection[str]
    ) -> str:
        name, rest = match["name"], match["rest"] or ""
        if (
            rest.split(".")[-1] in ("py", "js", "csv", "md", "json", "svg", "parquet")
            and rest.count(".") == 1
        ):
            return match[0]  # a path: done
        # Back quotes have no ending, so that of the text decides.
        ending = ".js" if at.endswith(".js") else ".py"
        named = [one for one in self.plan.by_name.get(name + ending, []) if one.startswith(_OURS)]
        moved = [one for one in named if one in self.plan.renamed]
        if not moved:
            return match[0]
        if match["path"]:
            new = self.path(f"{match['path']}{name}{ending}", at).removesuffix(ending)
            return f"`{new}{rest}`"
        news = {
            self.plan.renamed.get(one, one).rpartition("/")[2].removesuffix(ending) for one in named
        }
        if news == {name}:
            return match[0]
        near = [
            one
            for one in moved
            if one.rpartition("/")[0] == at.rpartition("/")[0]
            or (ending == ".py" and dotted(one) in imported)
        ]
        alone = "_" in name and name not in self.defined and len(named) == 1
        # Else it may be a value of that name: certain is only what the file is about.
        if not alone and (len(near) != 1 or name in own):
            if near or "_" in name:
                self.doubts.append(f"{at}: `{name}{rest}` may be {', '.join(moved)}")
            return match[0]
        new = self.plan.renamed[(near or moved)[0]].rpartition("/")[2].removesuffix(ending)
        return f"`{new}{rest}`"


_OURS = (
    "engine/",
    "compiler/",
    "solver/",
    "simulation/",
    "reports/",
    "editing/",
    "reviewing/",
    "grammar/",
    "measuring/",
    "observing/",
    "src/qps/",
)


def _likely(text: str) -> bool:
    return "`" in text or "." in text or "/" in text
