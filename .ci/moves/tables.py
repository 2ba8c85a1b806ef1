"""The tables of a move: which file goes where, which rooms are made, and texts that go with them.

`map.tsv` has a row a file: stage, old path, new path, contents. Where the old path is `-`, the new
one is a package that is made, and its contents are its docstring; where the new one is `-`, the old
one is a link that goes. `texts.toml` has the passages that no rule finds, word by word.
"""

from __future__ import annotations

import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NONE = "-"
_LINKED = "src/qps/"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A file that moves, a package that is made, or a link that goes."""

    stage: str
    old: str
    new: str
    contents: str


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A text in a file (named as it is called before the move) and what stands there afterwards."""

    file: str
    old: str
    new: str


class MoveError(Exception):
    """Raised for a table that does not fit the tree."""


def rows_of(stages: Iterable[str], file: str = "map.tsv") -> list[Row]:
    """Return the rows of some stages."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()[1:]
    rows = [
        Row(**dict(zip(("stage", "old", "new", "contents"), line.split("\t"), strict=True)))
        for line in lines
    ]
    return [row for row in rows if row.stage in set(stages)]


def passages_of(stages: Iterable[str]) -> list[Passage]:
    """Return the passages of some stages."""
    table = tomllib.loads((HERE / "texts.toml").read_text(encoding="utf-8"))
    wanted = set(stages)
    return [
        Passage(file=one["file"], old=one["old"], new=one["new"])
        for one in table.get("text", ())
        if str(one["stage"]) in wanted
    ]


def git(*words: str) -> str:
    """Run git at the root of the tree and return what it prints."""
    command = ["git", *words]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def tracked() -> list[str]:
    """Return the paths of all files that git knows and that are there, new ones too."""
    listed = git("ls-files", "--cached", "--others", "--exclude-standard", "-z").split("\0")
    return sorted({path for path in listed if path and (ROOT / path).is_file()})


def plain(path: str) -> str:
    """Return a path as packages have it: without the folder of the links.

    >>> plain("src/qps/commands/fit.py"), plain("engine/formulas.py")
    ('commands/fit.py', 'engine/formulas.py')
    """
    return path.removeprefix(_LINKED)


def dotted(path: str) -> str:
    """Return the name of a module of ours by its path.

    >>> dotted("src/qps/commands/__init__.py"), dotted("engine/formulas.py")
    ('qps.commands', 'qps.engine.formulas')
    """
    return "qps." + plain(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All moves of a run, by paths and by names of modules."""

    rows: list[Row]
    files: list[str]
    """All files before the run."""
    moves: dict[str, str] = field(default_factory=dict)
    """New paths by old ones, of what is still to be moved."""
    renamed: dict[str, str] = field(default_factory=dict)
    """New paths by old ones, of what is or was moved: what still names an old one is mended."""

    @cached_property
    def modules(self) -> dict[str, str]:
        """New names of modules and packages by their old ones."""
        there = self.existing
        found = {}
        for old, new in self.renamed.items():
            # What was moved earlier may have left its name to a package.
            is_free = old in self.moves or dotted(old) not in there
            if old.endswith(".py") and dotted(old) != dotted(new) and is_free:
                found[dotted(old)] = dotted(new)
        return found

    @cached_property
    def existing(self) -> frozenset[str]:
        """The modules and packages before the run."""
        return frozenset(dotted(path) for path in self.files if path.endswith(".py"))

    @cached_property
    def folders(self) -> dict[str, str]:
        """New folders by old ones, of those that move as packages: as their `__init__.py` does."""
        ending = "/__init__.py"
        return {
            plain(old).removesuffix(ending): plain(new).removesuffix(ending)
            for old, new in self.renamed.items()
            if old.endswith(ending) and old != new and dotted(old) in self.modules
        }

    @cached_property
    def by_name(self) -> dict[str, list[str]]:
        """The paths of all files, of before the run and of rows, by their last parts."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for path in sorted({*self.files, *self.renamed}):
            found[path.rpartition("/")[2]].append(path)
        return found


def plan_of(stages: Iterable[str]) -> Plan:
    """Return what is to be moved; MoveError where the table and the tree do not fit."""
    rows, files = rows_of(stages), tracked()
    there, wrong = set(files), []
    plan = Plan(rows=rows, files=files)
    sources = {row.old for row in rows}
    for row in rows:
        if NONE in (row.old, row.new):
            continue
        if row.old == row.new:
            if row.old not in there:
                wrong.append(f"{row.old}: is not there")
        elif row.old in there:
            if row.new in there and row.new not in sources:
                wrong.append(f"{row.new}: is there already, as well as {row.old}")
            plan.moves[row.old] = row.new
            plan.renamed[row.old] = row.new
        elif row.new in there:
            plan.renamed[row.old] = row.new
        else:
            wrong.append(f"{row.old}: is neither there nor at {row.new}")
    rooms = {row.old.rpartition("/")[0] for row in rows if row.old != NONE} - {"src/qps"}
    known = sources | {row.new for row in rows}
    wrong += [
        f"{path}: is in no row of map.tsv"
        for path in files
        if path.rpartition("/")[0] in rooms and path not in known and not path.endswith(".md")
    ]
    if wrong:
        raise MoveError("\n".join(wrong))
    return plan
