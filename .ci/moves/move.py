"""Move modules as `map.tsv` says, and all that names them: `python .ci/moves/move.py 1 [2]`.

The arguments are the stages. What was moved before stays where it is, and what still names it by
its old name is mended: a second run changes nothing. Nothing is written where the tables and the
tree do not fit. What is left to look at is printed below `doubts`.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from mentions import Mentions
from python_files import PythonFile
from tables import NONE, ROOT, MoveError, Plan, dotted, git, passages_of, plan_of, tracked

_TEXTS = (
    ".md",
    ".toml",
    ".yml",
    ".yaml",
    ".js",
    ".mjs",
    ".sh",
    ".txt",
    ".cfg",
    ".in",
    ".jinja",
    ".html",
    ".css",
    ".lark",
    ".qps",
)
_NAMELESS = (".ci/run", ".ci/nightly", ".ci/programs", "MANIFEST.in", "Containerfile")
_UNTOUCHED = (
    "tests/goldens/",
    "tests/errors/",
    "tests/requests/",
    "tests/observed/",
    ".ci/moves/",
    "specs/",
    "CHANGELOG.md",
)
"""Answers, other people's words, and what was true at its time."""
_JS_IMPORT = re.compile(r'(?P<before>\bfrom |\bimport )"(?P<path>\.[\w./-]+\.js)"')


def main() -> int:
    """Make the moves of the stages that the command line names."""
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("stages", nargs="+", help="stages of map.tsv")
    stages = reader.parse_args().stages
    try:
        plan = plan_of(stages)
        texts, doubts = _texts_of(plan, stages)
    except (MoveError, ValueError) as wrong:
        print(f"nothing is moved:\n{wrong}", file=sys.stderr)
        return 2
    _write(plan, texts)
    _packages(plan)
    print(f"{len(plan.moves)} files moved, {len(texts)} files rewritten")
    if doubts:
        print("doubts:", *sorted(set(doubts)), sep="\n  ")
    left = _left(plan)
    if left:
        print("still named by old names:", *left, sep="\n  ", file=sys.stderr)
    return 1 if left else 0


def _texts_of(plan: Plan, stages: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return the texts of all files that change, by their old paths, and what is not certain."""
    before = {path: _read(path) for path in plan.files if _is_text(path)}
    after = dict(before)
    for passage in passages_of(stages):
        path = passage.file if passage.file in after else plan.renamed.get(passage.file, "")
        if path not in after:
            raise MoveError(f"texts.toml: {passage.file}: is not there")
        if passage.old in passage.new and passage.new in after[path]:
            continue  # it was put in before
        if passage.old in after[path]:
            after[path] = after[path].replace(passage.old, passage.new)
        elif passage.new not in after[path]:
            raise MoveError(f"texts.toml: {passage.file}: has no `{passage.old}`")
    mentions = Mentions(plan=plan, defined=_defined(after))
    for path, text in after.items():
        if path.endswith(".py"):
            after[path] = PythonFile(path=path, text=text, mentions=mentions).rewritten()
        else:
            linked = _linked(path, text, plan) if path.endswith((".js", ".mjs")) else text
            after[path] = mentions.replaced(linked, path)
    return {path: text for path, text in after.items() if text != before[path]}, mentions.doubts


def _is_text(path: str) -> bool:
    if path.startswith(_UNTOUCHED):
        return False
    return path.endswith((".py", *_TEXTS)) or path in _NAMELESS


def _read(path: str) -> str:
    with (ROOT / path).open(encoding="utf-8", newline="") as file:
        return file.read()


def _defined(texts: dict[str, str]) -> set[str]:
    """Return the names of all functions, classes, fields and arguments."""
    found = set()
    for path, text in texts.items():
        if not path.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                found.add(node.target.id)
    return found


def _linked(path: str, text: str, plan: Plan) -> str:
    """Return a script whose imports lead to where modules are."""
    here, there = dirname(path), dirname(plan.moves.get(path, path))

    def target(match: re.Match[str]) -> str:
        old = normpath(join(here, match["path"]))
        way = relpath(plan.renamed.get(old, old), there)
        return f'{match["before"]}"{way if way.startswith(".") else f"./{way}"}"'

    return _JS_IMPORT.sub(target, text)


def _write(plan: Plan, texts: dict[str, str]) -> None:
    """Write the texts, move the files, make packages and take links away."""
    for path, text in texts.items():
        with (ROOT / path).open("w", encoding="utf-8", newline="") as file:
            file.write(text)
    # By way of names that nobody has: a new path may be an old one of another row.
    for old in plan.moves:
        (ROOT / old).rename(ROOT / f"{old}.moving")
    for old, new in plan.moves.items():
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / f"{old}.moving").rename(ROOT / new)
    for row in plan.rows:
        if row.old == NONE and not (ROOT / row.new).exists():
            (ROOT / row.new).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / row.new).write_text(f'"""{row.contents}"""\n', encoding="utf-8")
        elif row.new == NONE and (ROOT / row.old).is_symlink():
            (ROOT / row.old).unlink()
    for folder in {dirname(old) for old in plan.moves}:
        _clear(ROOT / folder)
    git(
        "add",
        "--all",
        "--",
        *{
            one.partition("/")[0]
            for row in plan.rows
            for one in (row.old, row.new)
            if one != NONE and (ROOT / one.partition("/")[0]).exists()
        },
    )


def _clear(folder: Path) -> None:
    """Take a folder away in which nothing is left but what Python compiled."""
    if folder.is_dir() and all(one.name == "__pycache__" for one in folder.iterdir()):
        for one in folder.glob("__pycache__/*"):
            one.unlink()
        for one in folder.glob("__pycache__"):
            one.rmdir()
        folder.rmdir()


def _packages(plan: Plan) -> None:
    """Write the list of packages in pyproject.toml anew: each behind the one that it lies in."""
    path = ROOT / "pyproject.toml"
    text = path.read_text(encoding="utf-8")
    match = re.search(r"^packages = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    if match is None:
        raise MoveError("pyproject.toml: no list of packages")
    listed = re.findall(r'"([\w.]+)"', match[1])
    made = [dotted(row.new) for row in plan.rows if row.new.endswith("/__init__.py")]
    names: list[str] = []
    for name in dict.fromkeys([*listed, *made]):
        # Behind its parent and all that lies in this, but before nobody of another one.
        family = [
            at
            for at, one in enumerate(names)
            if f"{one}.".startswith(f"{name.rpartition('.')[0]}.")
        ]
        names.insert(family[-1] + 1 if family and name.count(".") > 1 else len(names), name)
    lines = "".join(f'    "{name}",\n' for name in names)
    path.write_text(text[: match.start(1)] + lines + text[match.end(1) :], encoding="utf-8")


def _left(plan: Plan) -> list[str]:
    """Return where modules are named that are not there."""
    files = tracked()
    there = {dotted(path) for path in files if path.endswith(".py")}
    gone = {name for name in plan.modules if name not in there}
    paths = {old for old in plan.renamed if not (ROOT / old).exists()}
    found = []
    for path in files:
        if not _is_text(path):
            continue
        for number, line in enumerate(_read(path).splitlines(), 1):
            names = re.findall(r"(?<![\w./-])qps(?:\.\w+)+", line)
            heads = {".".join(name.split(".")[:count]) for name in names for count in range(2, 9)}
            if heads & gone or any(
                one[0] in paths for one in re.findall(r"(([\w-]+/)+[\w.]+)", line)
            ):
                found.append(f"{path}:{number}: {line.strip()}")
    return found


if __name__ == "__main__":
    sys.exit(main())
